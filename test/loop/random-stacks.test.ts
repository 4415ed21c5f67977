/**
 * The main property of the program: from any live state, a valid stack is planned and applied, and then there is nothing left
 * to plan. With real requests to the embedded service. `npm run loop` tries any number of new cases.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { planSchema } from '../../src/report/json/plan-schema.ts';
import { driftWithProjects, stackWithProjects } from '../support/simulation/random-projects.ts';
import { type Case, converge, type Step, showCase } from '../support/simulation/converge.ts';
import { organizationSettings, TenantPool } from '../support/simulation/world.ts';

const cases = Number(process.env['TRUEUP_CASES'] ?? 20);
const tenants = new TenantPool();
afterAll(() => tenants.close());

const step: fc.Arbitrary<Step> = fc.record({
  drift: driftWithProjects,
  ledger: fc.oneof(
    { withCrossShrink: true },
    { weight: 10, arbitrary: fc.constant('kept' as const) },
    { weight: 2, arbitrary: fc.constantFrom('older' as const, 'lost' as const, 'recovered' as const) },
  ),
  stack: stackWithProjects,
});

const arbitraryCase: fc.Arbitrary<Case> = fc
  .record({
    settingsIndex: fc.nat({ max: organizationSettings.length - 1 }),
    steps: fc.oneof(
      { withCrossShrink: true },
      { weight: 3, arbitrary: fc.array(step, { minLength: 1, maxLength: 1 }) },
      { weight: 5, arbitrary: fc.array(step, { minLength: 2, maxLength: 2 }) },
      { weight: 1, arbitrary: fc.array(step, { minLength: 3, maxLength: 3 }) },
    ),
  })
  .map((made) => ({ ...made, [fc.toStringMethod]: () => showCase(made) }));

describe('A random stack on a random live state', () => {
  it('is planned without a write, applied, and then a plan is empty', async () => {
    const isPlan = new Ajv2020({ strict: false }).compile(planSchema);
    const endings = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(arbitraryCase, async (made) => {
        const ending = await converge(made, { tenants, isPlan });
        endings.set(ending, (endings.get(ending) ?? 0) + 1);
        fc.pre(ending !== 'invalid');
      }),
      { numRuns: cases, maxSkipsPerRun: 10, endOnFailure: process.env['TRUEUP_SHRINK'] !== 'yes' },
    );
    console.log(Object.fromEntries(endings));
    // If most of the stacks were refused, the test would prove nothing.
    if (cases >= 100) expect(endings.get('converged') ?? 0).toBeGreaterThan(0.7 * cases);
  }, 3_600_000);
});
