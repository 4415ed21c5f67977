/** The tags of a resource that policies see, before and after a plan: its own, and those that it inherits from its project. Pure. */
import { projectKind } from '../api/workspaces/projects.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { canonicalText, isJsonObject, type Json } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { Ledger } from '../model/ledger.ts';
import {
  type DesiredResource,
  isDeclaration,
  type LiveResource,
  ownOwnershipTag,
  type Spec,
} from '../model/resource.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { PolicyChange } from '../policies/variables.ts';

export type Tagged = Pick<PolicyChange, 'tags' | 'tagsBefore' | 'hasUnknownTags' | 'hasUnknownInherited'>;

type Tags = Readonly<Record<string, string>>;

/** A project whose tags the plan has not read; null and undefined as in `inheritedTags` of the plan. */
export interface AskedProject {
  readonly target: string;
  readonly project: string | null | undefined;
}

/** A key for each project; null and undefined have different keys. */
export function projectKey(target: string, project: Json | undefined): string {
  return JSON.stringify([target, project ?? null, project === undefined]);
}

/** The parent of a child, or the resource itself. */
function rootOf(address: Address, kinds: Registry): Address {
  const ownership = kinds.get(address.kind)?.ownership;
  return ownership?.by === 'child' ? ownership.of(address) : address;
}

/** Whether resources of the kind are in a project, whose tags they inherit. */
function isInProject(kind: Kind | undefined): boolean {
  return Object.hasOwn(kind?.fields ?? {}, 'projectId');
}

/** @returns a function for the tags of a resource. A workspace and its children have the same tags, so they are computed once */
export function findTags(planning: PlanResult, kinds: Registry): (address: Address) => Tagged {
  const projectTags = findProjectTags(planning, kinds);
  const found = new Map<AddressText, Tagged>();
  return (address) => {
    const root = rootOf(address, kinds);
    const text = formatAddress(root);
    const known = found.get(text) ?? tagsOfRoot(planning, root, { kinds, projectTags });
    found.set(text, known);
    return known;
  };
}

interface TagSources {
  readonly kinds: Registry;
  readonly projectTags: FindProjectTags;
}

function tagsOfRoot(planning: PlanResult, root: Address, { kinds, projectTags }: TagSources): Tagged {
  const own = ownTagsOf(planning, root, kinds);
  if (!isInProject(kinds.get(root.kind))) return own;
  // A workspace's own tag hides the project's tag with the same key, which appears when the own tag is removed.
  const uncovers = Object.keys(own.tagsBefore ?? {}).some((key) => !Object.hasOwn(own.tags, key));
  const inherited = inheritedBy(planning, root, { projectTags, uncovers });
  return {
    ...own,
    tags: { ...inherited.after, ...own.tags },
    tagsBefore: { ...inherited.before, ...own.tagsBefore },
    ...(inherited.isUnknown ? { hasUnknownInherited: true } : {}),
  };
}

/** The project that a workspace is in before the plan, and after it. Null and undefined as in `inheritedTags` of the plan. */
function projectsOf(planning: PlanResult, workspace: Address) {
  const live = planning.live(workspace);
  const before = live && (live.spec['projectId'] ?? null);
  return { before, after: (planning.contentOf(workspace) ?? live?.spec)?.['projectId'] ?? before };
}

/** @param uncovers whether the workspace loses tags of its own: then it may inherit more tags than it shows now */
function inheritedBy(
  planning: PlanResult,
  workspace: Address,
  { projectTags, uncovers }: { readonly projectTags: FindProjectTags; readonly uncovers: boolean },
): TagsOfProject {
  const live = planning.live(workspace);
  const { target } = workspace;
  const project = projectsOf(planning, workspace);
  const facts = live?.facts['inheritedTags'];
  const shown = isJsonObject(facts) ? tagsIn(facts) : undefined;
  const isSame =
    project.before === project.after && !uncovers && !projectTags.isPlanned(target, project.after);
  const before = live && shown === undefined ? projectTags.of(target, project.before) : undefined;
  const after = shown !== undefined && isSame ? undefined : projectTags.of(target, project.after);
  return {
    before: shown ?? before?.before ?? {},
    after: after?.after ?? shown ?? {},
    isUnknown: [before, after].some((one) => one?.isUnknown === true),
  };
}

interface TagsOfProject {
  readonly before: Tags;
  readonly after: Tags;
  /** only some are known */
  readonly isUnknown: boolean;
}

/** Finds the tags of a project by its target and its id, or by its address if the plan creates it. */
interface FindProjectTags {
  /** The tags that the plan has read, or that were read later for policies. */
  of(target: string, project: Json | undefined): TagsOfProject;
  /** Whether the plan decides the tags of the project. */
  isPlanned(target: string, project: Json | undefined): boolean;
}

