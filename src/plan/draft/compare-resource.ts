/** One resource against a live one, as its kind wants them to be met. Made for the plan, and again just before the write. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
import type { DesiredResource, LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { diff } from '../../compare/diff.ts';
import type { PlanContext } from '../context/plan-context.ts';

export interface ComparedSides {
  readonly address: Address;
  /** absent for what is withdrawn: then `desired` says all that there is to say, and nothing is reset besides */
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
}

export function compareResource(
  context: PlanContext,
  { address, resource, desired, live }: ComparedSides,
): ResourceComparison {
  const kind = context.kind(address.kind);
  const record = context.record(address);
  const meeting: CompareContext = {
    address,
    dialect: context.target(address.target).dialect,
    desired,
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
    ...(resource === undefined ? {} : { place: resource.place }),
    peer: (other) => peerOf(context, other),
  };
  const prepared: PreparedSpecs = kind.prepare?.(meeting) ?? { desired };
  const difference = diff({
    fields: kind.fields,
    desired: prepared.desired,
    live: live === undefined ? undefined : (prepared.live ?? live.spec),
    recorded: resource === undefined ? undefined : record?.fields,
    absent: kind.absent,
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
  });
  return {
    prepared: canonicalSpec(kind.fields, prepared.desired),
    fields: difference.fields,
    notes: [...(prepared.notes ?? []), ...difference.notes],
    problems: prepared.problems ?? [],
  };
}

/** What a kind may know of a neighbour when it says what is to be compared. */
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
