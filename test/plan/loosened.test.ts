/** The settings that a stack loosens compared with an earlier version of itself, and the stricter of the two versions. */
import '../support/fixed-seed.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalRules, Approver } from '../../src/model/approval.ts';
import { type Guard, guardDefaults, type BuiltInGuard, guardLimits } from '../../src/model/guard.ts';
import { matchesPattern } from '../../src/model/name-pattern.ts';
import type { Guards, Stack, Target } from '../../src/model/stack.ts';
import { loosenedGuards, stricterOf, withStricterGuards } from '../../src/plan/loosened.ts';
import { planOf } from '../support/sample-kinds/sample-plan.ts';

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const patterns = fc.uniqueArray(fc.constantFrom('a', 'a*', 'a*b', '*b', 'ab', '*', 'b-*'), { maxLength: 3 });
const ids: readonly BuiltInGuard[] = ['deletes', 'zero', 'widening', 'commit-unknown'];

/** Without undefined members, like stacks that were read from files. */
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;

/** A guard or code is in one of the two lists. */
const anyLevels = <Id extends string>(all: readonly Id[]) =>
  fc.tuple(...all.map(() => fc.constantFrom('raise', 'allow', 'default'))).map((levels) => ({
    raise: all.filter((_, at) => levels[at] === 'raise'),
    allow: all.filter((_, at) => levels[at] === 'allow'),
  }));

const anyGuards: fc.Arbitrary<Guards> = fc
  .tuple(
    anyLevels(ids),
    fc.record({
      maxDeletes: some(fc.nat(9)),
      maxDeletePercent: some(fc.nat(100)),
      maxUpdatePercent: some(fc.nat(100)),
    }),
  )
  .map(([levels, limits]) => ({ ...levels, ...defined(limits) }) as Guards);

const anyTarget = (name: string): fc.Arbitrary<Target> =>
  fc
    .record({
      owns: some(patterns),
      exclusive: some(fc.boolean()),
      ownership: some(fc.constantFrom('claim' as const, 'ledger' as const)),
      deletes: some(fc.constantFrom('safe' as const, 'plain' as const)),
      readBeforeWrite: some(fc.constantFrom('resource' as const, 'page' as const)),
      mount: fc.constantFrom('one', 'two'),
    })
    .map((more) => ({
      ...{ name, service: 'cluster-auth' as const, url: 'https://s.example.com', dialect: 'neutral' },
      ...(defined(more) as object),
    }));

const anyApprovals: fc.Arbitrary<ApprovalRules> = fc
  .record({
    accept: some(
      fc.oneof(
        fc.constant(['none' as const]),
        fc.uniqueArray(fc.constantFrom('signature' as const, 'environment' as const, 'review' as const), {
          minLength: 1,
        }),
      ),
    ),
    count: some(fc.integer({ min: 1, max: 3 })),
    from: some(
      fc
        .uniqueArray(fc.constantFrom('ann', 'ben', 'eve'), { maxLength: 2 })
        .map((names) => names.map((user): Approver => (user === 'eve' ? { signers: 'keys' } : { user }))),
    ),
    selfApprove: some(fc.boolean()),
    selfAck: some(fc.boolean()),
  })
  .map((rules) => defined(rules) as ApprovalRules);

const anyStack: fc.Arbitrary<Stack> = fc
  .record({
    guards: anyGuards,
    lint: some(anyLevels(['open-role', 'open-selector'] as const)),
    secrets: some(fc.record({ env: patterns, files: patterns })),
    approvals: some(anyApprovals),
    targets: fc.tuple(anyTarget('prod'), anyTarget('test')).map((all) => [...all]),
  })
  .map((parts) => ({
    ...{ name: 'payments', file: 'trueup.yaml', directory: '/s', manifests: ['m'], defaults: [] },
    ...(defined(parts) as Pick<Stack, 'guards' | 'targets'>),
  }));

const texts = ['a', 'ab', 'aab', 'axb', 'b', 'bb', 'b-1', 'c', ''];

