/** Finds what access the resources of a stack give now, whatever their manifests say. */
import type { GivenAccess } from '../model/access.ts';
import { isSelectedIn } from './find-pending.ts';
import type { PlanContext } from './plan-context.ts';

/** @returns undefined where none gives any */
export function findAccess(context: PlanContext): GivenAccess[] | undefined {
  const isSelected = isSelectedIn(context);
  const given = [...context.live].flatMap(([text, live]) => {
    const { address } = live;
    const isOurs = context.desired.has(text) || context.record(address) !== undefined;
    const access = isOurs && isSelected({ address }) ? context.kind(address.kind).access?.(live) : undefined;
    return access === undefined ? [] : [{ address, ...access }];
  });
  return given.length === 0 ? undefined : given;
}
