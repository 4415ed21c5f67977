/** The history of resources that this stack takes over from another one. */
import type { AddressText } from '../model/address.ts';
import type { HistoryChange, HistoryEntry, IncomingRecords, StackStore } from '../model/ledger.ts';
import type { Stack } from '../model/stack.ts';

interface HistorySource {
  readonly stack: Pick<Stack, 'name'>;
  readonly store: Pick<StackStore, 'listEntries'>;
}

/** Copies what the applies of the other stack did to the resources. A copy that exists already gets the changes that it lacks. */
export async function copyHistory(
  { store: from, stack }: HistorySource,
  { records }: Pick<IncomingRecords, 'records'>,
  to: Pick<StackStore, 'showEntry' | 'keepEntries'>,
): Promise<void> {
  const here = new Map(Object.entries(records).map(([text, { at }]) => [at, text as AddressText]));
  // A damaged entry is an error: the history would be lost with it.
  const entries = await from.listEntries(Number.MAX_SAFE_INTEGER);
  const copies: HistoryEntry[] = [];
  for (const entry of entries) {
    const changes = entry.changes.flatMap((change) => {
      const address = here.get(change.address);
      return address === undefined ? [] : [{ ...change, address }];
    });
    const id = entry.moved ? entry.id : `${entry.id}-${stack.name}`;
    const copy = await to.showEntry(id);
    const copied = copy?.changes ?? [];
    const known = new Set(
      [...copied, ...((await ownOriginal(entry, to))?.changes ?? [])].map(({ address }) => address),
    );
    const added = changes.filter(({ address }) => !known.has(address));
    if (added.length === 0) continue;
    // What the other stack's approvals were does not matter here.
    const { endedApprovals: _, pruned: __, tagged: ___, related: ____, ...about } = entry;
    const seen = seenByPolicies(entry, { changes, copy, here });
    copies.push({ ...about, id, moved: true, ...seen, changes: [...copied, ...added] });
  }
  if (copies.length > 0) await to.keepEntries(copies);
}

interface MovedPart {
  /** of the resources that move */
  readonly changes: readonly HistoryChange[];
  /** what was copied before */
  readonly copy: HistoryEntry | undefined;
  /** the addresses here by those in the other stack */
  readonly here: ReadonlyMap<AddressText, AddressText>;
}

/** What policies saw besides the changes, as far as it belongs to resources that move: the rest is the other stack's. */
function seenByPolicies(
  { tagged = {}, related = {} }: HistoryEntry,
  { changes, copy, here }: MovedPart,
): Pick<HistoryEntry, 'tagged' | 'related'> {
  const parents = new Set(changes.map(({ checked }) => checked?.parent));
  const ownTagged = Object.entries(tagged).flatMap(([text, record]) => {
    const at = text as AddressText;
    return here.has(at) || parents.has(at) ? [[here.get(at) ?? at, record] as const] : [];
  });
  const records = [
    ...changes.flatMap(({ checked }) => checked ?? []),
    ...ownTagged.map(([, record]) => record),
  ];
  const named = new Set<string>(
    records.flatMap(({ parent, references }) => [parent ?? [], references].flat()),
  );
  const allTagged = { ...copy?.tagged, ...Object.fromEntries(ownTagged) };
  const allRelated = {
    ...copy?.related,
    ...Object.fromEntries(Object.entries(related).filter(([text]) => named.has(text))),
  };
  return {
    ...(Object.keys(allTagged).length === 0 ? {} : { tagged: allTagged }),
    ...(Object.keys(allRelated).length === 0 ? {} : { related: allRelated }),
  };
}

/** The entry of this stack that comes back as a copy, because the resource was in the other stack meanwhile. */
async function ownOriginal(
  copy: HistoryEntry,
  to: Pick<StackStore, 'showEntry'>,
): Promise<HistoryEntry | undefined> {
  const end = `-${copy.stack}`;
  if (!copy.moved || !copy.id.endsWith(end)) return undefined;
  const original = await to.showEntry(copy.id.slice(0, -end.length));
  return original?.stack === copy.stack ? original : undefined;
}
