import { describe, expect, it } from 'vitest';
import type { MergedPull } from '../../../src/commands/ci/count-approvals.ts';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  findApproval,
  type Found,
} from '../../../src/commands/ci/find-approval.ts';
import type { Approval, ApprovalRules } from '../../../src/model/approval.ts';
import type { GuardId } from '../../../src/model/guard.ts';
import type { Json } from '../../../src/model/json.ts';
import type { Ledger } from '../../../src/model/ledger.ts';
import { planContent } from '../../../src/plan/approved-plans.ts';
import type { PlanResult } from '../../../src/plan/build-plan.ts';
import { digestItemsOf, digestVersion } from '../../../src/plan/digest.ts';
import { ours } from '../../support/sample-kinds/approval-rows.ts';
import { app, desired, live, planOf } from '../../support/sample-kinds/sample-plan.ts';

const base = { colour: 'red', owner: 'ann' };
const planning = (spec: object, found: object = {}): PlanResult =>
  planOf({
    desired: [desired(app, { ...spec })],
    live: [live(app, { ...ours, spec: { ...base, ...found } })],
  });

const blue = planning({ colour: 'blue' });
const bob = planning({ owner: 'bob' });
const both = planning({ colour: 'blue', owner: 'bob' });

const commit = (digit: string) => digit.repeat(40);
const head = commit('f');
const pulls: readonly MergedPull[] = [
  { number: 7, head: commit('a'), merged: 0 },
  { number: 8, head: commit('b'), merged: 1 },
];

function approval({ plan }: PlanResult, about: Partial<Approval> = {}): Approval {
  return {
    method: 'review',
    by: 'alice',
    digest: plan.digest,
    commit: commit('a'),
    at: '2026-11-20T12:00:00Z',
    pullRequest: 7,
    acknowledged: [],
    ...about,
  };
}

const contentOf = ({ plan }: PlanResult): [string, Json] => [
  plan.digest,
  JSON.parse(JSON.stringify(planContent(plan))),
];

interface Case {
  readonly fresh: PlanResult;
  readonly approvals?: readonly Approval[];
  /** the plans whose content was stored */
  readonly known?: readonly PlanResult[];
  readonly rules?: ApprovalRules;
  readonly ledger?: Partial<Ledger>;
  readonly guards?: readonly GuardId[];
  /** guards that labels acknowledge, by pull request; `labelled` is the plan that they are of */
  readonly labels?: Readonly<Record<number, readonly GuardId[]>>;
  readonly labelled?: PlanResult;
  /** without a code host: the commits, each with the index of its merge */
  readonly range?: readonly [id: string, merged: number][];
}

function ask({
  fresh,
  approvals = [],
  known = [blue, bob],
  rules = {},
  ledger = {},
  guards = [],
  labels = {},
  labelled,
  range,
}: Case): Promise<ApprovalAnswer> {
  const contents = new Map(known.map(contentOf));
  const found = (some: readonly Approval[]): Found => ({ approvals: some, refused: [], contents });
  const by = (method: Approval['method']) => approvals.filter((one) => one.method === method);
  const all = (range ?? []).map(([id, merged]) => ({ id, merged, isMerge: false }));
  const question: ApprovalQuestion = {
    planning: {
      ...fresh,
      plan: {
        ...fresh.plan,
        guards: guards.map((id) => ({ id, effect: 'blocks', counted: 1, message: id, concerns: [] })),
      },
    },
    rules,
    range: { base: commit('0'), line: all, all },
    head,
    ledger,
    sources: {
      pulls: range === undefined ? async () => pulls : undefined,
      signatures: async () => found(by('signature')),
      reviews: async ({ number }) => found(by('review').filter((one) => one.pullRequest === number)),
      environment: async () => found(by('environment')),
      labels: async ({ number, head }) => {
        const { digest } = (labelled ?? (number === 7 ? blue : bob)).plan;
        return {
          pullRequest: number,
          commit: head,
          digest,
          guards: labels[number] ?? [],
          set: [],
          refused: [],
        };
      },
    },
  };
  return findApproval(question);
}

const ofBlue = approval(blue);
const ofBob = approval(bob, { commit: commit('b'), pullRequest: 8 });