function findProjectTags(planning: PlanResult, kinds: Registry): FindProjectTags {
  const projects = findProjects(planning);
  // A workspace that does not show its project may be in any project.
  const mayBeChanged = (of: string) =>
    planning.plan.changes.some(({ address: { kind, target } }) => kind === projectKind && target === of);
  const isPlanned = (address: Address | undefined) =>
    address !== undefined && planning.contentOf(address) !== undefined;
  const read = (target: string, project: Json | undefined): TagsOfProject => {
    const address = projects(target, project);
    const {
      tags = {},
      tagsBefore = {},
      ...unknown
    } = address === undefined ? { hasUnknownTags: true as const } : ownTagsOf(planning, address, kinds);
    if (unknown.hasUnknownTags !== true) return { before: tagsBefore, after: tags, isUnknown: false };
    const isNamed = project === null || project === undefined || typeof project === 'string';
    const asked = isNamed ? planning.inheritedTags?.(target, project) : undefined;
    if (asked === undefined) return { before: {}, after: tags, isUnknown: true };
    return { before: { ...asked, ...tagsBefore }, after: { ...asked, ...tags }, isUnknown: false };
  };
  const found = new Map<string, TagsOfProject>();
  return {
    isPlanned: (target, project) =>
      project === null ? mayBeChanged(target) : isPlanned(projects(target, project)),
    of: (target, project) => {
      const key = projectKey(target, project);
      const known = found.get(key) ?? read(target, project);
      found.set(key, known);
      return known;
    },
  };
}

/** @returns a function that finds a project's address by its id, by its address if the plan creates it, or the default one by undefined */
function findProjects(
  planning: PlanResult,
): (target: string, project: Json | undefined) => Address | undefined {
  const { changes } = planning.plan;
  const changed = changes.filter(({ address }) => address.kind === projectKind);
  const created = new Map<string, Address>(changed.map(({ address }) => [formatAddress(address), address]));
  const read = new Map<string, ReadonlyMap<Json | undefined, Address>>();
  const projectsIn = (target: string) => {
    const known = read.get(target) ?? byId(planning.liveOfKind(projectKind, target));
    read.set(target, known);
    return known;
  };
  return (target, project) =>
    projectsIn(target).get(project) ?? (typeof project === 'string' ? created.get(project) : undefined);
}

/** The projects by id; the default project also by undefined. */
function byId(projects: readonly LiveResource[]): ReadonlyMap<Json | undefined, Address> {
  return new Map(
    projects.flatMap(({ id, facts, address }) => [
      ...(id === undefined ? [] : [[id, address] as const]),
      ...(facts['isDefault'] === true ? [[undefined, address] as const] : []),
    ]),
  );
}

/**
 * Tags of the resource, or of its parent: those in fields of the kind or of one of its children, and those that only the service has
 * (`facts.direct`), because a manifest need not declare all tags.
 */
function ownTagsOf(planning: PlanResult, address: Address, kinds: Registry): Tagged {
  const root = rootOf(address, kinds);
  const hasSameRoot = ({ name }: Kind) =>
    formatAddress(rootOf({ ...root, kind: name }, kinds)) === formatAddress(root);
  const related = [...kinds.values()].filter(hasSameRoot);
  const tagged = related.filter(({ fields }) => Object.hasOwn(fields, 'tags'));
  if (tagged.length === 0) return { tags: {} };
  const at = ({ name }: Kind): Address => ({ ...root, kind: name });
  const live = related.flatMap((kind) => planning.live(at(kind)) ?? []);
  const shown = live.flatMap(({ facts }) => (isJsonObject(facts['direct']) ? [tagsIn(facts['direct'])] : []));
  const mergedTags = (specs: readonly (Spec | undefined)[]): Record<string, string> =>
    Object.assign({}, ...specs.map((spec) => tagsIn(spec?.['tags'])));
  const before = mergedTags(tagged.map((kind) => planning.live(at(kind))?.spec));
  const after = mergedTags(
    tagged.map((kind) => planning.contentOf(at(kind)) ?? planning.live(at(kind))?.spec),
  );
  const direct: Record<string, string> = Object.assign({}, ...shown);
  const kept = Object.entries(direct).filter(([key]) => !Object.hasOwn(before, key));
  return {
    tags: { ...Object.fromEntries(kept), ...after },
    tagsBefore: { ...direct, ...before },
    ...(live.length > 0 && shown.length === 0 ? { hasUnknownTags: true } : {}),
  };
}

function tagsIn(value: Json | undefined): Record<string, string> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, typeof one === 'string' ? one : '']),
  );
}

// Resources of the stack whose tags change although they have no change of their own: policies about tags check them as well. Pure.

export interface Declared {
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Pick<Ledger, 'records'>;
}

/** What policies check: a change, or a resource that is checked like an update without fields. */
export type CheckedItem = Pick<Change, 'address' | 'action' | 'fields' | 'place' | 'risks'> &
  Pick<PolicyChange, 'getsOtherTags'>;