function admits(list: readonly string[] | undefined): boolean[] {
  return texts.map((text) => list?.some((pattern) => matchesPattern(text, pattern)) ?? true);
}

/** The strictness of a guard: 0 when it is allowed, 2 when it always blocks. */
function strength({ raise = [], allow = [] }: Guards, id: BuiltInGuard): number {
  if (allow.includes(id)) return 0;
  return raise.includes(id) || guardDefaults[id] === 'blocks' ? 2 : 1;
}

const people = ['ann', 'ben', 'eve', 'zoe'];

/** Who may approve in the code host, and which keys count. */
function approvers({ accept = ['signature', 'environment', 'review'], from = [] }: ApprovalRules = {}) {
  const named = from.flatMap((one) => ('user' in one ? [one.user] : []));
  const signers = from.flatMap((one) => ('signers' in one ? [one.signers] : []));
  const isFree = accept.includes('none');
  const inHost = accept.includes('review');
  return {
    isFree,
    reviews: people.filter((name) => isFree || (inHost && (named.length === 0 || named.includes(name)))),
    keys: isFree ? ['keys'] : accept.includes('signature') ? signers : [],
  };
}

/** Everything in which one stack is looser than the other one, found by asking both the same questions. */
function looserIn(one: Stack, other: Stack): string[] {
  const approvals = looserApprovals(one, other);
  return [...looserGuards(one, other), ...looserTargets(one, other), ...approvals].flatMap(
    ([what, isLooser]) => (isLooser ? [what] : []),
  );
}

type Answers = readonly (readonly [what: string, isLooser: boolean])[];

const hasMore = (a: readonly boolean[], b: readonly boolean[]) => a.some((is, at) => is && !b[at]);

function looserGuards(one: Stack, other: Stack): Answers {
  const level = ({ lint = {} }: Stack, code: 'open-role' | 'open-selector') =>
    lint.allow?.includes(code) ? 0 : lint.raise?.includes(code) ? 2 : 1;
  const limits = ['maxDeletes', 'maxDeletePercent', 'maxUpdatePercent'] as const;
  return [
    ...limits.map((name) => {
      const limit = ({ guards }: Stack) => guards[name] ?? guardLimits[name];
      return [name, limit(one) > limit(other)] as const;
    }),
    ...ids.map((id) => [id, strength(one.guards, id) < strength(other.guards, id)] as const),
    ...(['open-role', 'open-selector'] as const).map(
      (code) => [code, level(one, code) < level(other, code)] as const,
    ),
    ...(['env', 'files'] as const).map(
      (list) => [list, hasMore(admits(one.secrets?.[list]), admits(other.secrets?.[list]))] as const,
    ),
  ];
}

function looserTargets(one: Stack, other: Stack): Answers {
  return one.targets.flatMap((target) => {
    const was = other.targets.find(({ name }) => name === target.name);
    if (was === undefined) return [];
    return [
      ['owns', hasMore(admits(target.owns), admits(was.owns))] as const,
      ['exclusive', target.exclusive === true && was.exclusive !== true] as const,
      ['ownership', target.ownership === 'ledger' && was.ownership !== 'ledger'] as const,
      ['deletes', target.deletes === 'plain' && was.deletes !== 'plain'] as const,
      [
        'readBeforeWrite',
        target.readBeforeWrite !== 'resource' && was.readBeforeWrite === 'resource',
      ] as const,
    ];
  });
}

function looserApprovals({ approvals: one = {} }: Stack, { approvals: other = {} }: Stack): Answers {
  const [a, b] = [approvers(one), approvers(other)];
  const flag = (name: 'selfApprove' | 'selfAck') => one[name] === true && other[name] !== true;
  return [
    ['none', a.isFree && !b.isFree],
    ['reviews', a.reviews.some((name) => !b.reviews.includes(name))],
    ['keys', a.keys.some((key) => !b.keys.includes(key))],
    ['count', !b.isFree && (one.count ?? 1) < (other.count ?? 1)],
    ['selfApprove', !b.isFree && flag('selfApprove')],
    ['selfAck', !b.isFree && flag('selfAck')],
  ];
}

