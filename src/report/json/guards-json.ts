/** Guards and risks as JSON. */
import type { Guard } from '../../model/plan/guard.ts';
import { jsonPointer } from '../../model/json/json-patch.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { addressMembers } from './address-members.ts';
import type { PlanJson } from './plan-schema.ts';

export function guardJson({ concerns, ...guard }: Guard): PlanJson['guards'][number] {
  const { id, effect, kind, target, counted, of, limit, message } = guard;
  return {
    id,
    effect,
    ...(kind === undefined ? {} : { kind }),
    ...(target === undefined ? {} : { target }),
    counted,
    ...(of === undefined ? {} : { of }),
    ...(limit === undefined ? {} : { limit }),
    message,
    concerns: concerns.map(({ address, messages }) => ({ ...addressMembers(address), says: [...messages] })),
  };
}

export function riskJson({
  path,
  effect,
  message,
  guard,
}: Risk): NonNullable<PlanJson['changes'][number]['risks']>[number] {
  return { path: jsonPointer(path), effect, says: message, ...(guard === undefined ? {} : { guard }) };
}
