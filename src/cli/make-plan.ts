/** Reads every target and plans: the same steps for `plan`, for the plan that `apply` acts on, and for its proof afterwards. */
import { sortDiagnostics } from '../model/diagnostic.ts';
import type { Registry } from '../model/kind.ts';
import type { Ledger } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/target.ts';
import { buildPlan, type PlanInput, type Planning } from '../plan/build-plan.ts';
import { findLeaving } from '../plan/leaving.ts';
import { readLive } from '../targets/read-live.ts';
import type { Connected } from './connect.ts';

export interface PlanRequest {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly files: number;
  readonly documents: number;
  readonly manifestsComplete: boolean;
  readonly ledger: Ledger;
  readonly connected: Connected;
}

/** @throws WireError when a target cannot be reached */
export async function makePlan(request: PlanRequest): Promise<Planning> {
  return buildPlan(await readPlanInput(request));
}

/**
 * The plan that apply acts on. It is made with the token that would be refused, so what a plan only notes forbids it
 * (RULES 30). @throws WireError when a target cannot be reached
 */
export async function makePlanToApply(request: PlanRequest): Promise<Planning> {
  const planning = await makePlan(request);
  const { plan, refusals } = planning;
  return { ...planning, plan: { ...plan, problems: sortDiagnostics([...plan.problems, ...refusals]) } };
}

/** All that a plan is made from. @throws WireError when a target cannot be reached */
export async function readPlanInput(request: PlanRequest): Promise<PlanInput> {
  const { stack, kinds, resources, ledger, connected } = request;
  const before = connected.targets.map(({ connection }) => connection.requests());
  const sessions = connected.targets.map((target) => target.openSession());
  const { manifestsComplete } = request;
  const scene = { stack, kinds, desired: resources, ledger, manifestsComplete };
  const sets = await readLive({
    ...scene,
    sessions,
    leaving: ({ target, dialect }, found) =>
      findLeaving({ ...scene, targets: [{ target, dialect, sets: found, requests: 0 }] }),
  });
  return {
    ...scene,
    files: request.files,
    documents: request.documents,
    targets: connected.targets.map(({ target, dialect, connection }, index) => ({
      target,
      dialect,
      sets: sets.get(target.name) ?? new Map(),
      requests: connection.requests() - (before[index] ?? 0),
    })),
  };
}
