/**
 * Compares a desired resource with the live one after the kind's `prepare`: for the plan, and again just before the write. Also
 * selects the values of fields that no manifest sets, which the ledger keeps.
 */
import { createHash } from 'node:crypto';
import { canonicalDefault, canonicalSpec, canonicalValue, contentAfter } from '../compare/comparisons.ts';
import { diff } from '../compare/diff.ts';
import { type Address, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FieldChange, FieldTable } from '../model/field.ts';
import type { Risk } from '../model/guard.ts';
import { isJsonObject, type Json, type JsonObject, sameJson, valueAt, withValueAt } from '../model/json.ts';
import type { CompareContext, PreparedSpecs } from '../model/kind-specs.ts';
import type { Kind } from '../model/kind.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import { maskUrls, maskPrivateKeys } from '../redaction/mask-text.ts';
import { joined } from '../model/lists.ts';
import type { PlanContext } from './plan-context.ts';

interface ComparedSides {
  readonly address: Address;
  /** absent for a withdrawn child: then only the fields of `desired` are compared, and nothing else is reset */
  readonly resource?: DesiredResource | undefined;
  /** canonical */
  readonly desired: Spec;
  readonly live: LiveResource | undefined;
}

export interface ResourceComparison {
  /** `desired` after the kind's `prepare`, canonical */
  readonly prepared: Spec;
  readonly fields: readonly FieldChange[];
  readonly notes: readonly string[];
  readonly problems: readonly Diagnostic[];
  /** what it inherits afterwards, and which of these values change: the path of such a field begins with `inherited` */
  readonly inherited: { readonly values: Spec; readonly fields: readonly FieldChange[] };
  readonly risks: readonly Risk[];
  readonly expired?: Diagnostic;
}

export function compareResource(
  context: PlanContext,
  sides: ComparedSides,
  now = context.now,
): ResourceComparison {
  const { address, resource, desired, live } = sides;
  const kind = context.kind(address.kind);
  const record = context.record(address);
  const prepared: PreparedSpecs = kind.prepare?.(compareContextOf(context, sides, { record, now })) ?? {
    desired,
  };
  const difference = diff({
    fields: kind.fields,
    desired: prepared.desired,
    live: live === undefined ? undefined : (prepared.live ?? live.spec),
    recorded: resource === undefined ? undefined : appliedFields(context, { address, live, record }),
    absent: kind.absent,
    isHidden: (key) => context.secretsIn(key).length > 0,
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
    ...(prepared.origins === undefined ? {} : { origins: prepared.origins }),
  });
  const canonical = prepared.desired === desired ? desired : canonicalSpec(kind.fields, prepared.desired);
  return {
    // Most resources do not differ; to save memory, they share empty and equal values.
    prepared: sameJson(canonical, desired) ? desired : canonical,
    fields: difference.fields,
    notes: joined(prepared.notes, difference.notes),
    problems: joined(prepared.problems?.map((problem) => placed(problem, resource))),
    inherited:
      prepared.inherited === undefined
        ? nothingInherited
        : { values: prepared.inherited.values, fields: inheritedFields(prepared, live) },
    risks: joined(prepared.risks),
    ...(prepared.expired === undefined ? {} : { expired: placed(prepared.expired, resource) }),
  };
}

/**
 * The fields that were last applied, with those that an interrupted apply wrote: the ledger lacks its last writes. A value that it had begun
 * to write counts if it is live.
 */
function appliedFields(
  context: PlanContext,
  {
    address,
    live,
    record,
  }: Pick<ComparedSides, 'address' | 'live'> & { readonly record: LedgerRecord | undefined },
): Spec | undefined {
  const unrecorded = context
    .begunFields(address)
    .filter(
      (begun) =>
        valueAt(record?.fields, begun.path) === undefined && isLive(context, address, { begun, live }),
    );
  return unrecorded.reduce<Spec | undefined>(
    (fields, { path, after }) => withValueAt(fields ?? {}, path, after),
    record?.fields,
  );
}

/** Whether a value that an interrupted apply had begun to write is live. */
export function isLive(
  context: Pick<PlanContext, 'kind'>,
  { kind }: Address,
  { begun, live }: { readonly begun: FieldChange; readonly live: LiveResource | undefined },
): boolean {
  const [name = '', ...rest] = begun.path;
  const field = context.kind(kind).fields[name];
  const value = live?.spec[name];
  if (field === undefined || value === undefined || begun.after === undefined) return false;
  const canonical = canonicalValue(field, value);
  // A value with members was written if the declared ones are live: the service fills in the others.
  if (
    field.members !== undefined &&
    rest.length === 0 &&
    isJsonObject(canonical) &&
    isJsonObject(begun.after)
  )
    return hasMembers(field.members, canonical, begun.after);
  return sameJson(valueAt(canonical, rest), begun.after);
}

function hasMembers(table: FieldTable, live: JsonObject, wanted: JsonObject): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    const member = table[name];
    const found = live[name] ?? null;
    return sameJson(member === undefined ? found : canonicalValue(member, found), value);
  });
}

