/** Makes the plan that people read: with predicted refusals, who last modified drifted resources, missing secrets, and its origin. */
import type { ReaderConnection } from '../api/open-target.ts';
import type { Plan } from '../model/plan.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import { findDrifted } from '../plan/find-drift.ts';
import { planWithAuthors } from '../plan/attribute-drift.ts';
import type { CliHost } from './host.ts';
import { askTrails } from './read-trails.ts';
import { makePlanToShow } from './make-plan.ts';
import { noteMissingSecrets } from './needed-secrets.ts';
import { withOrigin } from './origin.ts';
import type { PreparedRun } from './prepare-run.ts';
import { secretContext } from './read-secret.ts';

interface PlanToShow {
  readonly plan: Plan;
  /** the plan as it was made, with what was read for it */
  readonly planning: PlanResult;
}

export async function planToShow(
  prepared: PreparedRun<ReaderConnection>,
  host: CliHost,
): Promise<PlanToShow> {
  const { plan, planning } = await makePlanWithAuthors(prepared, host);
  const noted = await noteMissingSecrets(plan, secretContext(prepared.request.stack, host));
  return { plan: withOrigin(noted, prepared), planning };
}

/** The plan, with who last modified drifted resources. Only changes show that, so drift is not searched for without changes. */
async function makePlanWithAuthors(
  prepared: PreparedRun<ReaderConnection>,
  host: CliHost,
): Promise<PlanToShow> {
  const { request } = prepared;
  const { planning, input } = await makePlanToShow(request);
  const drifted = planning.plan.changes.length === 0 ? [] : findDrifted(input);
  const modifications = await askTrails(drifted, {
    ...prepared,
    stack: request.stack,
    host,
    coverage: planning.plan.coverage,
  });
  return { plan: planWithAuthors(planning.plan, drifted, modifications), planning };
}
