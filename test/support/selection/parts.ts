/** A stack for tests of parts: a config, a role and two workspaces with tags. */
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Bench, type BenchOptions, type Checkout, openBench, type StackOptions } from '../cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../cli/documents.ts';

export const net = (spec: object = {}) => workspace('net', { tags: { env: 'prod' }, ...spec });
export const app = (spec: object = {}) =>
  workspace('app', { tags: { env: 'dev' }, autoApply: true, ...spec });

/** The stack after its first apply. */
export async function applied(
  options?: StackOptions,
  of?: BenchOptions,
): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench(of);
  const stack = await bench.checkout(options);
  await stack.setUp(clusterAuthConfig(), role('web'), net(), app());
  return { bench, stack };
}

/** The arguments with `--select` for each selector. */
export function selecting(...selectors: readonly string[]): string[] {
  return selectors.flatMap((selector) => ['--select', selector]);
}

/** The plan of a part. */
export async function partOf(stack: Checkout, ...selectors: readonly string[]): Promise<PlanJson> {
  return JSON.parse((await stack.run(['plan', '--format', 'json', ...selecting(...selectors)], 0)).out);
}

export function actionsOf({ changes }: Pick<PlanJson, 'changes'>): string[] {
  return changes.map(({ action, address }) => `${action} ${address}`);
}
