/**
 * What a stack asks of a resource and of its parts, as one value by kind and field: what two resources are alike by that
 * bear no better sign (rule 26). Pure.
 */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import { type Json, sameJson } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { DesiredResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import type { PlanContext } from './plan-context.ts';

/** By `Kind.field`, the canonical value. */
export type Settings = Readonly<Record<string, Json>>;

/** Of a declared resource; undefined when it asks for nothing but what the stack's defaults ask of all. */
export function declaredSettings(context: PlanContext, address: Address): Settings | undefined {
  const declared = withParts(context, address).flatMap(({ kind, at }) => {
    const resource = context.desired.get(formatAddress(at));
    return resource === undefined ? [] : [{ kind, resource }];
  });
  return declared.some(hasOwnWord)
    ? joined(
        declared.map(({ kind, resource }) => ({ kind, spec: canonicalSpec(kind.fields, resource.spec) })),
      )
    : undefined;
}

/** Of what was applied, as the ledger knows it; undefined when it does not. */
export function recordedSettings(context: PlanContext, address: Address): Settings | undefined {
  const known = context.recordedAt(address);
  if (known === undefined || !context.ledger.records.has(known)) return undefined;
  return joined(
    withParts(context, parseAddress(known)).flatMap(({ kind, at }) => {
      const record = context.ledger.records.get(formatAddress(at));
      return record === undefined ? [] : [{ kind, spec: record.fields }];
    }),
  );
}

/** Whether what is live is what these settings ask for, wherever they say anything. */
export function isLiveAs(context: PlanContext, address: Address, settings: Settings): boolean {
  const found = joined(
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

function hasOwnWord({ kind, resource: { spec, fromDefaults } }: DeclaredPart): boolean {
  return Object.keys(spec).some((name) => !fromDefaults.includes(name) && kind.fields[name]?.local !== true);
}

function joined(all: readonly { readonly kind: Kind; readonly spec: Spec }[]): Settings {
  return Object.fromEntries(
    all.flatMap(({ kind, spec }) =>
      Object.entries(spec)
        .filter(([name]) => kind.fields[name]?.local !== true)
        .map(([name, value]) => [`${kind.name}.${name}`, value] as const),
    ),
  );
}

/** The resource itself, then where its parts stand. */
function withParts(context: PlanContext, address: Address): { readonly kind: Kind; readonly at: Address }[] {
  const text = formatAddress(address);
  return context.kinds().flatMap((kind) => {
    const at = { ...address, kind: kind.name };
    const whole = kind.ownership.by === 'part' ? kind.ownership.of(at) : at;
    return formatAddress(whole) === text ? [{ kind, at }] : [];
  });
}
