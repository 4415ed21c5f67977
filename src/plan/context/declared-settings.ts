/**
 * The settings of a resource and its parts as one map by kind and field. Renames are recognized by them where a kind has
 * nothing better (rule 26). Pure.
 */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import { type Json, sameJson } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { DesiredResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import type { PlanContext } from './plan-context.ts';

/** Canonical values by `Kind.field`. */
export type Settings = Readonly<Record<string, Json>>;

/** The settings of a declared resource; undefined when all of them come from the stack's defaults. */
export function declaredSettings(context: PlanContext, address: Address): Settings | undefined {
  const declared = withParts(context, address).flatMap(({ kind, at }) => {
    const resource = context.desired.get(formatAddress(at));
    return resource === undefined ? [] : [{ kind, resource }];
  });
  return declared.some(setsMoreThanDefaults)
    ? mergeSettings(
        declared.map(({ kind, resource }) => ({ kind, spec: canonicalSpec(kind.fields, resource.spec) })),
      )
    : undefined;
}

/** The settings that were last applied, from the ledger; undefined without a record. */
export function recordedSettings(context: PlanContext, address: Address): Settings | undefined {
  const known = context.recordedAt(address);
  if (known === undefined || !context.ledger.records.has(known)) return undefined;
  return mergeSettings(
    withParts(context, parseAddress(known)).flatMap(({ kind, at }) => {
      const record = context.ledger.records.get(formatAddress(at));
      return record === undefined ? [] : [{ kind, spec: record.fields }];
    }),
  );
}

/** Whether the live resource has all of these settings. */
export function isLiveAs(context: PlanContext, address: Address, settings: Settings): boolean {
  const found = mergeSettings(
    withParts(context, address).flatMap(({ kind, at }) => {
      const live = context.live.get(formatAddress(at));
      return live === undefined ? [] : [{ kind, spec: canonicalSpec(kind.fields, live.spec) }];
    }),
  );
  return Object.entries(settings).every(([name, value]) => sameJson(found[name], value));
}

interface DeclaredPart {
  readonly kind: Kind;
  readonly resource: DesiredResource;
}

function setsMoreThanDefaults({ kind, resource: { spec, fromDefaults } }: DeclaredPart): boolean {
  return Object.keys(spec).some((name) => !fromDefaults.includes(name) && kind.fields[name]?.local !== true);
}

function mergeSettings(all: readonly { readonly kind: Kind; readonly spec: Spec }[]): Settings {
  return Object.fromEntries(
    all.flatMap(({ kind, spec }) =>
      Object.entries(spec)
        .filter(([name]) => kind.fields[name]?.local !== true)
        .map(([name, value]) => [`${kind.name}.${name}`, value] as const),
    ),
  );
}

/** The address itself and the addresses of its possible parts, each with its kind. */
function withParts(context: PlanContext, address: Address): { readonly kind: Kind; readonly at: Address }[] {
  const text = formatAddress(address);
  return context.kinds().flatMap((kind) => {
    const at = { ...address, kind: kind.name };
    const whole = kind.ownership.by === 'part' ? kind.ownership.of(at) : at;
    return formatAddress(whole) === text ? [{ kind, at }] : [];
  });
}
