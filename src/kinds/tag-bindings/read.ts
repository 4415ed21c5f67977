/**
 * Reads the tags of the workspaces that a document or the ledger names, from the list that all kinds share, and from
 * the response to a write.
 */
import { listWorkspaces, matchChildren, type WorkspaceList } from '../../api/workspaces/list-workspaces.ts';
import { pageSize } from '../../api/read-pages.ts';
import { readWorkspaceWithTags, workspacesOnPage } from '../../api/workspaces/read-workspace.ts';
import { boundTags } from '../../api/workspaces/tag-bindings.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import type { Answer } from '../../model/http.ts';
import { memberOf } from '../../model/json.ts';
import { type LiveSet, noResources, type OnPage, type ReadRequest, type Session } from '../../model/kind.ts';
import type { ReturnedFields } from '../../model/kind-calls.ts';
import { type LiveTags, liveTags } from './fields.ts';

const KIND = 'TagBindings';

const noTags = {
  code: 'no-tag-bindings',
  class: 'invalid',
  message: 'the service has no tag bindings',
  fix: 'remove the tags: this service cannot store them',
} as const;

/** @throws WireError when the service cannot be reached; a refusal becomes part of the result */
export async function read(session: Session, request: ReadRequest): Promise<LiveSet<LiveTags>> {
  const list = await listWorkspaces(session);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  if (list.keepsTags === false) return { ...noResources, incomplete: list.incomplete, unsupported: noTags };
  const readings = await Promise.all(
    matchChildren(list, request, { kind: KIND, target: session.target.name }).map(
      async ({ address, item }) => {
        const answer = await list.tagsOf(item);
        if (answer.tags === undefined) return { address, problem: answer.problem };
        return { address, live: liveTags(address, item, answer.tags) };
      },
    ),
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
    ...(isVerified(session, list) || readings.some(({ live }) => hasTags(live)) ? {} : { unverified: true }),
  };
}

/** Whether the service is known to keep tags. If ownership tags are written, their own check proves it. */
function isVerified({ target }: Session, { keepsTags }: WorkspaceList): boolean {
  return target.ownership !== 'ledger' || keepsTags === true;
}

function hasTags(live: LiveTags | undefined): boolean {
  return live !== undefined && Object.keys(live.spec.tags ?? {}).length > 0;
}

/** @throws WireError when the service returns neither the workspace nor "not found" */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
): Promise<LiveTags | undefined> {
  const found = await readWorkspaceWithTags(session, address.name, id);
  return found === undefined ? undefined : liveTags(address, found.item, found.tags);
}

async function readFromPage(
  _: Session,
  { page, recent, address, id }: OnPage,
): Promise<LiveTags | undefined> {
  const found = (await workspacesOnPage(recent, page)).get(id);
  return found && liveTags(address, found.item, found.tags);
}

export const pages = { size: pageSize, read: readFromPage };

/** Only the response to an addition contains bindings; all other writes return the document of the workspace, without them. */
export function fieldsFromResponse({ path }: Call, { body }: Answer): ReturnedFields | undefined {
  const data = memberOf(body, 'data');
  if (path.at(-1) !== 'tag-bindings' || !Array.isArray(data)) return undefined;
  const { tags } = boundTags(data);
  return tags && { about: ['tags'], spec: { tags: tags.direct } };
}
