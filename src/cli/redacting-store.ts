/**
 * Removes known secrets from everything that is written to a store (rules 42): a ledger is kept for long and read by many, and one
 * in git is pushed to a remote. The run itself keeps the original values. A removed value differs from every live value later.
 */
import { canonicalText, type Json } from '../model/json/json.ts';
import type { Ledger, LedgerRecord, StackStore } from '../model/stack/ledger.ts';
import type { CliHost } from './cli-host.ts';

export function redactingStore(store: StackStore, clean: CliHost['clean']): StackStore {
  const redacting: Pick<StackStore, 'write' | 'keepEntries'> = {
    write: async (ledger) => {
      const written = await store.write(cleanLedger(ledger, clean));
      const { approved, records } = ledger;
      return { ...written, records, ...(approved === undefined ? {} : { approved }) };
    },
    keepEntries: (entries) => store.keepEntries(entries.map((entry) => clean(entry))),
  };
  return new Proxy(store, {
    get: (whole, name) => {
      if (name === 'write' || name === 'keepEntries') return redacting[name];
      const member: unknown = Reflect.get(whole, name);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
}

/** Addresses and ids are kept, because resources are found by them. */
function cleanLedger(ledger: Ledger, clean: CliHost['clean']): Ledger {
  const { records, approved } = ledger;
  return {
    ...ledger,
    records: new Map([...records].map(([address, record]) => [address, cleanRecord(record, clean)])),
    ...(approved && {
      approved: { ...approved, atoms: cleanAtoms(approved.atoms, clean) },
    }),
  };
}

function cleanRecord(record: LedgerRecord, clean: CliHost['clean']): LedgerRecord {
  const { fields, content, marks } = record;
  return {
    ...record,
    fields: clean(fields),
    ...(content && { content: clean(content) }),
    ...(marks && { marks: clean(marks) }),
  };
}

/** Caches the parsed atoms of an approval, because every write of its apply contains it. */
const parsed = new WeakMap<readonly string[], readonly Json[]>();

/** Removes secrets from the values in atoms; the results are canonical texts again. */
function cleanAtoms(atoms: readonly string[], clean: CliHost['clean']): readonly string[] {
  const values = parsed.get(atoms) ?? atoms.map((atom): Json => JSON.parse(atom));
  parsed.set(atoms, values);
  const cleaned = clean(values);
  return cleaned === values ? atoms : cleaned.map(canonicalText);
}
