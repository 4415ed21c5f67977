/** Reads the tags of the workspaces that a document or the ledger names, out of the list that all kinds share (rule 9). */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { parseClaim } from '../../model/resource/claim.ts';
import { type LiveSet, noResources, type Session, type ReadRequest } from '../../model/kind/kind.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { BoundTags } from '../../services/workspaces/bound-tags.ts';
import { listWorkspaces } from '../../services/workspaces/list-workspaces.ts';
import { placeParts } from '../../services/workspaces/match-parts.ts';
import { readWorkspaceWithTags } from '../../services/workspaces/read-workspace.ts';
import { rightsOf } from '../../services/workspaces/rights.ts';
import type { WorkspaceItem } from '../../services/workspaces/workspace-item.ts';

const KIND = 'TagBindings';

/** A service that cannot be reached throws; whatever it answers is told in the set. */
export async function read(session: Session, wanted: ReadRequest): Promise<LiveSet> {
  const list = await listWorkspaces(session);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  const looks = await Promise.all(
    placeParts(list, wanted, { kind: KIND, target: session.target.name }).map(async ({ address, item }) => {
      const answer = await list.tagsOf(item);
      if (answer.tags === undefined) return { address, problem: answer.problem };
      return { address, live: liveTags(address, item, answer.tags) };
    }),
  );
  const unseen = looks.flatMap(({ address, problem }) =>
    problem === undefined ? [] : [[formatAddress(address), problem] as const],
  );
  return {
    resources: looks.flatMap(({ live }) => live ?? []),
    unseen: new Map(unseen),
    incomplete: [...list.incomplete, ...unseen.map(([, problem]) => problem)],
    invisible: [],
    notes: list.notes,
  };
}

/** @throws WireError when the service answers neither the workspace nor that there is none */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
): Promise<LiveResource | undefined> {
  const found = await readWorkspaceWithTags(session, address.name, id);
  return found === undefined ? undefined : liveTags(address, found.item, found.tags);
}

/** `direct` and `claim` are the whole set, which a replacing write has to repeat; the id is the workspace's. */
function liveTags(address: Address, item: WorkspaceItem, { direct, claim }: BoundTags): LiveResource {
  const own = claim !== undefined && !claim.inherited ? claim.text : null;
  return {
    address,
    id: item.id,
    spec: { tags: direct },
    witness: claim === undefined ? {} : { claim: parseClaim(claim.text, claim.inherited) },
    facts: {
      direct,
      claim: own,
      assessmentsEnabled: item.attributes['assessments-enabled'] ?? null,
    },
    ...rightsOf(item),
  };
}
