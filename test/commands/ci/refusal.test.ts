/** What a job reports about a plan with thousands of guards: a comment can have 65,536 characters. */
import { describe, expect, it } from 'vitest';
import { describeRefusal, labelsOf, stepsAfterPlan } from '../../../src/commands/ci/refusal.ts';
import { policyGuard } from '../../../src/model/guard.ts';
import type { Plan } from '../../../src/model/plan.ts';

const ids = Array.from({ length: 3_000 }, (_, index) => policyGuard(`production-keeps-its-data-${index}`));

const plan = (count: number, effect = 'blocks') =>
  ({
    stack: 'payments',
    digest: '0123456789abcdef0123456789abcdef',
    changes: [{}],
    problems: [],
    guards: ids.slice(0, count).map((id) => ({
      id,
      effect,
      message: 'x',
      counted: 1,
      concerns: [{ address: { kind: 'Workspace', target: 'acme', name: 'app' }, messages: ['x'] }],
      ruleHash: 'a'.repeat(32),
    })),
  }) as unknown as Plan;

const rules = { from: [{ signers: 'signers' }] };
const steps = (count: number, effect?: string) =>
  (stepsAfterPlan(plan(count, effect), { rules, event: 'pull-request', stack: 'stacks/pay' }) ?? []).join(
    '\n',
  );

describe('The next steps of a plan with thousands of guards', () => {
  it('name the first ones, and say how many more there are', () => {
    const text = steps(3_000);
    expect(text.length).toBeLessThan(5_000);
    expect(text).toContain(
      '"trueup-ack/policy/production-keeps-its-data-9" and 2990 more, one for each guard,',
    );
    expect(text).not.toContain('production-keeps-its-data-10');
    expect(steps(3_000, 'denies').length).toBeLessThan(1_000);
  });

  it('have no command that acknowledges only some of them, and say how to sign all', () => {
    const text = steps(3_000);
    expect(text).not.toContain('trueup approve 0123');
    expect(text).toContain('"trueup plan --out plan.json"');
    expect(text).toContain('with all 3000 guards');
    expect(steps(3)).toContain('"trueup approve 0123456789abcdef0123456789abcdef stacks/pay --ack');
  });

  it('are as short when the plan is refused', () => {
    const { why, ways } = describeRefusal(
      { is: 'blocked', guards: ids, refused: [], labels: [] } as unknown as Parameters<
        typeof describeRefusal
      >[0],
      {
        ...{ plan: plan(0), rules: {}, stack: undefined, remote: 'origin' },
        ...{
          environment: undefined,
          missing: undefined,
          again: 'then run this job again',
          head: 'f'.repeat(40),
        },
      },
    );
    expect(why).toContain('and 2990 more');
    expect([why, ...ways].join('\n').length).toBeLessThan(5_000);
  });

  it('name all labels of a plan with a few guards', () => {
    expect(labelsOf(ids.slice(0, 1))).toBe('the label "trueup-ack/policy/production-keeps-its-data-0"');
    expect(labelsOf(ids.slice(0, 2))).toMatch(/^the labels "\S+-0" and "\S+-1"$/);
    expect(labelsOf(ids.slice(0, 11)).match(/trueup-ack/g)).toHaveLength(11);
  });
});
