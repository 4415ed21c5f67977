/** Reads the tags of the workspaces that a document or the ledger names, from the list that all kinds share (rule 9). */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { type LiveSet, noResources, type Session, type ReadRequest } from '../../model/kind/kind.ts';
import { listWorkspaces, type WorkspaceList } from '../../services/workspaces/list-workspaces.ts';
import { placeParts } from '../../services/workspaces/match-parts.ts';
import { readWorkspaceWithTags } from '../../services/workspaces/read-workspace.ts';
import { type LiveTags, liveTags } from './live-tags.ts';

const KIND = 'TagBindings';

const noTags = {
  code: 'no-tag-bindings',
  class: 'invalid',
  message: 'the service has no tag bindings',
  fix: 'remove the tags: this service cannot keep them',
} as const;

/** @throws WireError when the service cannot be reached; all its answers are values of the set */
export async function read(session: Session, request: ReadRequest): Promise<LiveSet<LiveTags>> {
  const list = await listWorkspaces(session);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  if (list.keepsTags === false) return { ...noResources, incomplete: list.incomplete, unsupported: noTags };
  const readings = await Promise.all(
    placeParts(list, request, { kind: KIND, target: session.target.name }).map(async ({ address, item }) => {
      const answer = await list.tagsOf(item);
      if (answer.tags === undefined) return { address, problem: answer.problem };
      return { address, live: liveTags(address, item, answer.tags) };
    }),
  );
  const unseen = readings.flatMap(({ address, problem }) =>
    problem === undefined ? [] : [[formatAddress(address), problem] as const],
  );
  return {
    resources: readings.flatMap(({ live }) => live ?? []),
    unseen: new Map(unseen),
    incomplete: [...list.incomplete, ...unseen.map(([, problem]) => problem)],
    invisible: [],
    notes: [],
    ...(isProved(session, list) || readings.some(({ live }) => hasTags(live)) ? {} : { unproven: true }),
  };
}

/** Where claims are written, they prove it: they are tags. */
function isProved({ target }: Session, { keepsTags }: WorkspaceList): boolean {
  return target.ownership !== 'ledger' || keepsTags === true;
}

function hasTags(live: LiveTags | undefined): boolean {
  return live !== undefined && Object.keys(live.spec.tags ?? {}).length > 0;
}

/** @throws WireError when the service answers neither the workspace nor that there is none */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
): Promise<LiveTags | undefined> {
  const found = await readWorkspaceWithTags(session, address.name, id);
  return found === undefined ? undefined : liveTags(address, found.item, found.tags);
}
