import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../src/model/field.ts';
import type { PlanDifference } from '../../src/model/plan.ts';
import { comparePlans, isSamePlan } from '../../src/plan/compare-plans.ts';
import { plain } from '../../src/report/text/layout.ts';
import { differenceSchema } from '../../src/report/json/result-schemas.ts';
import { renderPlanDifferenceJson } from '../../src/report/json/plan-difference.ts';
import { renderPlanDifference } from '../../src/report/text/plan-difference.ts';
import { anyPlan, hostileText } from '../support/report/arbitrary-plan.ts';
import { change, plan } from '../support/report/small-plan.ts';

const names = { one: 'approved', other: 'now' };
const digests = {
  one: { name: 'a.json', digest: 'a'.repeat(32) },
  other: { name: 'b.json', digest: 'b'.repeat(32) },
};

function textOf(difference: PlanDifference, width = 100): string {
  return renderPlanDifference(difference, { paint: plain, names, width });
}

function differenceOf(one: readonly FieldChange[], other: readonly FieldChange[]): PlanDifference {
  return comparePlans(
    plan({ changes: [change({ fields: one })] }),
    plan({ changes: [change({ fields: other })] }),
  );
}

const colour = { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' } as const;

describe('The difference of two plans as text', () => {
  it('has the changes of only one plan, with all their fields', () => {
    const only = comparePlans(plan({ changes: [change({ fields: [colour] })] }), plan());
    expect(textOf(only)).toBe('Only in approved\n  ~ update  Toy/acme/ball\n      colour  red -> blue');
  });

  it('has only the differing fields of a change in both plans, side by side', () => {
    const rest: FieldChange = { path: ['size'], before: 1, after: 2, shape: 'scalar' };
    expect(textOf(differenceOf([colour, rest], [rest, { ...colour, after: 'white' }]))).toBe(
      [
        'In both, and different',
        '  ~ update  Toy/acme/ball',
        '      colour',
        '        approved  red -> blue',
        '        now       red -> white',
      ].join('\n'),
    );
  });

  it('formats values like the plan, even if only one side has their shape', () => {
    const timer: FieldChange = { path: ['ttl'], before: 0, after: 3600, shape: 'duration' };
    const bare: FieldChange = { ...timer, after: 7200, shape: 'scalar' };
    expect(textOf(differenceOf([bare], [timer]))).toMatch(/approved +0s -> 2h\n +now +0s -> 1h$/);
  });

  it('shows different actions for a resource', () => {
    const [one, other] = (['delete', 'release'] as const).map((action) =>
      plan({ changes: [change({ action })] }),
    );
    if (one === undefined || other === undefined) throw new Error('two plans');
    expect(textOf(comparePlans(one, other))).toMatch(/action\n +approved +delete\n +now +release$/);
  });

  it('shows the stack and the targets of each plan', () => {
    const [target] = plan().targets;
    if (target === undefined) throw new Error('a target');
    const moved = plan({ stack: 'zoo', targets: [{ ...target, url: 'https://other.test' }] });
    expect(textOf(comparePlans(plan(), moved))).toBe(
      [
        'Different stack, targets or selection',
        '  stack',
        '    approved  nursery',
        '    now       zoo',
        '  target acme',
        '    approved  workspaces acme at https://toys.test, dialect neutral',
        '    now       workspaces acme at https://other.test, dialect neutral',
      ].join('\n'),
    );
  });

  it('is empty only for plans with the same meaning, and never moves a cursor', () => {
    fc.assert(
      fc.property(anyPlan, anyPlan, fc.tuple(hostileText, hostileText), (one, other, [a, b]) => {
        const difference = comparePlans(one, other);
        const text = renderPlanDifference(difference, { paint: plain, names: { one: a, other: b } });
        expect(text === '').toBe(isSamePlan(difference));
        expect(text).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});

describe('The difference of two plans as JSON', () => {
  it('has both digests, each side of each field, and no missing side', () => {
    const difference = differenceOf([colour], [{ path: ['size'], after: 2, shape: 'scalar' }]);
    expect(JSON.parse(renderPlanDifferenceJson(difference, digests))).toEqual({
      version: 1,
      same: false,
      ...digests,
      targets: [],
      changes: [
        {
          address: 'Toy/acme/ball',
          kind: 'Toy',
          target: 'acme',
          name: 'ball',
          one: 'update',
          other: 'update',
          fields: [
            { path: '/colour', one: { before: 'red', after: 'blue', shape: 'scalar' } },
            { path: '/size', other: { after: 2, shape: 'scalar' } },
          ],
        },
      ],
    });
  });

  it('matches the published schema for any two plans', () => {
    const matches = new Ajv2020({ strict: false, formats: { 'date-time': true } }).compile(differenceSchema);
    fc.assert(
      fc.property(anyPlan, anyPlan, (one, other) => {
        matches(JSON.parse(renderPlanDifferenceJson(comparePlans(one, other), digests)));
        expect(matches.errors ?? []).toEqual([]);
      }),
    );
  });

  it('says that plans with the same meaning are the same', () => {
    expect(JSON.parse(renderPlanDifferenceJson(differenceOf([colour], [colour]), digests))).toMatchObject({
      same: true,
      changes: [],
    });
  });

  it('has of a secret only whether it is set, its version and its source', () => {
    const secret = (version: number): FieldChange => ({
      path: ['jwt'],
      after: { set: true, version, env: `JWT_${version}`, value: 'planted' },
      shape: 'secret',
    });
    const difference = differenceOf([secret(1)], [secret(2)]);
    const text = renderPlanDifferenceJson(difference, digests) + textOf(difference);
    expect(text).not.toContain('planted');
    expect(text).toContain('"version": 2');
    expect(text).toContain('"env": "JWT_2"');
    expect(text).toContain('from env JWT_1');
  });
});
