import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import type { Json } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/resource.ts';
import { checkApprovedChanges } from '../../src/plan/approval-coverage.ts';
import {
  checkApprovedPlans,
  planContent,
  proveContent,
  type ProvedPlan,
} from '../../src/plan/approved-plans.ts';
import type { PlanResult } from '../../src/plan/build-plan.ts';
import { digestOf, readDigestItems } from '../../src/plan/digest.ts';
import { sideHash } from '../../src/redaction/stored-values.ts';
import { approvalRows, ours } from '../support/sample-kinds/approval-rows.ts';
import { liveParent, parentSpec } from '../support/sample-kinds/arbitrary-resources.ts';
import { app, at, desired, live, planOf, record, type World } from '../support/sample-kinds/sample-plan.ts';

const lib = at('Parent', 'lib');

/** The stored content of an approved plan, verified by its digest. */
function approve({ plan }: PlanResult): ProvedPlan {
  const content: Json = JSON.parse(JSON.stringify(planContent(plan)));
  const proved = proveContent(content, plan);
  if (proved === undefined) throw new Error('the content of a plan is proved by its digest');
  return proved;
}

/** The specs that a pull request sets, by the name of the resource. */
type Edits = Readonly<Record<string, Spec>>;

const start: Spec = { colour: 'red', owner: 'ann', timeout: 0 };
const isLive = [live(app, { ...ours, spec: start }), live(lib, { ...ours, spec: start })];

/** The plan of the edits of these pull requests together. */
function planEdits(...pulls: readonly Edits[]): PlanResult {
  return planOf(worldOf(...pulls));
}

function worldOf(...pulls: readonly Edits[]): World {
  const spec = (name: string): Spec => Object.assign({}, ...pulls.map((edits) => edits[name] ?? {}));
  return { live: isLive, desired: [desired(app, spec('app')), desired(lib, spec('lib'))] };
}

function verdictOf(fresh: PlanResult, ...approved: readonly PlanResult[]): string {
  return checkApprovedPlans(fresh, approved.map(approve)).is;
}

const edits: fc.Arbitrary<Edits> = fc.dictionary(
  fc.constantFrom('app', 'lib'),
  fc.record(
    {
      colour: fc.constantFrom('red', 'blue', 'green'),
      owner: fc.constantFrom('ann', 'bob'),
      timeout: fc.constantFrom(0, 60, 3600),
    },
    { requiredKeys: [] },
  ),
);

describe('Two pull requests that were merged before the first was applied', () => {
  const one: Edits = { app: { colour: 'blue' } };
  const two: Edits = { app: { timeout: 60 }, lib: { owner: 'bob' } };

  it('match both approvals together', () => {
    expect(verdictOf(planEdits(one, two), planEdits(one), planEdits(two))).toBe('subset');
  });

  it('are not approved by one of the approvals alone', () => {
    expect(verdictOf(planEdits(one, two), planEdits(one))).toBe('differs');
    expect(verdictOf(planEdits(one, two), planEdits(two))).toBe('differs');
  });

  it('are approved by the later approval alone if its plan showed all changes', () => {
    expect(verdictOf(planEdits(one, two), planEdits(one, two))).toBe('equal');
  });

  it('take the later value of a field that both change', () => {
    const later: Edits = { app: { colour: 'green' } };
    expect(verdictOf(planEdits(one, later), planEdits(one), planEdits(later))).toBe('equal');
    expect(verdictOf(planEdits(later, one), planEdits(one), planEdits(later))).toBe('differs');
  });

  it('are not approved if the merge made a third value', () => {
    const list = (...steps: string[]): Edits => ({ app: { steps } });
    const fresh = planEdits(list('a', 'b'));
    expect(verdictOf(fresh, planEdits(list('a')), planEdits(list('b')))).toBe('differs');
  });

  it('are not approved if drift changed the value before', () => {
    const world = worldOf(one, two);
    const drifted = live(app, { ...ours, spec: { ...start, colour: 'black' } });
    const fresh = planOf({ ...world, live: [drifted, live(lib, { ...ours, spec: start })] });
    expect(verdictOf(fresh, planEdits(one), planEdits(two))).toBe('differs');
  });

  it('are not approved if one was reverted in between, unless the last approved plan is the fresh one', () => {
    expect(verdictOf(planEdits(two), planEdits(one), planEdits(two))).toBe('equal');
    expect(verdictOf(planEdits(two), planEdits(two), planEdits(one))).toBe('differs');
  });

  it('may update a resource, then delete it, and then update another one', () => {
    const kept = (world: World): World => ({
      ...world,
      records: { 'Parent/acme/app': record({ id: 'id-app' }) },
    });
    const gone = (lib: Spec): World => kept({ live: isLive, desired: [desired(at('Parent', 'lib'), lib)] });
    const fresh = planOf(gone({ owner: 'bob' }));
    expect(fresh.plan.changes.map(({ action }) => action).toSorted()).toEqual(['delete', 'update']);
    const [change, removal, last] = [
      planOf(kept(worldOf(one))),
      planOf(gone({})),
      planOf(kept(worldOf({ lib: { owner: 'bob' } }))),
    ];
    expect(verdictOf(fresh, change, removal, last)).toBe('subset');
    expect(verdictOf(fresh, change, last)).toBe('differs');
    expect(verdictOf(fresh, removal, change, last)).toBe('differs');
  });

  it('may create a resource in one and change another in the other', () => {
    const created = at('Parent', 'new');
    const makes: World = { live: isLive, desired: [desired(created, { colour: 'blue' })] };
    const fresh = planOf({
      live: isLive,
      desired: [...(worldOf(two).desired ?? []), ...(makes.desired ?? [])],
    });
    expect(verdictOf(fresh, planOf(makes), planEdits(two))).toBe('subset');
    expect(verdictOf(fresh, planEdits(two))).toBe('differs');
  });
});