describe('The stricter of two versions of a stack', () => {
  it('is looser than neither of them', () => {
    fc.assert(
      fc.property(anyStack, anyStack, (before, after) => {
        const { stack } = stricterOf(before, after);
        expect([looserIn(stack, before), looserIn(stack, after)]).toEqual([[], []]);
      }),
      { numRuns: 400 },
    );
  });

  it('reports a loosened setting whenever the later version is looser', () => {
    fc.assert(
      fc.property(anyStack, anyStack, (before, after) => {
        const { loosened } = stricterOf(before, after);
        if (looserIn(after, before).length > 0) expect(loosened).not.toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('is the stack itself if nothing changed, and nothing is reported as loosened', () => {
    fc.assert(
      fc.property(anyStack, (stack) => {
        const { stack: same, loosened } = stricterOf(stack, stack);
        expect(loosened).toEqual([]);
        expect([looserIn(stack, same), looserIn(same, stack)]).toEqual([[], []]);
      }),
    );
  });

  it('compares a target that got a new name with the one at the same address', () => {
    const target = {
      service: 'cluster-auth',
      url: 'https://s.example.com',
      dialect: 'neutral',
      mount: 'c',
    } as const;
    const base = { name: 's', file: 'f', directory: '/s', manifests: [], defaults: [], guards: {} };
    const { stack, loosened } = stricterOf(
      { ...base, targets: [{ ...target, name: 'prod', owns: ['a-*'] }] },
      { ...base, targets: [{ ...target, name: 'other', exclusive: true }] },
    );
    expect(stack.targets).toEqual([{ ...target, name: 'other', owns: ['a-*'], exclusive: false }]);
    expect(loosened.map(({ name }) => name)).toEqual([
      'owns of the target "other"',
      'exclusive of the target "other"',
    ]);
  });

  it('makes a guard for each setting, which names its value before and after', () => {
    const base = { name: 's', file: 'f', directory: '/s', manifests: [], defaults: [], targets: [] };
    const { loosened } = stricterOf(
      { ...base, guards: {} },
      { ...base, guards: { maxDeletes: 50, allow: ['zero'] } },
    );
    expect(loosenedGuards(loosened)).toMatchObject([
      {
        id: 'loosened',
        always: true,
        message:
          'spec.guards.maxDeletes is loosened from 3 to 50, and the stricter value holds for this plan',
      },
      { message: expect.stringContaining('the level of "zero" in spec.guards is loosened from its default') },
    ]);
    expect(loosenedGuards([])).toEqual([]);
  });
});

describe('a fresh plan beside an approved one', () => {
  const fresh = planOf({}).plan;
  const guardOf = (id: BuiltInGuard, message: string = id): Guard => ({
    ...{ id, effect: guardDefaults[id], counted: 1, message, concerns: [] },
  });
  const guardsOf = (approved: readonly Guard[], own: readonly Guard[] = []) =>
    withStricterGuards({ ...fresh, guards: own }, { guards: approved }).guards.map(({ message }) => message);

  it('gets the guards of the approved plan if that was made with stricter settings', () => {
    const loosened = [guardOf('loosened', 'one'), guardOf('loosened', 'two')];
    expect(guardsOf([...loosened, guardOf('deletes')], [guardOf('zero')])).toEqual([
      'one',
      'two',
      'deletes',
      'zero',
    ]);
    expect(guardsOf(loosened, [guardOf('loosened', 'two')])).toEqual(['one', 'two']);
    expect(guardsOf([...loosened, guardOf('older-commit')])).toEqual(['one', 'two']);
  });

  it('has only its own guards otherwise', () => {
    expect(guardsOf([guardOf('deletes')], [guardOf('zero')])).toEqual(['zero']);
  });
});
