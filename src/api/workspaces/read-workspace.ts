/** Reads workspaces without any cache: just before they are written, or after a lost answer. */
import { isJsonObject } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { quoted } from '../../model/quoted.ts';
import { isPage, pageSize, readPage } from '../read-pages.ts';
import { type BoundTags, bindingsById, includedTags, readBoundTags } from './tag-bindings.ts';
import {
  whyOrganizationsMixed,
  includedTagsQuery,
  isIncludeRefused,
  reducedPages,
  listPath,
  workspacesPath,
} from './list-workspaces.ts';
import { asWorkspaceItem, relatedId, type WorkspaceItem } from './workspace.ts';

interface WorkspaceWithTags {
  readonly item: WorkspaceItem;
  readonly tags: BoundTags;
}

interface Requested {
  readonly item: WorkspaceItem;
  readonly name: string;
  readonly id: string | undefined;
}

/**
 * Whether a workspace that was read is one of the target, if it was read by id.
 * @throws WireError if it has another id, or another name: some services ignore case, or know former names
 */
async function isRequested(
  session: Session,
  answer: Answer,
  { item, name, id }: Requested,
): Promise<boolean> {
  if (item.id === id) return belongs(session, item);
  if (id === undefined && item.name === name) return true;
  const { method, url, status } = answer;
  throw unread(
    answer,
    `${method} ${url} answered ${status} with the workspace ${quoted(item.name)} (${item.id}) instead of ${quoted(id ?? name)}`,
  );
}

/**
 * Whether a workspace that was read by id belongs to the target's organization: an id may lead to any organization. If the document
 * does not show it, a read by name must return the same id.
 */
export async function belongs(session: Session, item: WorkspaceItem): Promise<boolean> {
  const organization = relatedId(item, 'organization');
  if (organization !== null) return organization.toLowerCase() === session.target.organization?.toLowerCase();
  return isNamed(session, item.name, item.id);
}

/** Whether the service finds the workspace with this id by this name. @throws WireError on an answer other than a workspace or 404 */
export async function isNamed(session: Session, name: string, id: string): Promise<boolean> {
  return documentOf(await session.reader.get(pathOf(session, name, undefined)))?.item.id === id;
}

/** Reads by id in any organization. Undefined if it does not exist. @throws WireError on any other answer */
export async function readWorkspaceAnywhere(
  session: Session,
  id: string,
): Promise<WorkspaceItem | undefined> {
  return documentOf(await session.reader.get(pathOf(session, '', id)))?.item;
}

/**
 * Reads a workspace with its tags, by id if one is given, because names can change: one request if the service can include them.
 * Undefined if it does not exist, or the token cannot see it.
 * @throws WireError on any other answer: nothing may be written then
 */
export async function readWorkspaceWithTags(
  session: Session,
  name: string,
  id?: string,
): Promise<WorkspaceWithTags | undefined> {
  const path = pathOf(session, name, id);
  const answer = await documentAnswer(session, path);
  const document = documentOf(answer);
  if (document === undefined) return undefined;
  const { item, included } = document;
  if (!(await isRequested(session, answer, { item, name, id }))) return undefined;
  const read = includedTags(item, included) ?? (await readBoundTags(session, item, true));
  if (read.tags !== undefined) return { item, tags: read.tags };
  // Without ownership tags, nothing depends on the tags of a service that has none.
  if (read.missing === true && session.target.ownership === 'ledger') return { item, tags: { direct: {} } };
  throw unread(answer, read.problem);
}

/** The answer with the document, and with its tags unless the service refuses that. */
async function documentAnswer({ reader, lacks }: Session, path: string): Promise<Answer> {
  if (lacks.has('tags-in-documents')) return reader.get(path);
  const answer = await reader.get(`${path}?${includedTagsQuery}`);
  if (!isIncludeRefused(answer)) return answer;
  lacks.add('tags-in-documents');
  return reader.get(path);
}

/**
 * One page of the list of workspaces by id, without those whose tags it does not show. A session reads each page once.
 * @param page from 0
 * @throws WireError when it is not a page of this organization
 */
export function workspacesOnPage(
  session: Session,
  page: number,
): Promise<ReadonlyMap<string, WorkspaceWithTags>> {
  return session.once(`page ${page} of the workspaces`, async () => {
    const path = listPath(session);
    const { tags: included, options } = reducedPages();
    const read = await readPage(session.reader, path, { ...options, number: page + 1 });
    if (!isPage(read)) throw unread(read, describeAnswer(read));
    const items = read.items.flatMap((document) => asWorkspaceItem(document) ?? []);
    const foreign = whyOrganizationsMixed(session, items);
    if (foreign !== undefined) throw unread({ method: 'GET', url: path }, foreign);
    const seen = Map.groupBy(items, ({ id }) => id);
    const found = items.flatMap((item, index) => {
      const { tags } = included.get(item.id) ?? {};
      const listIndex = page * pageSize + index;
      // If a workspace is listed twice, it is unknown which item is current.
      const isUnique = seen.get(item.id)?.length === 1;
      return tags === undefined || !isUnique
        ? []
        : [[item.id, { item: { ...item, listIndex }, tags }] as const];
    });
    return new Map(found);
  });
}

function pathOf(session: Session, name: string, id: string | undefined): string {
  return id === undefined
    ? `${workspacesPath(session)}/${encodeURIComponent(name)}`
    : `/workspaces/${encodeURIComponent(id)}`;
}

/** The error for a single read without a usable answer. */
export function unread({ method, url }: Pick<Answer, 'method' | 'url'>, why: string): WireError {
  return new WireError(why, { method, url, sent: false });
}

function documentOf(answer: Answer) {
  if (answer.status === 404) return undefined;
  const body = isJsonObject(answer.body) ? answer.body : {};
  const item = asWorkspaceItem(body['data']);
  if (answer.status !== 200 || item === undefined) throw unread(answer, describeAnswer(answer));
  const included = Array.isArray(body['included']) ? body['included'] : [];
  return { item, included: bindingsById(included) };
}
