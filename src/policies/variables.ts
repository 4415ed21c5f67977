/** The variables of rules: their members, and how they are made from a change of a plan. Pure. */
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import type { Action, Change } from '../model/change.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { RelatedResource } from '../model/policy.ts';
import type { Spec } from '../model/resource.ts';
import type { Shape } from './check-expression.ts';

/** All that a rule may use of a change. It is the same, regardless of where the change comes from. */
export interface PolicyChange extends Pick<Change, 'address' | 'action' | 'fields'> {
  /** the content before and after; undefined if there is none */
  readonly before: Spec | undefined;
  readonly after: Spec | undefined;
  /** of the resource, or of its parent, after the change; before the change if the resource is gone then */
  readonly tags: Readonly<Record<string, string>>;
  /** the same before the change, if it differs */
  readonly tagsBefore?: Readonly<Record<string, string>>;
  /** the resource may have other tags, which the service did not show */
  readonly hasUnknownTags?: true;
  /** only the resource's own tags are known, not the inherited ones */
  readonly hasUnknownInherited?: true;
  /** the plan does not change the resource itself, but the tags that it inherits: only policies about tags check it */
  readonly getsOtherTags?: true;
  /** the organization of its target, or the mount with its namespace: `platform/auth/cluster` */
  readonly place: string | undefined;
  readonly accessGained: readonly string[];
  readonly accessLost: readonly string[];
  /** file and line of the manifest: `teams/a/net.yaml:12` */
  readonly declaredAt: string | undefined;
  readonly parent: RelatedResource | undefined;
  readonly references: readonly RelatedResource[];
}

export interface CheckedPlan {
  readonly stack: string;
  readonly commit: string | undefined;
  /** RFC 3339 */
  readonly time: string;
  readonly counts: Readonly<Record<Exclude<Action, 'none'> | 'changes' | 'unchanged', number>>;
}

export function changeVariable(checked: PolicyChange): JsonObject {
  const { address, action, fields, before, after, place, accessGained, accessLost, declaredAt } = checked;
  return {
    ...nameMembers(address),
    place: place ?? null,
    action,
    before: before === undefined ? null : { ...before },
    after: after === undefined ? null : { ...after },
    fields: fields.map(({ path, before: was = null, after: is = null }) => ({
      path: path.join('.'),
      before: was,
      after: is,
    })),
    accessGained: [...accessGained],
    accessLost: [...accessLost],
    declaredAt: declaredAt ?? null,
  };
}

/** The desired resource; null if it is deleted or released. */
export function resourceVariable({
  address,
  after,
  tags,
  parent,
  references,
}: PolicyChange): JsonObject | null {
  if (after === undefined) return null;
  return {
    ...nameMembers(address),
    spec: { ...after },
    tags: { ...tags },
    parent: parent === undefined ? null : relatedVariable(parent),
    references: references.map(relatedVariable),
  };
}

/** Each resource is converted once: thousands of changes may refer to it, and the worker gets it once. */
const variables = new WeakMap<RelatedResource, JsonObject>();

function relatedVariable(related: RelatedResource): JsonObject {
  const known = variables.get(related);
  if (known !== undefined) return known;
  const { address, spec } = related;
  const made = { ...nameMembers(parseAddress(address)), spec: spec === undefined ? null : { ...spec } };
  variables.set(related, made);
  return made;
}

export function planVariable({ stack, commit, time, counts }: CheckedPlan): JsonObject {
  return { stack, commit: commit ?? null, time, counts: { ...counts } };
}

function nameMembers(address: Address) {
  const { kind, target, name } = address;
  return { address: formatAddress(address), kind, target, name };
}

/** The count of each action in a plan. */
export function countsOf(
  changes: readonly { readonly action: Action }[],
  unchanged: number,
): CheckedPlan['counts'] {
  const count = (wanted: Action) => changes.filter(({ action }) => action === wanted).length;
  return {
    create: count('create'),
    update: count('update'),
    delete: count('delete'),
    release: count('release'),
    adopt: count('adopt'),
    changes: changes.length,
    unchanged,
  };
}

