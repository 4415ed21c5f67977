/**
 * The key-value tags of one workspace or project, and the service's limits for them. The ownership tag is kept apart, so that no caller
 * can lose it. A write repeats the whole set, so a set with a binding of unexpected form is refused as a whole.
 */
import { describeAnswer } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { type OwnershipEvidence, ownershipTagKey, parseOwnershipTag } from '../../model/resource.ts';
import type { WorkspaceItem } from './workspace.ts';

export type Tags = Readonly<Record<string, string>>;

/** What tags are bound to: the beginning of its path, the word for it, and the key of its ownership tag. */
interface TagOwner {
  readonly path: 'workspaces' | 'projects';
  readonly word: string;
  readonly key: string;
}

/**
 * The key of the ownership tag of a project. Workspaces inherit the tags of their project, so a tag with the key of workspaces would
 * look there like the ownership tag of another stack.
 */
export const projectTagKey = 'trueup-project';

const ofWorkspaces: TagOwner = { path: 'workspaces', word: 'workspace', key: ownershipTagKey };
export const ofProjects: TagOwner = { path: 'projects', word: 'project', key: projectTagKey };

export interface BoundTags {
  /** bound to the workspace or project itself, without its ownership tag */
  readonly direct: Tags;
  /** the ownership tag in the target; one that is `inherited` from the project is not evidence */
  readonly ownershipTag?: { readonly text: string; readonly inherited: boolean };
  /** the tags of its project that it does not have itself; absent if only the direct ones were read */
  readonly inherited?: Tags;
}

/** The tags of one workspace, or why they could not be read. */
export type TagsAnswer =
  | { readonly tags: BoundTags }
  /** `missing`: the service answers that there is nothing at this path */
  | { readonly tags?: never; readonly problem: string; readonly missing?: true };

/** The ownership evidence in the tags of a workspace; empty if they were not read. */
export function ownershipFromTag(tags: BoundTags | undefined): Pick<OwnershipEvidence, 'ownershipTag'> {
  const ownershipTag = tags?.ownershipTag;
  return ownershipTag === undefined
    ? {}
    : { ownershipTag: parseOwnershipTag(ownershipTag.text, ownershipTag.inherited) };
}

/** The tags in a value of a spec or of facts; none if the value is not an object. */
export function asTags(value: Json | undefined): Tags {
  if (!isJsonObject(value)) return {};
  if (isTags(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, `${text ?? ''}`]));
}

function isTags(value: JsonObject): value is Tags {
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
}

interface Binding {
  readonly key: string;
  readonly value: string;
  readonly inherited: boolean;
}

type BindingsList = 'tag-bindings' | 'effective-tag-bindings';

/**
 * The tags from the items of one of the lists; a direct ownership tag takes precedence over an inherited one.
 * `problem` is a clause about the first binding of unexpected form.
 */
export function boundTags(
  items: readonly Json[],
  { key }: Pick<TagOwner, 'key'> = ofWorkspaces,
  list: BindingsList = 'tag-bindings',
): TagsAnswer {
  const bindings: Binding[] = [];
  for (const item of items) {
    const binding = asBinding(item);
    if (typeof binding === 'string') return { problem: binding };
    bindings.push(binding);
  }
  const tags = separateOwnershipTag(bindings, key);
  return { tags: list === 'tag-bindings' ? tags : { ...tags, inherited: inheritedFrom(bindings) } };
}

function inheritedFrom(bindings: readonly Binding[]): Tags {
  const inherited = bindings.filter((one) => one.inherited && !isOwnershipKey(one.key));
  return Object.fromEntries(inherited.map(({ key, value }) => [key, value]));
}

function separateOwnershipTag(bindings: readonly Binding[], ownershipKey: string): BoundTags {
  const own = bindings.filter(({ key, inherited }) => !inherited && key !== ownershipKey);
  const ownershipTags = bindings.filter(({ key }) => key === ownershipKey);
  const ownershipTag = ownershipTags.find(({ inherited }) => !inherited) ?? ownershipTags[0];
  return {
    direct: Object.fromEntries(own.map(({ key, value }) => [key, value])),
    ...(ownershipTag === undefined
      ? {}
      : { ownershipTag: { text: ownershipTag.value, inherited: ownershipTag.inherited } }),
  };
}

/** A clause if it is not a binding. A missing value is an empty one: some clients leave it out. */
function asBinding(item: Json): Binding | string {
  const attributes = isJsonObject(item) ? item['attributes'] : undefined;
  if (!isJsonObject(item) || !isJsonObject(attributes)) return 'one has no attributes';
  const { key, value = null } = attributes;
  if (typeof key !== 'string') return 'the key of one is not text';
  if (value !== null && typeof value !== 'string') return `the value of ${quoted(key)} is not text`;
  return { key, value: value ?? '', inherited: isInherited(item) };
}

