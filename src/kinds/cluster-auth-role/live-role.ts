/** A role as a mount answers it, in the shape of a manifest's spec. Pure. */
import type { Address } from '../../model/address.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { LiveResource, Spec } from '../../model/resource.ts';
import { canonicalSpec } from '../../plan/canonical-spec.ts';
import { answeredFields, wireFieldNames } from '../../targets/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';

/** Today's field by the deprecated member that answers for it where the service has only that (facts 2.6, 2.7). */
const deprecated: Readonly<Record<string, string>> = {
  tokenTtl: 'ttl',
  tokenMaxTtl: 'max_ttl',
  tokenPeriod: 'period',
  tokenPolicies: 'policies',
  tokenNumUses: 'num_uses',
  tokenBoundCidrs: 'bound_cidrs',
};

/** Fields that an answer leaves out when they are unset: their absence tells their value (facts 2.7). */
const silentWhenUnset: Spec = { audience: '', aliasNameSource: '' };

export const liveFieldNames: readonly string[] = wireFieldNames(fields);

/**
 * `data` is the answer's `data`. The spec holds every field that was answered; the fact `content` repeats it in
 * canonical form, for writes rely on all of it: a full body carries what the manifest does not declare as well.
 */
export function liveRole(address: Address, data: JsonObject): LiveResource {
  const spec: Record<string, Json> = { ...silentWhenUnset, ...answeredFields(liveFieldNames, data) };
  for (const [name, member] of Object.entries(deprecated)) {
    const value = data[member];
    if (spec[name] === undefined && value !== undefined) spec[name] = value;
  }
  return { address, spec, witness: {}, facts: { content: canonicalSpec(fields, spec) } };
}