const nothingInherited: ResourceComparison['inherited'] = { values: {}, fields: [] };

/** A problem of a declared resource without its own place gets the place of the resource's name. */
function placed(problem: Diagnostic, resource: DesiredResource | undefined): Diagnostic {
  return resource === undefined ? problem : { place: resource.place, ...problem };
}

function compareContextOf(
  context: PlanContext,
  { address, resource, desired, live }: ComparedSides,
  { record, now }: { readonly record: LedgerRecord | undefined; readonly now: number | undefined },
): CompareContext {
  const inheritable = resource && context.inheritable(address);
  const planned = context.live.get(formatAddress(address));
  return {
    address,
    dialect: context.target(address.target).dialect,
    desired,
    now,
    ...(inheritable === undefined ? {} : { inheritable }),
    ...(live === undefined ? {} : { live }),
    ...(planned === undefined ? {} : { planned }),
    ...(record === undefined ? {} : { record }),
    peer: (other, id) => peerOf(context, other, id),
  };
}

/** The values that the resource will newly inherit: the plan shows them, and no call sends them. */
function inheritedFields({ inherited }: PreparedSpecs, live: LiveResource | undefined): FieldChange[] {
  if (inherited === undefined) return [];
  const { from, values } = inherited;
  return Object.entries(values).flatMap(([name, after]) => {
    const before = live?.inherited?.[name] ?? null;
    if (sameJson(before, after)) return [];
    const was = live === undefined ? {} : { before };
    return [{ path: ['inherited', name], ...was, after, shape: 'scalar' as const, origin: from }];
  });
}

/** What a kind's `prepare` can see of another resource. */
export function peerOf(
  context: PlanContext,
  named: Address,
  id?: string,
): ReturnType<CompareContext['peer']> {
  const address = (id === undefined ? undefined : context.liveWithId(named, id))?.address ?? named;
  const resource = context.desired.get(formatAddress(address));
  const live = context.live.get(formatAddress(address));
  const record = context.record(address);
  return {
    ...(resource === undefined
      ? {}
      : { desired: canonicalSpec(context.kind(address.kind).fields, resource.spec) }),
    ...(resource?.metadata.protect === true ? { protects: true } : {}),
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
  };
}

// The live values of fields that no manifest declares. The ledger keeps them, so that a later change of one can be reported.
// Nothing is ever written because of them.

/**
 * The undeclared live values. Two kinds of values are left out: defaults, so that the ledger stays small, and computed or temporary values,
 * which an export leaves out, too.
 * @param declared canonical; its fields are left out, and of an object those members that it declares
 * @param changes that are made to the live resource before the next comparison
 */
export function seenValues(
  { fields, toManifest: describe }: Pick<Kind, 'fields' | 'toManifest'>,
  live: LiveResource,
  { declared, changes }: { readonly declared: Spec; readonly changes: readonly FieldChange[] },
): Spec {
  const described = describe?.(live, {}).spec ?? live.spec;
  const changed = new Set(changes.map(({ path: [name] }) => name));
  const after = Object.entries(contentAfter(fields, described, changes)).filter(
    ([name]) => described[name] !== undefined || changed.has(name),
  );
  return undeclaredIn(fields, Object.fromEntries(after), declared);
}

/**
 * The complete content of a resource: its fields that are not defaults, and what its kind adds. The ledger keeps it for targets without
 * ownership tags, where nothing else can show that a resource was changed since this stack last wrote it.
 */
export function writtenContent(
  kind: Pick<Kind, 'fields' | 'toManifest' | 'contentBesides'>,
  live: LiveResource,
): Spec {
  return { ...seenValues(kind, live, { declared: {}, changes: [] }), ...kind.contentBesides?.(live) };
}

/** The values of a canonical spec that another one does not have, and that are not defaults. */
export function undeclaredIn(table: FieldTable, spec: Spec, declared: Spec): Spec {
  const found = Object.entries(table).flatMap(([name, field]): [string, Json][] => {
    const [value, known] = [spec[name], declared[name]];
    if (value === undefined || field.local || field.writeOnly || field.createOnly) return [];
    if (known === undefined)
      return sameJson(value, canonicalDefault(field))
        ? []
        : [[name, withHashedSecrets(canonicalValue(field, value))]];
    if (field.members === undefined || !isJsonObject(value) || !isJsonObject(known)) return [];
    const members = undeclaredIn(field.members, value, known);
    return Object.keys(members).length === 0 ? [] : [[name, members]];
  });
  return Object.fromEntries(found);
}

/** The value with a hash for each text with a secret, such as a password in a URL, or a private key: a hash shows a change as well. */
function withHashedSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withHashedSecrets);
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [masked(name), withHashedSecrets(member)]),
    );
  return typeof value === 'string' ? masked(value) : value;
}

function masked(text: string): string {
  const shown = maskPrivateKeys(maskUrls(text));
  if (shown === text) return text;
  return `${shown} (sha256 ${createHash('sha256').update(text).digest('hex').slice(0, 16)})`;
}
