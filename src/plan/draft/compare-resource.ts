/** Compares a desired resource with the live one after the kind's `prepare`: for the plan, and again just before the write. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/comparison.ts';
import { sameJson } from '../../model/json/json.ts';
import type { Risk } from '../../model/plan/risk.ts';
import type { DesiredResource, LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { diff } from '../../compare/diff.ts';
import type { PlanContext } from '../context/plan-context.ts';

interface ComparedSides {
  readonly address: Address;
  /** absent for a withdrawn part: then only the fields of `desired` are compared, and nothing else is reset */
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
  /** what it inherits afterwards, and what of it changes: the path of such a field begins with `inherited` */
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
  const compareContext: CompareContext = { ...bothSides(context, sides), now };
  const prepared: PreparedSpecs = kind.prepare?.(compareContext) ?? { desired };
  const difference = diff({
    fields: kind.fields,
    desired: prepared.desired,
    live: live === undefined ? undefined : (prepared.live ?? live.spec),
    recorded: resource === undefined ? undefined : record?.fields,
    absent: kind.absent,
    isHidden: (key) => context.secretsIn(key).length > 0,
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
    ...(prepared.origins === undefined ? {} : { origins: prepared.origins }),
  });
  return {
    prepared: canonicalSpec(kind.fields, prepared.desired),
    fields: difference.fields,
    notes: [...(prepared.notes ?? []), ...difference.notes],
    problems: prepared.problems ?? [],
    inherited: { values: prepared.inherited?.values ?? {}, fields: inheritedFields(prepared, live) },
    risks: prepared.risks ?? [],
    ...(prepared.expired === undefined ? {} : { expired: prepared.expired }),
  };
}

function bothSides(
  context: PlanContext,
  { address, resource, desired, live }: ComparedSides,
): CompareContext {
  const record = context.record(address);
  const inheritable = resource && context.inheritable(address);
  const planned = context.live.get(formatAddress(address));
  return {
    address,
    dialect: context.target(address.target).dialect,
    desired,
    ...(inheritable === undefined ? {} : { inheritable }),
    ...(live === undefined ? {} : { live }),
    ...(planned === undefined ? {} : { planned }),
    ...(record === undefined ? {} : { record }),
    ...(resource === undefined ? {} : { place: resource.place }),
    peer: (other) => peerOf(context, other),
  };
}

/** The values that the resource comes to inherit with this change: the plan shows them, and no call sends them. */
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
export function peerOf(context: PlanContext, address: Address): ReturnType<CompareContext['peer']> {
  const resource = context.desired.get(formatAddress(address));
  const live = context.live.get(formatAddress(address));
  const record = context.record(address);
  return {
    ...(resource === undefined
      ? {}
      : { desired: canonicalSpec(context.kind(address.kind).fields, resource.spec) }),
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
  };
}
