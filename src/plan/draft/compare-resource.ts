/** Compares a desired resource with the live one after the kind's `prepare`: for the plan, and again just before the write. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
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
}

export function compareResource(
  context: PlanContext,
  { address, resource, desired, live }: ComparedSides,
): ResourceComparison {
  const kind = context.kind(address.kind);
  const record = context.record(address);
  const compareContext: CompareContext = {
    address,
    dialect: context.target(address.target).dialect,
    desired,
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
    ...(resource === undefined ? {} : { place: resource.place }),
    peer: (other) => peerOf(context, other),
  };
  const prepared: PreparedSpecs = kind.prepare?.(compareContext) ?? { desired };
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