// For tests of policies: a create without fields, which the members of a sample override.

interface Sample {
  readonly change?: JsonObject | undefined;
  readonly resource?: JsonObject | undefined;
  readonly plan?: JsonObject | undefined;
}

export function sampleVariables({ change = {}, resource, plan = {} }: Sample, at: string) {
  const { kind = 'Workspace', target = 'acme', name = 'sample', action = 'create' } = change;
  const isGone = action === 'delete' || action === 'release';
  const spec = resource?.['spec'] ?? change['after'] ?? {};
  const names = { address: `${text(kind)}/${text(target)}/${text(name)}`, kind, target, name };
  const made: JsonObject = {
    ...names,
    place: 'acme',
    action,
    before: action === 'create' ? null : {},
    after: isGone ? null : spec,
    fields: [],
    accessGained: [],
    accessLost: [],
    declaredAt: null,
    ...change,
  };
  const madeResource: JsonObject | null =
    isGone && resource === undefined
      ? null
      : { ...names, spec, tags: {}, parent: null, references: [], ...resource };
  const counts = { ...countsOf([{ action: text(action) as Action }], 0) };
  const given = {
    stack: 'sample',
    commit: null,
    time: at,
    ...plan,
    counts: { ...counts, ...objectIn(plan['counts']) },
  };
  return { change: made, resource: madeResource, plan: given };
}

function text(value: Json): string {
  return typeof value === 'string' ? value : '';
}

function objectIn(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

// The members of the variables, for the check of expressions.

/** @param spec shape of the contents of the resources that a policy is about */
export function variableShapes(spec: Shape | undefined): Readonly<Record<string, Shape>> {
  const names = { address: undefined, kind: undefined, target: undefined, name: undefined };
  const field: Shape = { members: { path: undefined, before: undefined, after: undefined } };
  return {
    change: {
      members: {
        ...names,
        place: undefined,
        action: undefined,
        before: spec,
        after: spec,
        fields: { element: field },
        accessGained: undefined,
        accessLost: undefined,
        declaredAt: undefined,
      },
    },
    resource: {
      members: {
        ...{ ...names, spec, tags: undefined },
        parent: { members: { ...names, spec: undefined } },
        references: { element: { members: { ...names, spec: undefined } } },
      },
    },
    plan: {
      members: {
        stack: undefined,
        commit: undefined,
        time: undefined,
        counts: {
          members: Object.fromEntries(Object.keys(countsOf([], 0)).map((name) => [name, undefined])),
        },
      },
    },
  };
}

/** Names of fields, some of which have members. */
export interface NestedFields {
  readonly [name: string]: { readonly members?: NestedFields };
}

/** The fields of several kinds together. */
export function shapeOfFields(tables: readonly NestedFields[]): Shape {
  const members: Record<string, Shape | undefined> = {};
  for (const table of tables)
    for (const [name, { members: below }] of Object.entries(table)) {
      const shape = below === undefined ? undefined : shapeOfFields([below]);
      // If two kinds have a field of this name, it is not known which one is meant.
      members[name] = Object.hasOwn(members, name) ? undefined : shape;
    }
  return { members };
}

// JSON as values of CEL: whole numbers are integers there, and all others doubles.

type CelJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly CelJson[]
  | { readonly [name: string]: CelJson };

/** The objects that were converted: one that several changes have in common is converted once. */
const converted = new WeakMap<object, CelJson>();

/** A whole number that JSON cannot hold exactly stays a double. */
export function toCel(value: Json): CelJson {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(toCel);
  if (!isJsonObject(value)) return value as CelJson;
  const known = converted.get(value);
  if (known !== undefined) return known;
  const made = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toCel(member)]));
  converted.set(value, made);
  return made;
}
