/**
 * Who gains, loses or keeps the right to read a state: by a change of the consumers, by the deletion or release of the
 * workspace, and when the document is gone. Pure.
 */
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import type { Address } from '../../model/address.ts';
import type { Risk } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import type { MarkContext } from '../../model/kind-calls.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { consumersOf, edgesOf, type LiveConsumers, recordedEdges } from './read.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export function risk(
  before: RemoteStateConsumersSpec | undefined,
  after: RemoteStateConsumersSpec | undefined,
): readonly Risk[] {
  if (before !== undefined && before.consumers === undefined) return [];
  const [old, now] = [consumersOf(before ?? {}), consumersOf(after ?? {})];
  return [
    ...risksFor(
      'widens',
      now.filter((name) => !old.includes(name)),
    ),
    ...risksFor(
      'narrows',
      old.filter((name) => !now.includes(name)),
    ),
  ];
}

function risksFor(effect: 'widens' | 'narrows', names: readonly string[]): Risk[] {
  if (names.length === 0) return [];
  const lose = names.length === 1 ? 'loses' : 'lose';
  const message = effect === 'widens' ? 'may read the state' : `${lose} access to the state`;
  return [{ path: ['consumers'], effect, message: `${names.map(quoted).join(', ')} ${message}` }];
}

// Finds who loses access to a state when its workspace is deleted: all current consumers that still exist afterwards. Pure.

export function losses(
  { address, facts }: LiveConsumers,
  outlives: (address: Address, id: string) => boolean,
): readonly string[] {
  // While it is shared with all, there is no list, and it is unknown which workspaces read the state.
  if (facts.global === true) return [sharedWith('organization')];
  if (facts.project === true) return [sharedWith('project')];
  if (facts.readersUnknown === true)
    return ['which workspaces read its state is unknown: the service has no remote state consumers'];
  const losing = [...edgesOf(facts.edges)]
    .filter(([name, id]) => outlives({ ...workspaceOf(address), name }, id))
    .map(([name]) => quoted(name));
  if (losing.length === 0) return [];
  return [`workspaces that stay lose access to its state: ${losing.toSorted().join(', ')}`];
}

function sharedWith(scope: string): string {
  return `its state is shared with the whole ${scope}: workspaces that read it lose access`;
}

// Finds who keeps access to the state of a released workspace: consumers that this stack added and that still exist. Pure.

export function remainingAccess(
  record: Pick<LedgerRecord, 'marks'>,
  live?: LiveConsumers,
): readonly string[] {
  const { edges } = live?.facts ?? {};
  const now = edges === undefined ? undefined : new Set(edgesOf(edges).values());
  const readers = [...recordedEdges(record)]
    .filter(([, id]) => now?.has(id) ?? true)
    .map(([name]) => quoted(name));
  if (readers.length === 0) return [];
  const keep = readers.length === 1 ? 'keeps' : 'keep';
  return [`${readers.toSorted().join(', ')} ${keep} reading its state`];
}

/**
 * `{ edges: { name: id } }`: the edges that this stack has added. A removed edge stays recorded until a plan has found it
 * gone.
 */
export function ledgerMarks({
  change,
  desired,
  live,
  record,
  idOf,
}: MarkContext<RemoteStateConsumersSpec, LiveConsumers>): Readonly<Record<string, Json>> {
  const target = (change ?? live)?.address.target;
  if (target === undefined) return {};
  const given = consumersOf(desired).flatMap((name) => {
    const id = idOf({ kind: 'Workspace', target, name });
    return id === undefined ? [] : [[name, id] as const];
  });
  const known = change === undefined ? [] : recordedEdges(record);
  return { edges: Object.fromEntries([...known, ...given]) };
}

/** The consumers that remain when the document is gone: all but the recorded ones. Empty spec for a state that is shared with all. */
export function withdrawAccess(
  record: Pick<LedgerRecord, 'marks'>,
  live: LiveConsumers,
): RemoteStateConsumersSpec {
  if (live.facts.global === true || live.facts.project === true) return {};
  const recorded = new Set(recordedEdges(record).values());
  const edges = edgesOf(live.facts.edges);
  return { consumers: consumersOf(live.spec).filter((name) => !recorded.has(edges.get(name) ?? '')) };
}
