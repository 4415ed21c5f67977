/**
 * Lists the workspaces of an organization, once for all kinds, with their tag bindings if the service can include them. Finds in the
 * list the workspaces of child resources. A document of unexpected form counts as unread.
 */
import { type Address, formatAddress, parseAddress } from '../../model/address.ts';
import { type Answer, describeAnswer } from '../../model/http.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import type { ReadRequest, Session } from '../../model/kind.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { ownershipTagKey } from '../../model/resource.ts';
import { encodeBrackets, type Pages, readPages } from '../read-pages.ts';
import { organizationAnswer, organizationPath } from './organization.ts';
import {
  asWorkspaceItem,
  limits,
  reducedDocument,
  relatedId,
  type WorkspaceItem,
  workspaceOf,
} from './workspace.ts';
import { bindingsById, includedTags, readBoundTags, type TagsAnswer } from './tag-bindings.ts';

export interface WorkspaceList {
  /** why the list could not be read; the other members are meaningless then */
  readonly unread?: string;
  readonly items: readonly WorkspaceItem[];
  readonly byId: ReadonlyMap<string, WorkspaceItem>;
  readonly byName: ReadonlyMap<string, WorkspaceItem>;
  /** as the service counts */
  readonly total?: number;
  /** why the list is not complete */
  readonly incomplete: readonly string[];
  /** what the service lacks */
  readonly limits: readonly string[];
  /** whether the service has tag bindings: true if a workspace has an ownership tag; undefined if unknown */
  readonly keepsTags?: boolean;
  /** true when the tags of every workspace came with the list */
  readonly hasTags: boolean;
  /** ids of workspaces with an ownership tag, from the service's filter; empty when `hasTags` */
  readonly tagged: ReadonlySet<string>;
  /** The tags of one workspace. Sends a request, once per session, only if the list did not include them. */
  tagsOf(item: WorkspaceItem): Promise<TagsAnswer>;
}

type TagSource = Pick<WorkspaceList, 'hasTags' | 'tagged' | 'tagsOf' | 'limits' | 'keepsTags'> & {
  readonly incomplete?: string;
};

export function listWorkspaces(session: Session): Promise<WorkspaceList> {
  return session.once('workspaces', async () => {
    const { pages, tags } = await readWithTags(session);
    const read = pages.items.flatMap((document) => asWorkspaceItem(document) ?? []);
    const unread =
      whyUnread(session, pages) ??
      whyOrganizationsMixed(session, read) ??
      (await missingOrganization(session, pages));
    if (unread !== undefined) return { ...noList, unread };
    const tagging = includedTagging(session, read, tags) ?? (await separateTagging(session, read));
    const { incomplete, ...rest } = tagging;
    const isExact = pages.complete && pages.isEven && read.length === pages.items.length && tagging.hasTags;
    const items = isExact ? read.map((item, listIndex) => ({ ...item, listIndex })) : read;
    return {
      items,
      byId: new Map(items.map((item) => [item.id, item])),
      byName: new Map(items.map((item) => [item.name, item])),
      ...(pages.total === undefined ? {} : { total: pages.total }),
      ...rest,
      incomplete: [
        ...whyIncomplete(session, pages),
        ...whyFewer(session, pages.items.length, read.length),
        ...whyRepeated(session, items),
        ...(incomplete === undefined ? [] : [incomplete]),
      ],
    };
  });
}

/** The list if it could not be read. `tagsOf` must not be called then. */
const noList: WorkspaceList = {
  items: [],
  byId: new Map(),
  byName: new Map(),
  incomplete: [],
  limits: [],
  hasTags: false,
  tagged: new Set(),
  tagsOf: async ({ name }) => ({ problem: `the workspace ${quoted(name)} was never listed` }),
};

/** `/organizations/acme/workspaces` */
export function workspacesPath(session: Pick<Session, 'target'>): string {
  return `${organizationPath(session)}/workspaces`;
}

/** The tags by the id of the workspace; undefined for a workspace whose page does not include them. */
type IncludedTags = ReadonlyMap<string, TagsAnswer | undefined>;

async function readWithTags(
  session: Session,
): Promise<{ readonly pages: Pages; readonly tags: IncludedTags }> {
  const { tags, options } = reducedPages();
  const pages = await readPages(session.reader, listPath(session), options);
  if (!isIncludeRefused(pages.problem)) return { pages, tags };
  session.lacks.add('tags-in-lists');
  return { pages: await readPages(session.reader, listPath(session), options), tags };
}

