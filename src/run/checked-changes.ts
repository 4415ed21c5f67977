/** What rules of policies may ask of the changes of a plan, for the plan itself and for the history. Pure. */
import { projectKind } from '../api/workspaces/projects.ts';
import { contentAfter } from '../compare/comparisons.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { CheckedRecord, CheckedRecords, RelatedResource } from '../model/policy.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { CheckedChange } from '../policies/variables.ts';

interface Declared {
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
}

/**
 * What rules are asked about: each change, and each resource whose tags change without a change of its own. Those of a workspace are another
 * resource, and policies with tags are about the workspace.
 */
export function changesToCheck(planning: PlanResult, declared: Declared): CheckedChange[] {
  return checkedChanges(planning, declared, [...planning.plan.changes, ...taggedParts(planning, declared)]);
}

function taggedParts(planning: PlanResult, { kinds }: Pick<Declared, 'kinds'>): CheckedPart[] {
  const roots = taggedAlone(
    planning.plan.changes.map(({ address }) => address),
    kinds,
  );
  return roots
    .filter((root) => planning.live(root) !== undefined)
    .map((address) => ({ address, action: 'update', fields: [] }));
}

/** What has no change of its own, while its tags change. @param changed the addresses of all changes */
export function taggedAlone(changed: readonly Address[], kinds: Registry): Address[] {
  const known = new Set(changed.map(formatAddress));
  return changed.flatMap((address) => {
    const kind = kinds.get(address.kind);
    const root = rootOf(address, kinds);
    const isTagged = kind?.ownership.by === 'child' && Object.hasOwn(kind.fields, 'tags');
    return isTagged && !known.has(formatAddress(root)) ? [root] : [];
  });
}

type CheckedPart = Pick<Change, 'address' | 'action' | 'fields' | 'place' | 'risks'>;

function checkedChanges(
  planning: PlanResult,
  { kinds, desired }: Declared,
  changes: readonly CheckedPart[],
): CheckedChange[] {
  const declared = new Map<AddressText, DesiredResource>(
    desired.map((resource) => [formatAddress(resource.address), resource]),
  );
  const places = new Map(planning.plan.targets.map(({ name, place }) => [name, place]));
  const relatedTo = findRelated(planning, kinds);
  const tagsOf = findTags(planning, kinds);
  return changes.map((change) => {
    const { address, action, fields, place, risks = [] } = change;
    const kind = kinds.get(address.kind);
    const resource = declared.get(formatAddress(address));
    const content = contentsOf(planning, change, kind);
    const says = (effect: string) =>
      risks.filter((risk) => risk.effect === effect).map(({ message }) => message);
    return {
      ...{ address, action, fields, before: content.before },
      after: content.after && { ...content.after, ...namesIn(resource, kind) },
      place: places.get(address.target),
      ...tagsOf(address),
      accessGained: says('widens'),
      accessLost: says('narrows'),
      declaredAt: place && `${place.file}:${place.line}`,
      ...relatedTo(address, resource),
    };
  });
}

function contentsOf(
  planning: PlanResult,
  { address, action }: CheckedPart,
  kind: Kind | undefined,
): { readonly before: Spec | undefined; readonly after: Spec | undefined } {
  const live = planning.live(address);
  const before =
    live === undefined || kind === undefined ? undefined : contentAfter(kind.fields, live.spec, []);
  const isGone = action === 'delete' || action === 'release';
  return {
    before: action === 'create' ? undefined : before,
    after: isGone ? undefined : (planning.contentOf(address) ?? before),
  };
}