/**
 * The resources whose tags change without a change of their own. One is a workspace whose tags change: they are a resource of their own,
 * but policies about tags mean the workspace. Others get other tags through their workspace, or through the workspace's project.
 */
export function taggedItems(
  planning: PlanResult,
  declared: Declared,
  tagsOf: (address: Address) => Tagged,
): CheckedItem[] {
  const changed = planning.plan.changes.map(({ address }) => address);
  const roots = taggedAlone(changed, declared.kinds).filter((root) => planning.live(root) !== undefined);
  const others = withOtherTags(planning, declared, { known: [...changed, ...roots], tagsOf });
  const update = { action: 'update', fields: [] } as const;
  return [
    ...roots.map((address) => ({ address, ...update })),
    ...others.map((address) => ({ address, ...update, getsOtherTags: true as const })),
  ];
}

/** The parents without a change of their own whose tags change. @param changed the addresses of all changes */
export function taggedAlone(changed: readonly Address[], kinds: Registry): Address[] {
  const known = new Set(changed.map(formatAddress));
  return changed.flatMap((address) => {
    const kind = kinds.get(address.kind);
    const root = rootOf(address, kinds);
    const isTagged = kind?.ownership.by === 'child' && Object.hasOwn(kind.fields, 'tags');
    return isTagged && !known.has(formatAddress(root)) ? [root] : [];
  });
}

interface OtherTagsInput {
  /** resources that are checked in any case */
  readonly known: readonly Address[];
  readonly tagsOf: (address: Address) => Tagged;
}

function withOtherTags(
  planning: PlanResult,
  declared: Declared,
  { known, tagsOf }: OtherTagsInput,
): readonly Address[] {
  const { kinds } = declared;
  const isOfStack = ofStack(planning, declared);
  const members = membersOfChanged(planning, kinds, isOfStack);
  const roots = new Map([...known.map((address) => rootOf(address, kinds)), ...members].map(withText));
  const memberTexts = new Set(members.map(formatAddress));
  const checkedTexts = new Set(known.map(formatAddress));
  const moves = (root: Address) => {
    const { before, after } = projectsOf(planning, root);
    return isInProject(kinds.get(root.kind)) && before !== after;
  };
  return [...roots].flatMap(([text, root]) => {
    const { tags, tagsBefore = {}, hasUnknownInherited } = tagsOf(root);
    const mayDiffer = hasUnknownInherited === true && (memberTexts.has(text) || moves(root));
    if (!mayDiffer && canonicalText(tags) === canonicalText(tagsBefore)) return [];
    return withChildren(planning, root, kinds).flatMap((live) =>
      isOfStack(live) && !checkedTexts.has(formatAddress(live.address)) ? [live.address] : [],
    );
  });
}

function withText(address: Address): readonly [AddressText, Address] {
  return [formatAddress(address), address];
}

/** Workspaces in projects whose tags change, if the workspace or one of its children belongs to the stack. */
function membersOfChanged(
  planning: PlanResult,
  kinds: Registry,
  isOfStack: (live: LiveResource) => boolean,
): Address[] {
  const projects = planning.plan.changes.filter(({ address }) => {
    if (address.kind !== projectKind) return false;
    const { tags, tagsBefore } = ownTagsOf(planning, address, kinds);
    return canonicalText(tags) !== canonicalText(tagsBefore);
  });
  const inProjects = [...kinds.values()].filter(isInProject);
  return [...Map.groupBy(projects, ({ address: { target } }) => target)].flatMap(([target, some]) => {
    const ids = new Set(some.flatMap(({ address }) => planning.live(address)?.id ?? []));
    const mayBeIn = ({ spec: { projectId = null } }: LiveResource) =>
      // A workspace that does not show its project may be in any project.
      projectId === null || ids.has(String(projectId));
    const members = inProjects.flatMap(({ name }) => planning.liveOfKind(name, target).filter(mayBeIn));
    return members.flatMap(({ address }) =>
      withChildren(planning, address, kinds).some(isOfStack) ? [address] : [],
    );
  });
}

/** The resource and those of its children that exist. */
function withChildren(planning: PlanResult, root: Address, kinds: Registry): LiveResource[] {
  const text = formatAddress(root);
  return [...kinds.keys()].flatMap((kind) => {
    const address = { ...root, kind };
    return formatAddress(rootOf(address, kinds)) === text ? (planning.live(address) ?? []) : [];
  });
}

/** @returns whether the stack declares the resource, has recorded it, or has marked it as its own */
function ofStack(planning: PlanResult, { desired, ledger }: Declared): (live: LiveResource) => boolean {
  const declared = new Set(desired.filter(isDeclaration).map(({ address }) => formatAddress(address)));
  return (live) => {
    const text = formatAddress(live.address);
    if (declared.has(text) || ledger.records.has(text)) return true;
    return ownOwnershipTag(live.evidence) !== undefined && !planning.isOwnedByAnother(live);
  };
}
