/** Asks the services what the tokens of a run may do, so that a plan foresees what an apply would be refused (rule 30). */
import type { PlanResult } from '../../plan/build-plan.ts';
import {
  type AskedRights,
  pathsWithRights,
  withForeseenRefusals,
} from '../../plan/calls/foresee-refusals.ts';
import type { Connected } from './connect.ts';

/** One request to each target that has changes and tells rights. */
export async function foreseeRefusals(planning: PlanResult, { targets }: Connected): Promise<PlanResult> {
  const paths = pathsWithRights(planning);
  const asked = await Promise.all(
    targets.map(async ({ target, connection }): Promise<[string, AskedRights] | undefined> => {
      const wanted = paths.get(target.name);
      if (wanted === undefined || connection.askRights === undefined) return undefined;
      const before = connection.requests();
      const rights = await connection.askRights(wanted);
      return [target.name, { rights, paths: wanted.length, requests: connection.requests() - before }];
    }),
  );
  return withForeseenRefusals(planning, new Map(asked.filter((one) => one !== undefined)));
}