/** The parent of a child, and other resources that the manifest names. Each is one object, however many changes name it. */
function findRelated(planning: PlanResult, kinds: Registry) {
  const found = new Map<AddressText, RelatedResource>();
  const related = (other: Address): RelatedResource => {
    const address = formatAddress(other);
    const known = found.get(address);
    if (known !== undefined) return known;
    const [live, fields] = [planning.live(other)?.spec, kinds.get(other.kind)?.fields];
    const spec = planning.contentOf(other) ?? (live && fields && contentAfter(fields, live, []));
    const one = { address, ...(spec === undefined ? {} : { spec }) };
    found.set(address, one);
    return one;
  };
  return (
    address: Address,
    resource: DesiredResource | undefined,
  ): Pick<CheckedChange, 'parent' | 'references'> => {
    const kind = kinds.get(address.kind);
    const parent = kind?.ownership.by === 'child' ? kind.ownership.of(address) : undefined;
    const named = resource === undefined ? [] : (kind?.references?.(resource) ?? []).map(({ to }) => to);
    const isParent = (other: Address) =>
      parent !== undefined && formatAddress(other) === formatAddress(parent);
    return {
      parent: parent && related(parent),
      references: named.filter((other) => !isParent(other)).map(related),
    };
  };
}

/** What the manifest gives by name, beside the ids; null for a thing that it does not name. */
function namesIn(resource: DesiredResource | undefined, kind: Kind | undefined): Spec {
  const references = kind?.named?.references ?? [];
  return Object.fromEntries(
    references.flatMap(({ name: [name, ...below] }) =>
      name === undefined || below.length > 0 ? [] : [[name, resource?.spec[name] ?? null] as const],
    ),
  );
}

/** What a child belongs to, or the resource itself. */
function rootOf(address: Address, kinds: Registry): Address {
  const ownership = kinds.get(address.kind)?.ownership;
  return ownership?.by === 'child' ? ownership.of(address) : address;
}

type Tagged = Pick<CheckedChange, 'tags' | 'tagsBefore' | 'hasUnknownTags' | 'hasUnknownInherited'>;

type InheritedTags = NonNullable<PlanResult['inheritedTags']>;

/** Which projects `findTags` asks for; null and undefined as there. */
interface AskedProject {
  readonly target: string;
  readonly project: string | null | undefined;
}

/** The projects whose tags the plan has not read, and which workspaces may inherit: none for most plans. */
export function projectsToAsk(planning: PlanResult, { kinds }: Pick<Declared, 'kinds'>): AskedProject[] {
  const asked = new Map<string, AskedProject>();
  const ask: InheritedTags = (target, project) => {
    asked.set(JSON.stringify([target, project ?? null, project === undefined]), { target, project });
    return undefined;
  };
  const tagsOf = findTags({ ...planning, inheritedTags: ask }, kinds);
  for (const { address } of [...planning.plan.changes, ...taggedParts(planning, { kinds })]) tagsOf(address);
  return [...asked.values()];
}

/** Tags around a resource, and those that it inherits from the project that it is in before the plan, and after it. */
function findTags(planning: PlanResult, kinds: Registry): (address: Address) => Tagged {
  const projectTags = findProjectTags(planning, kinds);
  return (address) => {
    const own = tagsAround(planning, address, kinds);
    const root = rootOf(address, kinds);
    if (!Object.hasOwn(kinds.get(root.kind)?.fields ?? {}, 'projectId')) return own;
    // A tag of the project shows only once the workspace has none of its own with that key.
    const uncovers = Object.keys(own.tagsBefore ?? {}).some((key) => !Object.hasOwn(own.tags, key));
    const { before, after } = inheritedBy(planning, root, { projectTags, uncovers });
    const isUnknown = [before, after].some((one) => one?.hasUnknownInherited === true);
    return {
      ...own,
      tags: { ...after.tags, ...own.tags },
      tagsBefore: { ...before?.tagsBefore, ...own.tagsBefore },
      ...(isUnknown ? { hasUnknownInherited: true } : {}),
    };
  };
}

/** @param uncovers whether the workspace loses tags of its own, so that those that it shows to inherit may not be all */
function inheritedBy(
  planning: PlanResult,
  root: Address,
  { projectTags, uncovers }: { readonly projectTags: ProjectTags; readonly uncovers: boolean },
): { readonly before: Tagged | undefined; readonly after: Tagged } {
  const live = planning.live(root);
  const home = live && (live.spec['projectId'] ?? null);
  const next = (planning.contentOf(root) ?? live?.spec)?.['projectId'] ?? home;
  const shown = live?.facts['inheritedTags'];
  const known = isJsonObject(shown) ? tagsIn(shown) : undefined;
  const ofHome = () =>
    known === undefined ? projectTags(root.target, home) : { tagsBefore: known, tags: known };
  return {
    before: live && ofHome(),
    after: projectTags(root.target, next, next === home && !uncovers ? known : undefined),
  };
}

