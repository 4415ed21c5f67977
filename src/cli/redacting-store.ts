/**
 * Removes known secrets from everything that is written to a store (rules 42): a ledger is kept for long and read by many, and one
 * in git is pushed to a remote. The run itself keeps the original values. A redacted value differs from every live value later.
 */
import type { DigestedChange } from '../model/plan/change.ts';
import { withRedactedValues } from '../model/plan/redacted-values.ts';
import { redactEntry, redactLedger, redactLock } from '../model/redaction/stored-values.ts';
import type { ApprovedPlan, StackStore } from '../model/stack/ledger.ts';
import { digestItemsOf } from '../plan/approval/digest.ts';
import { readDigestItems } from '../plan/approval/read-atoms.ts';
import type { CliHost } from './cli-host.ts';

/** @param stack hashes of redacted values contain its name */
export function redactingStore(store: StackStore, stack: string, clean: CliHost['clean']): StackStore {
  const redactApproved = (approved: ApprovedPlan) => ({
    ...approved,
    atoms: redactApprovedItems(approved.atoms, stack, clean),
  });
  const redacting: Pick<StackStore, 'write' | 'keepEntries' | 'lock'> = {
    write: async (ledger) => {
      const { serial } = await store.write(redactLedger(ledger, clean, redactApproved));
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

/** Caches the changes of an approval, because every write of its apply contains it. */
const parsed = new WeakMap<readonly string[], readonly DigestedChange[]>();

/** Replaces values that hold secrets by their hashes. */
function redactApprovedItems(
  atoms: readonly string[],
  stack: string,
  clean: CliHost['clean'],
): readonly string[] {
  const changes = parsed.get(atoms) ?? readDigestItems(atoms);
  parsed.set(atoms, changes);
  const isClean = changes.every(({ fields }) => clean(fields) === fields);
  return isClean
    ? atoms
    : [...digestItemsOf(changes.map((change) => withRedacted(change, stack, clean)))].sort();
}

function withRedacted(change: DigestedChange, stack: string, clean: CliHost['clean']): DigestedChange {
  const place = { stack, address: change.address };
  return { ...change, fields: change.fields.map((field) => withRedactedValues(place, field, clean)) };
}
