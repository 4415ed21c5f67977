/**
 * Removes known secrets from everything that is written to a ledger, which is kept for a long time and read by many people. The
 * run itself keeps the original values.
 */
import type { DigestedChange } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApprovedPlan } from '../model/approval.ts';
import type { Ledger, StackStore } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import { type ApprovedWork, digestItemsOf, readDigestItems } from '../plan/digest.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';
import {
  findStored,
  type Redact,
  redactEntry,
  redactLedger,
  redactLock,
  withRedactedValues,
} from '../redaction/stored-values.ts';

/** The ledger as it is stored. @param stack hashes of redacted values contain its name */
export function storedLedger(ledger: Ledger, stack: string, secrets: KnownSecrets): Ledger {
  const clean: Redact = (value) => secrets.redactLedgerPart(value);
  return redactLedger(ledger, clean, (approved: ApprovedPlan) => ({
    ...approved,
    atoms: redactApprovedItems(approved.atoms, stack, clean),
  }));
}

/** A store that writes no known secrets. @param stack hashes of redacted values contain its name */
export function redactingStore(store: StackStore, stack: string, secrets: KnownSecrets): StackStore {
  const clean: Redact = (value) => secrets.redactKept(value);
  const redacting: Pick<StackStore, 'write' | 'keepEntries' | 'lock'> = {
    write: async (ledger) => {
      const { serial } = await store.write(storedLedger(ledger, stack, secrets));
      return { ...ledger, known: true, serial };
    },
    keepEntries: (entries) => store.keepEntries(entries.map((entry) => redactEntry(entry, clean))),
    lock: (wanted, instead) => store.lock(redactLock(wanted, clean), instead),
  };
  return new Proxy(store, {
    get: (whole, name) => {
      if (name === 'write' || name === 'keepEntries' || name === 'lock') return redacting[name];
      const member: unknown = Reflect.get(whole, name);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
}

/** Caches the content of an approval, because every write of its apply contains it. */
const parsed = new WeakMap<readonly string[], ApprovedWork>();

/** Replaces values that hold secrets by their hashes. */
function redactApprovedItems(atoms: readonly string[], stack: string, clean: Redact): readonly string[] {
  const work = parsed.get(atoms) ?? readDigestItems(atoms);
  parsed.set(atoms, work);
  const { changes } = work;
  const isClean = changes.every(
    ({ fields, risks = [] }) => clean(fields) === fields && clean(risks) === risks,
  );
  return isClean
    ? atoms
    : [
        ...digestItemsOf({
          ...work,
          changes: changes.map((change) => withRedacted(change, stack, clean)),
        }),
      ].sort();
}

function withRedacted(change: DigestedChange, stack: string, clean: Redact): DigestedChange {
  const place = { stack, address: change.address };
  const fields = change.fields.map((field) => withRedactedValues(place, field, clean));
  return { ...change, fields, ...(change.risks === undefined ? {} : { risks: clean(change.risks) }) };
}

// Warns of secrets of this run that the ledger contains: an earlier version stored some values unredacted. The next write redacts
// them, but everyone who could read the ledger may have read them.

export function storedSecrets(
  ledger: Ledger,
  { place }: Pick<StackStore, 'place'>,
  stack: Pick<Stack, 'ledger'>,
  secrets: KnownSecrets,
): Diagnostic[] {
  const found = findStored(ledger, (text) => secrets.sourcesIn(text));
  return [...Map.groupBy(found, ({ source }) => source)].map(([source, places]) => {
    const where = places.map(({ record, member }) =>
      record === undefined ? quoted(member) : `${quoted(member)} of the record ${record}`,
    );
    const older = stack.ledger?.in === 'git' ? '; older commits of the ref still contain it' : '';
    return {
      code: 'secret-in-ledger',
      severity: 'warning',
      class: 'failure',
      message: `${place} contains the secret of ${source}, in ${where.join(', ')}${older}`,
      fix: 'revoke it and use a new one; the next write of the ledger redacts it there',
    };
  });
}
