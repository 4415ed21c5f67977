/** The history says which guards were acknowledged for an apply. */
import { expect, it } from 'vitest';
import type { HistoryEntry } from '../../../src/model/ledger.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';

async function entries(stack: Checkout): Promise<readonly HistoryEntry[]> {
  const { out } = await stack.run(['history', '--format', 'json'], 0);
  return (JSON.parse(out) as { entries: HistoryEntry[] }).entries;
}

const confirmed = policiesText(
  policy('ask-first', { severity: 'confirm', rule: '!resource.spec.autoApply' }),
  policy('only-told', { severity: 'warn', rule: '!resource.spec.autoApply' }),
);

async function begin() {
  const stack = await (await openBench()).checkout({ spec: withPolicies });
  await stack.write('policies/rules.yaml', confirmed);
  await stack.declare(workspace('app'));
  await stack.run(['apply', '--yes'], 0);
  await stack.declare(workspace('app', { autoApply: true }));
  return stack;
}

it('The history has the guards that were acknowledged with --ack, and no others', async () => {
  const stack = await begin();
  const { digest } = await stack.plan();
  await stack.run(['apply', '--approve', digest, '--ack', 'policy/ask-first,deletes'], 0);
  const [last, first] = await entries(stack);
  expect([last?.digest, last?.acknowledged]).toEqual([digest, ['policy/ask-first']]);
  expect(first).not.toHaveProperty('acknowledged');
  const shown = await stack.run(['history', 'show', 'latest'], 0);
  expect(shown.out).toMatch(/^guards +acknowledged: policy\/ask-first$/m);
  const older = await stack.run(['history', 'show', first?.id ?? ''], 0);
  expect(older.out).not.toContain('acknowledged');
  const { out } = await stack.run(['history'], 0);
  expect(out).toContain(first?.id);
});

it('The history has the guards that were acknowledged with a plan file', async () => {
  const stack = await begin();
  await stack.run(['plan', '--out', 'plan.json'], 0);
  await stack.run(['apply', 'plan.json', '--ack', 'policy/ask-first'], 0);
  expect((await entries(stack))[0]?.acknowledged).toEqual(['policy/ask-first']);
});

it('The history has the guards whose names somebody typed at a terminal', async () => {
  const stack = await begin();
  const typed = { cwd: stack.directory, env: stack.env, answer: 'policy/ask-first' };
  expect(await trueup(['apply'], typed)).toMatchObject({ code: 0 });
  expect((await entries(stack))[0]?.acknowledged).toEqual(['policy/ask-first']);
});