type ProjectTags = (
  target: string,
  named: Json | undefined,
  shown?: Readonly<Record<string, string>>,
) => Tagged;

/**
 * The tags of a project that the plan knows or policies asked for. In its result, `shown` are those that a workspace has from it now.
 */
function findProjectTags(planning: PlanResult, kinds: Registry): ProjectTags {
  const changedProjects = planning.plan.changes.filter(({ address }) => address.kind === projectKind);
  const read = new Map<string, readonly LiveResource[]>();
  const projectsIn = (target: string) => {
    const known = read.get(target) ?? planning.liveOfKind(projectKind, target);
    read.set(target, known);
    return known;
  };
  return (target, named, shown) => {
    const found = projectsIn(target).find(({ id, facts }) =>
      named === undefined ? facts['isDefault'] === true : id === named,
    );
    const created = changedProjects.find(({ address }) => formatAddress(address) === named);
    const project = (found ?? created)?.address;
    const around = project && tagsAround(planning, project, kinds);
    const isPlanned = project !== undefined && planning.contentOf(project) !== undefined;
    if (shown !== undefined && !isPlanned) return { tags: shown, tagsBefore: shown };
    if (around !== undefined && around.hasUnknownTags !== true) return around;
    const isNamed = named === null || named === undefined || typeof named === 'string';
    const asked = isNamed ? planning.inheritedTags?.(target, named) : undefined;
    if (asked === undefined) return { tags: around?.tags ?? {}, hasUnknownInherited: true };
    return { tags: { ...asked, ...around?.tags }, tagsBefore: { ...asked, ...around?.tagsBefore } };
  };
}

/**
 * Tags of the resource, or of the one that it belongs to: fields of the kind or of one of its children, and those that only the service
 * has (`facts.direct`), because a manifest need not name them.
 */
function tagsAround(planning: PlanResult, address: Address, kinds: Registry): Tagged {
  const root = rootOf(address, kinds);
  const isAround = ({ name }: Kind) =>
    formatAddress(rootOf({ ...root, kind: name }, kinds)) === formatAddress(root);
  const around = [...kinds.values()].filter(isAround);
  const tagged = around.filter(({ fields }) => Object.hasOwn(fields, 'tags'));
  if (tagged.length === 0) return { tags: {} };
  const at = ({ name }: Kind): Address => ({ ...root, kind: name });
  const live = around.flatMap((kind) => planning.live(at(kind)) ?? []);
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

/** The changes of a plan as the history keeps them. */
export function checkedRecords(planning: PlanResult, declared: Declared): CheckedRecords {
  const { changes } = planning.plan;
  const all = changesToCheck(planning, declared);
  const records = all.map((checked) => [formatAddress(checked.address), recordOf(checked)] as const);
  const related = all.flatMap(({ parent, references }) =>
    [parent ?? [], references]
      .flat()
      .flatMap(({ address, spec }) => (spec === undefined ? [] : [[address, spec] as const])),
  );
  return {
    changes: new Map(records.slice(0, changes.length)),
    tagged: new Map(records.slice(changes.length)),
    related: Object.fromEntries(related),
  };
}

function recordOf(checked: CheckedChange): CheckedRecord {
  const { address: _, action: __, fields: ___, place: ____, ...one } = checked;
  const { before, after, declaredAt, parent, references, tagsBefore = {}, ...rest } = one;
  return {
    ...rest,
    tagsBefore,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(declaredAt === undefined ? {} : { declaredAt }),
    ...(parent === undefined ? {} : { parent: parent.address }),
    references: references.map(({ address }) => address),
  };
}