/** Reduces the documents of pages of the list as they arrive, and keeps the tags that the pages include. */
export function reducedPages() {
  const tags = new Map<string, TagsAnswer | undefined>();
  const reduce = (documents: readonly JsonObject[], included: readonly JsonObject[]) => {
    const bindings = bindingsById(included);
    return documents.map((document) => {
      const item = asWorkspaceItem(document);
      if (item !== undefined) tags.set(item.id, includedTags(item, bindings));
      return reducedDocument(document);
    });
  };
  return { tags, options: { reduce } };
}

/** The path of the list of all workspaces, with their tags unless the service is known to refuse that. */
export function listPath(session: Session): string {
  const path = `${workspacesPath(session)}?sort=name`;
  return session.lacks.has('tags-in-lists') ? path : `${path}&${includedTagsQuery}`;
}

export const includedTagsQuery = 'include=effective_tag_bindings';

/** Clients of this API recognize the refusal by this text (wire/workspaces 1.3). */
export function isIncludeRefused(answer: Answer | string | undefined): boolean {
  return typeof answer === 'object' && answer.status === 400 && answer.words.includes('include parameter');
}

/** Why the list counts as unread: a page was not answered successfully. Contradictory pages only make the list incomplete. */
function whyUnread({ target }: Session, { problem }: Pages): string | undefined {
  if (problem === undefined || typeof problem === 'string') return undefined;
  return `the workspaces of organization ${quoted(target.organization ?? '')} cannot be listed: ${describeAnswer(problem)}`;
}

/** Why nothing of a list is used: a list that mixes organizations cannot be trusted. */
export function whyOrganizationsMixed(
  { target }: Session,
  items: readonly WorkspaceItem[],
): string | undefined {
  const wanted = target.organization?.toLowerCase();
  for (const item of items) {
    const found = relatedId(item, 'organization');
    if (found !== null && found.toLowerCase() !== wanted)
      return `the list of workspaces of organization ${quoted(target.organization ?? '')} holds ${quoted(item.name)} of organization ${quoted(found)}, so none of it is used`;
  }
  return undefined;
}

/** Why the organization seems to be missing: some services return an empty list for one that does not exist. Asks only then, and once. */
async function missingOrganization(session: Session, { items, problem }: Pages): Promise<string | undefined> {
  if (items.length > 0 || problem !== undefined) return undefined;
  const answer = await organizationAnswer(session);
  if (answer?.status !== 404) return undefined;
  return `there is no organization ${quoted(session.target.organization ?? '')}, or this token cannot see it: its list of workspaces is empty, and ${describeAnswer(answer)}`;
}

function whyIncomplete(session: Session, pages: Pages): string[] {
  if (pages.problem === undefined) return [];
  const organization = session.target.organization ?? '';
  const why = whyUnread(session, pages) ?? String(pages.problem);
  return [`not all workspaces of organization ${quoted(organization)} were read: ${why}`];
}

function whyFewer({ target }: Session, given: number, understood: number): string[] {
  if (understood === given) return [];
  const where = `the list of organization ${quoted(target.organization ?? '')}`;
  const nameless = given - understood;
  const subject = `${nameless} of ${counted(given, 'document')} in ${where} ${nameless === 1 ? 'has' : 'have'}`;
  return [`not all workspaces could be parsed: ${subject} no name`];
}

/** Names are unique in an organization: a list that has one name twice may lack another workspace. */
function whyRepeated({ target }: Session, items: readonly WorkspaceItem[]): string[] {
  const ids = new Map<string, string>();
  for (const { id, name } of items) {
    const other = ids.get(name);
    if (other !== undefined && other !== id) {
      const where = `the list of organization ${quoted(target.organization ?? '')}`;
      return [
        `not all workspaces were read: ${where} has ${quoted(other)} and ${quoted(id)} as ${quoted(name)}`,
      ];
    }
    ids.set(name, id);
  }
  return [];
}

/** The tags that came with the list; undefined if those of any workspace are missing: some services silently ignore the include. */
function includedTagging(
  session: Session,
  items: readonly WorkspaceItem[],
  tags: IncludedTags,
): TagSource | undefined {
  if (items.some(({ id }) => tags.get(id) === undefined)) return undefined;
  return {
    hasTags: true,
    tagged: new Set(),
    limits: [],
    ...(items.some(({ id }) => tags.get(id)?.tags?.ownershipTag !== undefined) ? { keepsTags: true } : {}),
    tagsOf: async (item) => tags.get(item.id) ?? readTagsOnce(session, item, true),
  };
}

function readTagsOnce(session: Session, item: WorkspaceItem, mayInherit: boolean): Promise<TagsAnswer> {
  return session.once(`tag-bindings ${item.id}`, () => readBoundTags(session, item, mayInherit));
}

/**
 * Lists again, filtered by the key of the ownership tag. First, an unused key shows whether the filter works. If no workspace has the
 * ownership tag, the tags of one or two workspaces show whether the service has tag bindings at all.
 */
