/** Describes the changes of a plan for the rules of policies, and for the history. Pure. */
import { contentAfter } from '../compare/comparisons.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { ChangeForPolicies, ChangesForPolicies, RelatedResource } from '../model/policy.ts';
import type { DesiredResource, Spec } from '../model/resource.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { PolicyChange } from '../policies/variables.ts';
import {
  type AskedProject,
  type CheckedItem,
  type Declared,
  findTags,
  projectKey,
  type Tagged,
  taggedItems,
} from './checked-tags.ts';

/** What rules check: each change, and each resource whose tags change without a change of its own. */
export function changesToCheck(planning: PlanResult, declared: Declared): PolicyChange[] {
  const tagsOf = findTags(planning, declared.kinds);
  const items = [...planning.plan.changes, ...taggedItems(planning, declared, tagsOf)];
  return describeItems(planning, declared, { items, tagsOf });
}

interface ItemsToDescribe {
  readonly items: readonly CheckedItem[];
  readonly tagsOf: (address: Address) => Tagged;
}

function describeItems(
  planning: PlanResult,
  { kinds, desired }: Declared,
  { items, tagsOf }: ItemsToDescribe,
): PolicyChange[] {
  const declared = new Map<AddressText, DesiredResource>(
    desired.map((resource) => [formatAddress(resource.address), resource]),
  );
  const places = new Map(planning.plan.targets.map(({ name, place }) => [name, place]));
  const relatedTo = findRelated(planning, kinds);
  return items.map((item) => {
    const { address, action, fields, risks = [], getsOtherTags } = item;
    const kind = kinds.get(address.kind);
    const resource = declared.get(formatAddress(address));
    const { place = resource?.place } = item;
    const content = contentsOf(planning, item, kind);
    // A resource outside of the planned part is not changed, even if its manifest differs.
    const manifest = planning.contentOf(address) === undefined ? undefined : resource;
    const messagesOf = (effect: string) =>
      risks.filter((risk) => risk.effect === effect).map(({ message }) => message);
    return {
      ...{ address, action, fields, before: content.before },
      after: content.after && { ...content.after, ...namesIn(manifest, kind) },
      place: places.get(address.target),
      ...tagsOf(address),
      ...(getsOtherTags === undefined ? {} : { getsOtherTags }),
      accessGained: messagesOf('widens'),
      accessLost: messagesOf('narrows'),
      declaredAt: place && `${place.file}:${place.line}`,
      ...relatedTo(address, resource),
    };
  });
}

function contentsOf(
  planning: PlanResult,
  { address, action }: CheckedItem,
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

/** Finds the parent of a child, and other resources that the manifest names. Changes that name the same resource get the same object. */
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
  ): Pick<PolicyChange, 'parent' | 'references'> => {
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

/** The names that the manifest has for referenced objects, in addition to their ids; null for an object that it does not name. */
function namesIn(resource: DesiredResource | undefined, kind: Kind | undefined): Spec {
  const references = kind?.named?.references ?? [];
  return Object.fromEntries(
    references.flatMap(({ name: [name, ...below] }) =>
      name === undefined || below.length > 0 ? [] : [[name, resource?.spec[name] ?? null] as const],
    ),
  );
}

/** The projects whose tags workspaces may inherit, but the plan has not read; for most plans there are none. */
export function projectsToAsk(planning: PlanResult, declared: Declared): AskedProject[] {
  const asked = new Map<string, AskedProject>();
  const ask: NonNullable<PlanResult['inheritedTags']> = (target, project) => {
    asked.set(projectKey(target, project), { target, project });
    return undefined;
  };
  // Finds the tags only to record which projects `findTags` asks for.
  const tagsOf = findTags({ ...planning, inheritedTags: ask }, declared.kinds);
  for (const { address } of [...planning.plan.changes, ...taggedItems(planning, declared, tagsOf)])
    tagsOf(address);
  return [...asked.values()];
}

/** The changes of a plan as the history keeps them. */
export function checkedRecords(planning: PlanResult, declared: Declared): ChangesForPolicies {
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

function recordOf(checked: PolicyChange): ChangeForPolicies {
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
