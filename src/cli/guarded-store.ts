/**
 * A store that is given no secret that the run knows (rules 42): a ledger is read by many and kept for long, and one in git
 * goes to its remote. The run itself goes on with what it knows; a value that was left out equals nothing later on.
 */
import { canonicalText, type Json } from '../model/json/json.ts';
import type { Ledger, LedgerRecord, StackStore } from '../model/stack/ledger.ts';
import type { CliHost } from './cli-host.ts';

export function guardedStore(store: StackStore, clean: CliHost['clean']): StackStore {
  const guards: Pick<StackStore, 'write' | 'keepEntries'> = {
    write: async (ledger) => {
      const written = await store.write(cleanLedger(ledger, clean));
      const { approved, records } = ledger;
      return { ...written, records, ...(approved === undefined ? {} : { approved }) };
    },
    keepEntries: (entries) => store.keepEntries(entries.map((entry) => clean(entry))),
  };
  return new Proxy(store, {
    get: (whole, name) => {
      if (name === 'write' || name === 'keepEntries') return guards[name];
      const member: unknown = Reflect.get(whole, name);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
}

/** Addresses and ids stay: by them a resource is found again. */
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

/** By the texts of an approval, which is in every write of its apply, what they mean. */
const parsed = new WeakMap<readonly string[], readonly Json[]>();

/** Canonical texts: their values change, and nothing of their form. */
function cleanAtoms(atoms: readonly string[], clean: CliHost['clean']): readonly string[] {
  const meant = parsed.get(atoms) ?? atoms.map((atom): Json => JSON.parse(atom));
  parsed.set(atoms, meant);
  const kept = clean(meant);
  return kept === meant ? atoms : kept.map(canonicalText);
}