describe('An approved plan for another address of a target', () => {
  const moved: World = { ...worldOf({ app: { colour: 'blue' } }), target: { url: 'https://other.test' } };

  it('approves nothing of a target whose address changed', () => {
    const approved = planEdits({ app: { colour: 'blue' } });
    expect(verdictOf(planOf(moved), approved)).toBe('elsewhere');
    expect(verdictOf(planOf(moved), approved, approved)).toBe('elsewhere');
  });

  it('still approves its changes after the stack got another target', () => {
    const other = live(at('Parent', 'theirs', 'other'), { spec: start });
    const fresh = planOf({ ...worldOf({ app: { colour: 'blue' } }), live: [...isLive, other] });
    expect(fresh.plan.targets).toHaveLength(2);
    expect(verdictOf(fresh, planEdits({ app: { colour: 'blue' } }))).toBe('subset');
  });
});

describe('The content of an approved plan', () => {
  const { plan } = planEdits({ app: { colour: 'blue', readers: ['a'] } });
  const content = JSON.parse(JSON.stringify(planContent(plan)));

  it('is proved by the digest', () => {
    expect(proveContent(content, plan)).toMatchObject({ digest: plan.digest });
  });

  it.each<[string, Json]>([
    ['nothing', null],
    ['another version', { ...content, version: 2 }],
    ['one missing item', { ...content, items: content.items.slice(1) }],
    ['one added item', { ...content, items: [...content.items, '["Parent/acme/lib","update"]'] }],
    ['an item that cannot be read', { ...content, items: ['nonsense'] }],
    ['another target', { ...content, targets: [{ ...content.targets[0], url: 'https://other.test' }] }],
    ['an invalid target', { ...content, targets: [null] }],
    ['a selection', { ...content, selection: ['Parent/acme/app'] }],
  ])('is refused with %s', (_, other) => {
    expect(proveContent(other, plan)).toBeUndefined();
  });

  it('is refused for another stack or digest', () => {
    expect(proveContent(content, { ...plan, stack: 'theirs' })).toBeUndefined();
    expect(proveContent(content, { ...plan, digest: '0'.repeat(32) })).toBeUndefined();
  });

  it('is refused if an item has values that its hash does not cover', () => {
    const place = { stack: plan.stack, address: app };
    const [change] = plan.changes;
    const fields = change?.fields.map((field) => {
      const [before, after] = [sideHash(place, field, 'before'), sideHash(place, field, 'after')];
      return { ...field, before: ['b'], redacted: { before, after } };
    });
    const forged = { ...content, items: [JSON.stringify(['Parent/acme/app', 'update', { fields }])] };
    const read = readDigestItems(forged.items);
    expect(digestOf({ ...plan, ...read })).toBe(plan.digest);
    expect(proveContent(JSON.parse(JSON.stringify(forged)), plan)).toBeUndefined();
  });
});