/** The same answer; its problem names the workspace or project. */
function withOwner({ word }: TagOwner, name: string, answer: TagsAnswer): TagsAnswer {
  return answer.tags === undefined
    ? { problem: `the tag bindings of ${word} ${quoted(name)} could not be parsed: ${answer.problem}` }
    : answer;
}

/** The origin is in `links` or in `relationships`, depending on the client's version (wire/workspaces 1.5.5). */
function isInherited(item: JsonObject): boolean {
  return [item['links'], item['relationships']].some(
    (part) => isJsonObject(part) && part['inherited-from'] !== undefined && part['inherited-from'] !== null,
  );
}

/**
 * The tags that were included with a document by `include=effective_tag_bindings`; undefined when the document or the
 * included items lack any of them, because then the service does not have the feature.
 */
export function includedTags(
  item: WorkspaceItem,
  included: ReadonlyMap<string, Json>,
  owner: TagOwner = ofWorkspaces,
): TagsAnswer | undefined {
  const relationship = item.relationships['effective-tag-bindings'];
  const data = isJsonObject(relationship) ? relationship['data'] : undefined;
  if (!Array.isArray(data)) return undefined;
  const items = (data as readonly Json[]).map((entry) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? included.get(entry['id']) : undefined,
  );
  return items.every((found) => found !== undefined)
    ? withOwner(owner, item.name, boundTags(items, owner, 'effective-tag-bindings'))
    : undefined;
}

/** Included tag bindings by id, for `includedTags`. */
export function bindingsById(included: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(
    included.flatMap((item) => {
      if (!isJsonObject(item) || item['type'] !== 'effective-tag-bindings') return [];
      return typeof item['id'] === 'string' ? [[item['id'], item] as const] : [];
    }),
  );
}

/**
 * Reads the tags of one workspace, for services whose lists do not include them.
 * @param mayInherit without a direct ownership tag, also read the effective bindings, to find an inherited one
 */
export async function readBoundTags(
  session: Session,
  item: Pick<WorkspaceItem, 'id' | 'name'>,
  mayInherit: boolean,
): Promise<TagsAnswer> {
  const direct = await readBindings(session, item);
  if (direct.tags === undefined || !mayInherit || direct.tags.ownershipTag !== undefined) return direct;
  const effective = await readBindings(session, item, { list: 'effective-tag-bindings' });
  if (effective.tags === undefined) return effective;
  const { ownershipTag, inherited = {} } = effective.tags;
  const tags = { ...direct.tags, inherited };
  return {
    tags: ownershipTag === undefined ? tags : { ...tags, ownershipTag: { ...ownershipTag, inherited: true } },
  };
}

/** The bindings in one list of a workspace or project. */
export async function readBindings(
  { reader }: Pick<Session, 'reader'>,
  { id, name }: Pick<WorkspaceItem, 'id' | 'name'>,
  {
    owner = ofWorkspaces,
    list = 'tag-bindings',
  }: { readonly owner?: TagOwner; readonly list?: BindingsList } = {},
): Promise<TagsAnswer> {
  const answer = await reader.get(`/${owner.path}/${encodeURIComponent(id)}/${list}`);
  const data = isJsonObject(answer.body) ? answer.body['data'] : undefined;
  if (answer.status === 200 && Array.isArray(data))
    return withOwner(owner, name, boundTags(data, owner, list));
  const problem = `the tag bindings of ${owner.word} ${quoted(name)} were not read: ${describeAnswer(answer)}`;
  return { problem, ...(answer.status === 404 ? { missing: true } : {}) };
}

// The service's limits for tag bindings (wire/workspaces 1.5.17).

/** Maximum number of direct tag bindings of one workspace, the ownership tag included. */
export const maxTags = 10;
export const maxKeyLength = 128;
export const maxValueLength = 256;

export const tagCharacters = /^[A-Za-z0-9_.=+\-@:]*$/;
export const tagCharactersText = 'letters, digits and _ . = + - @ :';

/** Prefixes of keys that only the service may write; they are never part of a set of tags. */
export const reservedPrefixes: readonly string[] = ['hc:', 'hcp:'];

/** Whether a key is that of the ownership tag of workspaces or of projects. No manifest has these keys. */
export function isOwnershipKey(key: string): boolean {
  return key === ownershipTagKey || key === projectTagKey;
}

export function isReserved(key: string): boolean {
  return isOwnershipKey(key) || reservedPrefixes.some((prefix) => key.startsWith(prefix));
}
