/** A stack with two workspaces in two clones, for tests of approvals. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Bench, type Checkout, openBench } from './bench.ts';
import { workspace } from './documents.ts';

export const planFileOf = (stack: Checkout) => join(stack.directory, 'plan.json');

/** Plans into a file. @returns its content */
export async function planInto(stack: Checkout, code = 0): Promise<PlanJson> {
  await stack.run(['plan', '--out', 'plan.json'], code);
  return JSON.parse(await readFile(planFileOf(stack), 'utf8'));
}

export const first = workspace('first', { autoApply: true, description: 'one' });
export const second = workspace('second', { autoApply: true });

/** One stack in two clones: one to plan, the other to apply. */
export async function twoClones(): Promise<{ bench: Bench; planning: Checkout; applying: Checkout }> {
  const bench = await openBench();
  const [planning, applying] = [await bench.checkout(), await bench.checkout()];
  for (const clone of [planning, applying]) await clone.declare(first, second);
  return { bench, planning, applying };
}

export async function setByHand(bench: Bench, name: string, attributes: object): Promise<void> {
  const { status } = await bench.byHand.patch(`/workspaces/${await bench.idOf(name)}`, {
    data: { type: 'workspaces', attributes },
  });
  expect(status).toBe(200);
}
