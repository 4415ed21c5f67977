/** What a stack loosens against an earlier version of itself, and the stricter of the two. */
import '../support/fixed-seed.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalRules, Approver } from '../../src/model/approval.ts';
import { guardDefaults, type GuardId, guardLimits } from '../../src/model/guard.ts';
import { matchesPattern } from '../../src/model/name-pattern.ts';
import type { Guards, Stack, Target } from '../../src/model/stack.ts';
import { loosenedGuard, stricterOf } from '../../src/plan/loosened.ts';

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const patterns = fc.uniqueArray(fc.constantFrom('a', 'a*', 'a*b', '*b', 'ab', '*', 'b-*'), { maxLength: 3 });
const ids: readonly GuardId[] = ['deletes', 'zero', 'widening', 'commit-unknown'];

/** Without the members that are undefined, as the reader makes stacks. */
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
    ...{ name: 'payments', file: 'trueup.yaml', directory: '/s', manifests: ['m'], defaults: {} },
    ...(defined(parts) as Pick<Stack, 'guards' | 'targets'>),
  }));

const texts = ['a', 'ab', 'aab', 'axb', 'b', 'bb', 'b-1', 'c', ''];

function admits(list: readonly string[] | undefined): boolean[] {
  return texts.map((text) => list?.some((pattern) => matchesPattern(text, pattern)) ?? true);
}

/** How many of the three effects a guard may have: none when it is allowed, all when it always blocks. */
function strength({ raise = [], allow = [] }: Guards, id: GuardId): number {
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
  const found: string[] = [];
  const check = (what: string, isLooser: boolean) => isLooser && found.push(what);
  for (const name of ['maxDeletes', 'maxDeletePercent', 'maxUpdatePercent'] as const)
    check(name, (one.guards[name] ?? guardLimits[name]) > (other.guards[name] ?? guardLimits[name]));
  for (const id of ids) check(id, strength(one.guards, id) < strength(other.guards, id));
  for (const code of ['open-role', 'open-selector'] as const) {
    const level = ({ lint = {} }: Stack) =>
      lint.allow?.includes(code) ? 0 : lint.raise?.includes(code) ? 2 : 1;
    check(code, level(one) < level(other));
  }
  for (const list of ['env', 'files'] as const) {
    const [a, b] = [admits(one.secrets?.[list]), admits(other.secrets?.[list])];
    check(
      list,
      a.some((is, at) => is && !b[at]),
    );
  }
  for (const target of one.targets) {
    const was = other.targets.find(({ name }) => name === target.name);
    if (was === undefined) continue;
    const [a, b] = [admits(target.owns), admits(was.owns)];
    check(
      'owns',
      a.some((is, at) => is && !b[at]),
    );
    check('exclusive', target.exclusive === true && was.exclusive !== true);
    check('ownership', target.ownership === 'ledger' && was.ownership !== 'ledger');
    check('deletes', target.deletes === 'plain' && was.deletes !== 'plain');
  }
  const [a, b] = [approvers(one.approvals), approvers(other.approvals)];
  check('none', a.isFree && !b.isFree);
  check(
    'reviews',
    a.reviews.some((name) => !b.reviews.includes(name)),
  );
  check(
    'keys',
    a.keys.some((key) => !b.keys.includes(key)),
  );
  if (!b.isFree) {
    check('count', (one.approvals?.count ?? 1) < (other.approvals?.count ?? 1));
    for (const flag of ['selfApprove', 'selfAck'] as const)
      check(flag, one.approvals?.[flag] === true && other.approvals?.[flag] !== true);
  }
  return found;
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

  it('names something wherever the later version is looser, so nothing is loosened unseen', () => {
    fc.assert(
      fc.property(anyStack, anyStack, (before, after) => {
        const { loosened } = stricterOf(before, after);
        if (looserIn(after, before).length > 0) expect(loosened).not.toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('is the stack itself where nothing has changed, and nothing is loosened', () => {
    fc.assert(
      fc.property(anyStack, (stack) => {
        const { stack: same, loosened } = stricterOf(stack, stack);
        expect(loosened).toEqual([]);
        expect([looserIn(stack, same), looserIn(same, stack)]).toEqual([[], []]);
      }),
    );
  });

  it('compares a target that got a new name with the one of its place', () => {
    const target = {
      service: 'cluster-auth',
      url: 'https://s.example.com',
      dialect: 'neutral',
      mount: 'c',
    } as const;
    const base = { name: 's', file: 'f', directory: '/s', manifests: [], defaults: {}, guards: {} };
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

  it('makes a guard that names each setting with its value before and after', () => {
    const base = { name: 's', file: 'f', directory: '/s', manifests: [], defaults: {}, targets: [] };
    const { loosened } = stricterOf(
      { ...base, guards: {} },
      { ...base, guards: { maxDeletes: 50, allow: ['zero'] } },
    );
    expect(loosenedGuard(loosened)).toMatchObject([
      {
        id: 'loosened',
        always: true,
        counted: 2,
        message:
          '2 settings of the stack are loosened, and the stricter values hold for this plan: spec.guards.maxDeletes from 3 to 50; spec.guards, the level of "zero", from its default to "allow"',
      },
    ]);
    expect(loosenedGuard([])).toEqual([]);
  });
});