describe('For any plans', () => {
  it.each(approvalRows)(
    'one approved plan in a list is checked like a single one when $says',
    ({ approved, fresh }) => {
      const [was, is] = [planOf(approved), planOf(fresh)];
      expect(checkApprovedPlans(is, [approve(was)])).toEqual(checkApprovedChanges(is, approve(was)));
    },
  );

  it('one approved plan in a list is checked like a single one', () => {
    fc.assert(
      fc.property(parentSpec, parentSpec, liveParent, liveParent, (one, other, found, later) => {
        const [approved, fresh] = [
          planOf({ desired: [desired(app, one)], live: [live(app, { ...ours, spec: found })] }),
          planOf({ desired: [desired(app, other)], live: [live(app, { ...ours, spec: later })] }),
        ];
        const alone = checkApprovedChanges(fresh, approve(approved));
        expect(checkApprovedPlans(fresh, [approve(approved)])).toEqual(alone);
        expect(checkApprovedPlans(fresh, [approve(approved), approve(approved)])).toEqual(alone);
      }),
      { numRuns: 50 },
    );
  });

  it('no change passes that is in none of the approved plans, or that a later one replaced', () => {
    fc.assert(
      fc.property(fc.array(edits, { minLength: 1, maxLength: 4 }), edits, (pulls, fresh) => {
        const approved = pulls.map((pull) => planEdits(pull));
        const made = planEdits(fresh);
        // Live does not change here, so each planned value must be the last that was approved for its field.
        const wanted = new Map(approved.flatMap(({ plan }) => plan.changes.flatMap(valuesOf)));
        const planned = new Map(made.plan.changes.flatMap(valuesOf));
        const isLast = approved.at(-1)?.plan.digest === made.plan.digest;
        const isUnion = JSON.stringify([...wanted].sort()) === JSON.stringify([...planned].sort());
        const verdict = verdictOf(made, ...approved);
        expect(verdict === 'equal' || verdict === 'subset').toBe(isLast || isUnion);
      }),
      { numRuns: 150 },
    );
  });

  it('all pull requests together pass, in the order in which they were merged', () => {
    fc.assert(
      fc.property(fc.array(edits, { minLength: 1, maxLength: 4 }), (pulls) => {
        // A pull request that restores a value is planned without a change, so it reverts nothing that was approved before.
        const isBack = (spec: Spec) => Object.entries(spec).some(([name, value]) => start[name] === value);
        fc.pre(!pulls.some((pull) => Object.values(pull).some(isBack)));
        expect(verdictOf(planEdits(...pulls), ...pulls.map((pull) => planEdits(pull)))).toMatch(
          /equal|subset/,
        );
      }),
    );
  });

  it('the order matters only if two pull requests change the same field', () => {
    fc.assert(
      fc.property(edits, edits, edits, (one, two, fresh) => {
        const keys = (pull: Edits) =>
          Object.entries(pull).flatMap(([name, spec]) =>
            Object.keys(spec).map((field) => `${name} ${field}`),
          );
        fc.pre(!keys(one).some((key) => keys(two).includes(key)));
        const made = planEdits(fresh);
        const passes = (...order: readonly Edits[]) =>
          checkApprovedPlans(made, [...order.map((pull) => approve(planEdits(pull))), nothingApproved]).is;
        expect(passes(one, two)).toBe(passes(two, one));
      }),
      { numRuns: 60 },
    );
  });
});

/** The plan of a pull request that changes nothing, so that no plan before it is the last one. */
const nothingApproved = approve(planOf({ live: isLive, desired: [desired(app), desired(lib)] }));

function valuesOf({ address, fields }: PlanResult['plan']['changes'][number]): [string, string][] {
  return fields.map(({ path, before, after }) => [
    `${formatAddress(address)} ${path.join('.')}`,
    JSON.stringify([before, after]),
  ]);
}