async function separateTagging(session: Session, items: readonly WorkspaceItem[]): Promise<TagSource> {
  const isFiltered = await filtersByTag(session);
  const pages = isFiltered
    ? await readPages(session.reader, filteredPath(session, ownershipTagKey))
    : undefined;
  const tagged = new Set(pages?.items.map(({ id }) => String(id)));
  const tagsOf = (item: WorkspaceItem) => readTagsOnce(session, item, !isFiltered || tagged.has(item.id));
  if (tagged.size === 0 && (await lacksTagBindings(items, tagsOf))) return noTags;
  const incomplete = pages && whyIncomplete(session, pages)[0];
  return {
    hasTags: false,
    ...(tagged.size > 0 ? { keepsTags: true } : {}),
    tagged,
    limits: items.length === 0 ? [] : [limits.includedTags, ...(isFiltered ? [] : [limits.tagFilter])],
    tagsOf: async (item) => withFix(await tagsOf(item)),
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}

/** Adds the fix to a 404 for tags: the filter or another workspace has shown that the service has tag bindings. */
function withFix(answer: TagsAnswer): TagsAnswer {
  if (answer.tags !== undefined || answer.missing !== true) return answer;
  const fix =
    'the service has tag bindings, so the workspace was deleted after it was listed, or this token may not read them: plan again, or let the token read them';
  return { ...answer, problem: `${answer.problem}; ${fix}` };
}

const noTags: TagSource = {
  hasTags: true,
  keepsTags: false,
  tagged: new Set(),
  limits: [limits.tagBindings],
  tagsOf: async () => ({ tags: { direct: {}, inherited: {} } }),
};

/** Checks two listed workspaces, because one may have been deleted meanwhile. */
async function lacksTagBindings(
  items: readonly WorkspaceItem[],
  tagsOf: TagSource['tagsOf'],
): Promise<boolean> {
  for (const item of items.slice(0, 2)) {
    const answer = await tagsOf(item);
    if (answer.tags !== undefined || answer.missing !== true) return false;
  }
  return items.length > 0;
}

/** No workspace has this key: a list filtered by it is empty, unless the filter is ignored. */
const unusedKey = 'trueup-no-such-key';

async function filtersByTag(session: Session): Promise<boolean> {
  const { status, body } = await session.reader.get(
    encodeBrackets(`${filteredPath(session, unusedKey)}&page[size]=1`),
  );
  // The service refuses the parameter, so it has no filter.
  if (status >= 400 && status < 500) return false;
  const found = isJsonObject(body) ? body['data'] : undefined;
  return !Array.isArray(found) || found.length === 0;
}

function filteredPath(session: Session, key: string): string {
  return `${workspacesPath(session)}?sort=name&filter[tagged][0][key]=${key}`;
}

// Finds the workspaces of child resources: by name, else by the record's id or by `renamedFrom`, so that a renamed workspace is found.
// Each workspace is matched with one address only: a declared address takes precedence over a record under its former name.

export interface MatchedChild {
  readonly address: Address;
  readonly item: WorkspaceItem;
}

/** @param child kind and target for the addresses of undeclared children */
export function matchChildren(
  list: WorkspaceList,
  { declared, records, record, undeclared }: ReadRequest,
  child: Omit<Address, 'name'>,
): readonly MatchedChild[] {
  const byName = (name: string | undefined) => (name === undefined ? undefined : list.byName.get(name));
  // The parent's record comes first: a child's record may be about a former workspace that was deleted and created again.
  const byRecord = (address: Address) =>
    [record(workspaceOf(address)), records.get(formatAddress(address))]
      .map((known) => list.byId.get(known?.id ?? ''))
      .find((item) => item !== undefined);
  const placed = new Map<string, MatchedChild>();
  const place = (address: Address, item: WorkspaceItem | undefined) => {
    if (item !== undefined && !placed.has(item.id)) placed.set(item.id, { address, item });
  };
  for (const { address } of declared) place(address, byName(address.name));
  for (const { address, metadata } of declared) {
    if (byName(address.name) !== undefined) continue;
    const { renamedFrom } = metadata;
    // The workspace may have been renamed again in the service: the record under the former name has its id.
    const former = renamedFrom === undefined ? undefined : byRecord({ ...address, name: renamedFrom });
    place(address, byRecord(address) ?? former ?? byName(renamedFrom));
  }
  const declaredAddresses = new Set(declared.map(({ address }) => formatAddress(address)));
  for (const text of records.keys()) {
    if (declaredAddresses.has(text)) continue;
    const address = parseAddress(text);
    place(address, byName(address.name) ?? byRecord(address));
  }
  for (const item of list.items) if (undeclared?.(item.name)) place({ ...child, name: item.name }, item);
  return [...placed.values()];
}