describe('A plan is applied', () => {
  it.each<[string, Case]>([
    ['if it is the one that was approved', { fresh: blue, approvals: [ofBlue], known: [] }],
    ['if two pull requests were approved and it is both', { fresh: both, approvals: [ofBlue, ofBob] }],
    [
      'if it is what is left of the approved one',
      {
        fresh: planning({ colour: 'blue', owner: 'bob' }, { owner: 'bob' }),
        approvals: [approval(both)],
        known: [both],
      },
    ],
    [
      'if a signature names the commit that is applied',
      { fresh: both, approvals: [approval(both, { method: 'signature', commit: head })], known: [] },
    ],
    [
      'if reviewers of an environment approved it',
      { fresh: both, approvals: [approval(both, { method: 'environment', commit: head })], known: [] },
    ],
    ['if it is empty', { fresh: planning({}) }],
    ['if the stack needs no approval', { fresh: both, rules: { accept: ['none'] } }],
    [
      'if as many people approved it as the stack asks for',
      { fresh: blue, approvals: [ofBlue, approval(blue, { by: 'bob' })], rules: { count: 2 } },
    ],
    [
      'if it was approved again after an apply of it had ended',
      {
        fresh: blue,
        approvals: [ofBlue],
        ledger: { endedApprovals: new Map([[blue.plan.digest, '2026-11-20T11:59:59Z']]) },
      },
    ],
    [
      'without a code host, if the signatures name commits that were merged',
      {
        fresh: both,
        approvals: [
          approval(blue, { method: 'signature', commit: commit('c') }),
          approval(bob, { method: 'signature', commit: commit('d') }),
        ],
        range: [
          [commit('c'), 0],
          [commit('d'), 1],
        ],
      },
    ],
  ])('%s', async (_, given) => {
    expect(await ask(given)).toMatchObject({ is: 'approved' });
  });

  it('if the ledger has the content of the approved plan, after an interrupted apply', async () => {
    const approved = {
      version: digestVersion,
      digest: both.plan.digest,
      atoms: [...digestItemsOf(both.plan)].sort(),
    };
    const fresh = planning({ colour: 'blue', owner: 'bob' }, { colour: 'blue' });
    const given = { fresh, approvals: [approval(both)], known: [] };
    expect(await ask(given)).toMatchObject({
      is: 'not-approved',
      reasons: [expect.stringContaining('its content is not known')],
    });
    expect(await ask({ ...given, ledger: { approved } })).toMatchObject({ is: 'approved' });
    const forged = { ...approved, atoms: [...digestItemsOf(fresh.plan)] };
    expect(await ask({ ...given, ledger: { approved: forged } })).toMatchObject({ is: 'not-approved' });
  });

  it('and all its approvals are reported', async () => {
    const answer = await ask({ fresh: both, approvals: [ofBlue, ofBob] });
    expect(answer).toMatchObject({
      approvals: [ofBlue, ofBob],
      digests: [blue.plan.digest, bob.plan.digest],
    });
  });

  it('with the later approval only, if that plan showed all changes', async () => {
    const all = approval(both, { commit: commit('b'), pullRequest: 8 });
    expect(await ask({ fresh: both, approvals: [ofBlue, all] })).toMatchObject({ approvals: [all] });
  });
});

