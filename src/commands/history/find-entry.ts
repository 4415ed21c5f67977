/** Finds the apply that a user names: `latest`, an id, or a part of an id that no other apply has. */
import { type AddressText, formatAddress, parseAddress } from '../../model/address.ts';
import { type HistoryChange, type HistoryEntry, type HistoryStore, LedgerError } from '../../model/ledger.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import { shellWord } from '../../report/view/printable.ts';
import { CommandStop } from '../../run/command-stop.ts';

/** @throws CommandStop when the name fits no apply, or several; LedgerError when the entry cannot be read */
export async function findEntry(name: string, store: HistoryStore, stack: string): Promise<HistoryEntry> {
  const found = name === 'latest' ? await findLatest(store) : await findById(name, store, stack);
  if (found !== undefined) return found;
  const message =
    name === 'latest'
      ? `nothing was applied yet: the history of stack ${quoted(stack)} has no "latest"`
      : `the history of stack ${quoted(stack)} has no apply ${quoted(name)}: see "trueup history"`;
  throw new CommandStop('unknown-apply', message);
}

async function findLatest(store: HistoryStore): Promise<HistoryEntry | undefined> {
  const [entry] = await store.readEntries(1);
  if (entry instanceof LedgerError) throw entry;
  return entry;
}

async function findById(name: string, store: HistoryStore, stack: string): Promise<HistoryEntry | undefined> {
  const exact = await store.showEntry(name);
  if (exact !== undefined || name === '') return exact;
  const all = await store.readEntries(Number.MAX_SAFE_INTEGER);
  const matching = all.filter(
    (entry): entry is HistoryEntry => !(entry instanceof LedgerError) && hasPart(entry.id, name),
  );
  if (matching.length < 2) return matching[0];
  const ids = quoteSome(matching.map(({ id }) => id));
  throw new CommandStop(
    'ambiguous-apply',
    `the history of stack ${quoted(stack)} has ${matching.length} applies ${quoted(name)}: ${ids}`,
  );
}

/** `20261120T114200123Z-7f3a` begins with `20261120T11` and ends with `7f3a`. */
function hasPart(id: string, part: string): boolean {
  return id.startsWith(part) || id.endsWith(`-${part}`);
}

/**
 * The newest applies that changed a resource, also under an earlier name, each with only these changes. Keeps entries that cannot
 * be read, because they may contain such changes.
 */
export async function readEntriesOfResource(
  resource: AddressText,
  store: HistoryStore,
  limit: number,
): Promise<readonly (HistoryEntry | LedgerError)[]> {
  const all = await store.readEntries(Number.MAX_SAFE_INTEGER);
  const found: (HistoryEntry | LedgerError)[] = [];
  const names = new Set([resource]);
  for (const entry of all) {
    if (entry instanceof LedgerError) found.push(entry);
    else {
      const changes = entry.changes.filter(({ address }) => names.has(address));
      for (const change of changes) for (const name of namesBefore(change)) names.add(name);
      if (changes.length > 0) found.push({ ...entry, changes });
    }
  }
  return found.slice(0, limit);
}

/** The apply with only its changes of this resource. @throws CommandStop when it has none */
export function onlyChangesOf(resource: AddressText, entry: HistoryEntry): HistoryEntry {
  const changes = entry.changes.filter(
    (change) => change.address === resource || namesBefore(change).includes(resource),
  );
  if (changes.length > 0) return { ...entry, changes };
  throw new CommandStop(
    'unknown-apply',
    `the apply ${quoted(entry.id)} did not change ${quoted(resource)}: see ${quoted(`trueup history --resource ${shellWord(resource)}`)}`,
  );
}

/** The former names of a resource, from a change that renamed it. */
function namesBefore({ address, fields }: HistoryChange): AddressText[] {
  return fields.flatMap(({ path, before }) =>
    path.length === 1 && path[0] === 'name' && typeof before === 'string'
      ? [formatAddress({ ...parseAddress(address), name: before })]
      : [],
  );
}