describe('Nothing is applied', () => {
  it.each<[string, Case]>([
    ['without an approval', { fresh: blue }],
    ['if only one of two pull requests was approved', { fresh: both, approvals: [ofBlue] }],
    [
      'if drift changed the value before',
      { fresh: planning({ colour: 'blue' }, { colour: 'green' }), approvals: [ofBlue] },
    ],
    [
      'if the same person approved it twice',
      { fresh: blue, approvals: [ofBlue, approval(blue, { by: 'ALICE' })], rules: { count: 2 } },
    ],
    [
      'if one person approved it by two methods, and two people are needed',
      { fresh: blue, approvals: [ofBlue, approval(blue, { method: 'signature' })], rules: { count: 2 } },
    ],
    [
      'if the method does not count',
      { fresh: blue, approvals: [ofBlue], rules: { accept: ['signature', 'environment'] } },
    ],
    [
      'if no method counts for both the last apply and now',
      { fresh: blue, approvals: [ofBlue], rules: { accept: [] } },
    ],
    [
      'if the approval names another commit',
      { fresh: blue, approvals: [approval(blue, { commit: commit('9') })] },
    ],
    [
      'if the approval names the head of another pull request',
      { fresh: blue, approvals: [approval(blue, { commit: commit('b') })] },
    ],
    [
      'if the approval was used up',
      {
        fresh: blue,
        approvals: [ofBlue],
        ledger: { endedApprovals: new Map([[blue.plan.digest, '2026-11-20T12:00:00Z']]) },
      },
    ],
    [
      'if the approval was used up, and does not say when it was given',
      {
        fresh: blue,
        approvals: [approval(blue, { at: '' })],
        ledger: { endedApprovals: new Map([[blue.plan.digest, '2026-11-20T12:00:00Z']]) },
      },
    ],
    [
      'if the content of what was approved is forged',
      { fresh: both, approvals: [ofBlue, ofBob], known: [blue] },
    ],
    [
      'without a code host, if the signature names a commit that was not merged',
      {
        fresh: blue,
        approvals: [approval(blue, { method: 'signature', commit: commit('e') })],
        range: [[commit('c'), 0]],
      },
    ],
  ])('%s', async (_, given) => {
    expect(await ask(given)).toMatchObject({ is: 'not-approved' });
  });

  it('and the difference shows the changes without an approval', async () => {
    const answer = await ask({ fresh: both, approvals: [ofBlue] });
    expect(answer).toMatchObject({
      difference: { changes: [{ fields: [{ path: ['owner'], other: { after: 'bob' } }] }] },
      pulls,
    });
  });

  it('if a source cannot be read', async () => {
    const broken = async () => {
      throw new Error('503');
    };
    const question = {
      planning: blue,
      rules: {},
      range: { base: undefined, line: [], all: [] },
      head,
      ledger: {},
    };
    for (const sources of [{ pulls: broken }, { signatures: broken }, { environment: broken }])
      await expect(findApproval({ ...question, sources })).rejects.toThrow('503');
    const sources = { pulls: async () => pulls, reviews: broken };
    await expect(findApproval({ ...question, sources })).rejects.toThrow('503');
  });
});

describe('A guard of the fresh plan', () => {
  const blocked: Case = { fresh: both, approvals: [ofBlue, ofBob], guards: ['deletes', 'rename'] };

  it('blocks until it is acknowledged', async () => {
    expect(await ask(blocked)).toMatchObject({ is: 'blocked', guards: ['deletes', 'rename'] });
  });

  it('can be acknowledged by an approval, and by labels of an approved pull request', async () => {
    const approvals = [{ ...ofBlue, acknowledged: ['deletes' as const] }, ofBob];
    expect(await ask({ ...blocked, approvals })).toMatchObject({ is: 'blocked', guards: ['rename'] });
    expect(await ask({ ...blocked, approvals, labels: { 8: ['rename'] } })).toMatchObject({ is: 'approved' });
  });

  it('is not acknowledged by an unused approval, or by labels of a pull request without an approval', async () => {
    const all = approval(both, { commit: commit('b'), pullRequest: 8 });
    const approvals = [{ ...ofBlue, acknowledged: ['deletes' as const, 'rename' as const] }, all];
    expect(await ask({ ...blocked, approvals })).toMatchObject({
      is: 'blocked',
      guards: ['deletes', 'rename'],
    });
    const one = {
      fresh: bob,
      approvals: [ofBob],
      guards: ['rename' as const],
      labels: { 7: ['rename' as const] },
    };
    expect(await ask(one)).toMatchObject({ is: 'blocked' });
  });

  it('is not acknowledged by labels if the stack accepts only signatures', async () => {
    const signed = approval(both, { method: 'signature', commit: head });
    const given: Case = {
      ...{
        fresh: both,
        approvals: [signed],
        guards: ['deletes'],
        labels: { 7: ['deletes'] },
        labelled: both,
      },
    };
    expect(await ask({ ...given, rules: { accept: ['signature'] } })).toMatchObject({ is: 'blocked' });
    expect(await ask({ ...given, rules: { accept: ['signature', 'review'] } })).toMatchObject({
      is: 'approved',
    });
    const acknowledged: Case = { ...given, approvals: [{ ...signed, acknowledged: ['deletes'] }] };
    expect(await ask({ ...acknowledged, rules: { accept: ['signature'] } })).toMatchObject({
      is: 'approved',
    });
  });

  it('also blocks a plan that needs no approval', async () => {
    const free: Case = { fresh: both, rules: { accept: ['none'] }, guards: ['deletes'] };
    expect(await ask(free)).toMatchObject({ is: 'blocked', guards: ['deletes'] });
    expect(await ask({ ...free, labels: { 7: ['deletes'] } })).toMatchObject({ is: 'blocked' });
    const labels = { 7: ['deletes' as const] };
    expect(await ask({ ...free, labels, labelled: both })).toMatchObject({ is: 'approved' });
    expect(await ask({ ...free, fresh: planning({}) })).toMatchObject({ is: 'blocked' });
  });
});
