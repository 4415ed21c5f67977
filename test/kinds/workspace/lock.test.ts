// Whose a lock is, and what becomes of it. All that a user sees of it is seen through plans.
import { describe, expect, it, onTestFinished } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
import type { Metadata, Spec } from '../../../src/model/resource.ts';
import type { Answer } from '../../../src/model/http.ts';
import { openCannedOrganization } from '../../support/services/workspaces/open-organization.ts';
import {
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  linesOf,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';
const ours = { type: 'users', id: 'user-ci' };
const theirs = { type: 'users', id: 'user-ann' };

function lockedBy(holder: JsonObject | null, reason: string | null = 'frozen'): Partial<LiveWorkspace> {
  return {
    attributes: { locked: true, 'locked-reason': reason },
    relationships: holder === null ? {} : { 'locked-by': { data: holder } },
  };
}

function recordWith(marks: JsonObject | undefined, reason = 'frozen'): Situation['records'] {
  const about = { id: 'ws-app', origin: 'adopted', fields: { lock: { reason } } } as const;
  return { [address]: marks === undefined ? about : { ...about, marks } };
}

function planned(
  spec: Spec | undefined,
  live: Partial<LiveWorkspace>,
  records: Situation['records'] = {},
  metadata: Partial<Metadata> = {},
) {
  return planFor({
    declared: spec === undefined ? [] : [declare('Workspace', 'app', spec, metadata)],
    live: [{ name: 'app', ...live }],
    records,
  });
}

const unlock = 'POST /workspaces/ws-app/actions/unlock';
const kept = (reason = 'frozen') =>
  `it is locked ("${reason}"), and not by this stack: the lock is left alone`;

describe('A lock that is asked for', () => {
  it('is there already, no matter who holds it and for whatever reason', () => {
    expect(planned({ lock: { reason: 'ours' } }, lockedBy(theirs)).changes).toEqual([]);
    expect(planned({ lock: {} }, lockedBy(null)).changes).toEqual([]);
  });

  it('is asked for with its reason, and a lock that someone else was quicker with is as good', () => {
    const change = changeOf(planned({ lock: { reason: 'ours' } }, {}), address);
    expect(change.fields).toMatchObject([{ path: ['lock'], before: null, after: { reason: 'ours' } }]);
    expect(change.calls).toMatchObject([
      { body: { reason: 'ours' }, order: 20, success: [200], already: [409] },
    ]);
  });
});

const remembered = { locked: true, lockedBy: ours, lockedReason: 'frozen' };

describe('A lock is ours', () => {
  it.each<[string, Partial<LiveWorkspace>, JsonObject]>([
    ['when holder and reason are those of the one that we took', lockedBy(ours), remembered],
    ['when the service does not tell who holds it', lockedBy(null), remembered],
    ['when the service never told who took it', lockedBy(ours), { locked: true, lockedReason: 'frozen' }],
    ['when the service does not tell why', lockedBy(ours, null), remembered],
    ['by the reason that was declared, where the record is from before', lockedBy(theirs), { locked: true }],
  ])('%s', (_, live, marks) => {
    const change = changeOf(planned({}, live, recordWith(marks)), address);
    expect(change.calls.map(lineOf)).toEqual([unlock]);
    expect(change.notes).toEqual([]);
    expect(Object.keys(change.preconditions)).toEqual(['locked', 'lockedBy', 'lockedReason']);
  });
});

describe('A lock of somebody else', () => {
  const cases: [string, Partial<LiveWorkspace>, JsonObject | undefined][] = [
    ['who put it on again after ours was taken off', lockedBy(theirs), remembered],
    ['or of a run', lockedBy({ type: 'runs', id: 'run-1' }), remembered],
    ['by the same token, for another reason', lockedBy(ours, 'by hand'), remembered],
    ['by the reason, where the record is from before', lockedBy(null, 'by hand'), { locked: true }],
    ['that we never took', lockedBy(theirs), undefined],
  ];

  it.each(cases)('%s stays, with a note, when the manifest asks for none any more', (_, live, marks) => {
    const records = recordWith(marks);
    for (const spec of [{}, { lock: null }]) {
      const { changes, notices } = planned(spec, live, records);
      expect(changes).toEqual([]);
      expect(notices).toMatchObject([{ message: kept(String(live.attributes?.['locked-reason'])) }]);
    }
    const { notes, calls } = changeOf(planned({ autoApply: true }, live, records), address);
    expect(calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(notes).toHaveLength(1);
  });

  it.each(cases)('%s stays when the workspace is released', (_, live, marks) => {
    const change = changeOf(planned(undefined, live, recordWith(marks)), address);
    expect(change.action).toBe('release');
    expect(change.calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(change.notes).toEqual([kept(String(live.attributes?.['locked-reason']))]);
  });

  it.each(cases)('%s keeps the workspace from being deleted', (_, live, marks) => {
    const plan = planned({}, live, recordWith(marks), { remove: 'safe' });
    expect(plan.changes).toEqual([]);
    expect(plan.notices[0]?.message).toContain('to be deleted, but kept: it is locked');
  });

  it('is no word worth where nobody asks for anything about locks', () => {
    expect(changeOf(planned({ autoApply: true }, lockedBy(theirs)), address).notes).toEqual([]);
  });
});

it('A lock of ours is taken off when the workspace is released, and before it is deleted', () => {
  const records = recordWith(remembered);
  const release = changeOf(planned(undefined, lockedBy(ours), records), address);
  expect(release.calls.map(lineOf)).toEqual([unlock, 'PATCH /workspaces/ws-app']);
  expect(release.notes).toEqual([]);
  expect(linesOf(planned({}, lockedBy(ours), records, { remove: 'safe' }))).toEqual([
    unlock,
    'POST /workspaces/ws-app/actions/safe-delete',
  ]);
});

describe('A lock that nothing proves to be ours', () => {
  it.each<[string, Partial<LiveWorkspace>, JsonObject]>([
    ['neither who holds it nor why', lockedBy(null, null), remembered],
    ['only that it has no reason', lockedBy(null, ''), { ...remembered, lockedReason: '' }],
    ['what it did not tell when we took it', lockedBy(theirs, ''), { locked: true, lockedReason: null }],
  ])('held as the service says by %s, is left alone, and the plan says so', (_, live, marks) => {
    const records = recordWith(marks);
    const says = 'it is locked, and nothing proves that this stack locked it: the lock is left alone';
    const { changes, notices } = planned({}, live, records);
    expect(changes).toEqual([]);
    expect(notices).toMatchObject([{ message: says }]);
    const release = changeOf(planned(undefined, live, records), address);
    expect(release.calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(release.notes).toEqual([says]);
    expect(planned({}, live, records, { remove: 'safe' }).changes).toEqual([]);
  });
});

describe('What is remembered of a lock', () => {
  const change = changeOf(planned({ lock: { reason: 'frozen' } }, {}), address);
  const unlocking = changeOf(planned({}, lockedBy(ours), recordWith(remembered)), address);
  const answer = (live: Partial<LiveWorkspace>): Answer => {
    const { attributes = {}, relationships = {} } = live;
    const data = { id: 'ws-app', attributes: { name: 'app', ...attributes }, relationships };
    return { method: 'POST', url: '', status: 200, body: { data }, words: '' };
  };
  const live = (facts: JsonObject) => ({ address: change.address, spec: {}, evidence: {}, facts });
  const record = (marks: JsonObject): LedgerRecord => ({
    origin: 'created',
    fields: { lock: { reason: 'frozen' } },
    marks,
  });
  const marks = (context: object) =>
    kind.ledgerMarks?.({ answers: new Map(), desired: {}, idOf: () => undefined, ...context });

  it('is what the service reported it when we took it', () => {
    const answers = new Map([[`${address}#lock`, answer(lockedBy(ours))]]);
    expect(marks({ change, answers })).toEqual(remembered);
    const bare = new Map([[`${address}#lock`, { ...answer({}), body: null }]]);
    expect(marks({ change, answers: bare }), 'an answer without a document').toEqual({ locked: true });
    expect(marks({ change }), 'somebody else took it').toEqual({});
  });

  it('is not that it is ours when the service said yes and left it unlocked', () => {
    const ignored = answer({ attributes: { locked: false, 'locked-reason': '' } });
    const told = marks({ change, answers: new Map([[`${address}#lock`, ignored]]) });
    const records = recordWith(told as JsonObject);
    expect(changeOf(planned({ lock: {} }, {}, records), address).calls.map(lineOf)).toEqual([
      'POST /workspaces/ws-app/actions/lock',
    ]);
    expect(planned({}, lockedBy(theirs), records).changes).toEqual([]);
  });

  it('lasts as long as it is the same lock, and learns what the service reports only now', () => {
    const facts = { locked: true, lockedBy: ours, lockedReason: 'frozen' };
    const known = { locked: true, lockedBy: ours, lockedReason: 'frozen' };
    expect(marks({ live: live(facts), record: record(known) })).toEqual(known);
    expect(marks({ live: live(facts), record: record({ locked: true }) })).toEqual(known);
    const unproved = { locked: true, lockedBy: null, lockedReason: null };
    expect(marks({ live: live(facts), record: record(unproved) })).toEqual(unproved);
    expect(marks({ live: live({ locked: true }), record: record(known) })).toEqual(known);
    expect(marks({ live: live({ ...facts, lockedBy: theirs }), record: record(known) })).toEqual({});
    expect(marks({ live: live({ ...facts, locked: false }), record: record(known) })).toEqual({});
    expect(marks({ live: live(facts) })).toEqual({});
  });

  it('goes when the service says that it is off, and not before', () => {
    const context = {
      change: unlocking,
      live: live({ locked: true, lockedBy: ours }),
      record: record(remembered),
    };
    const off = answer({ attributes: { locked: false, 'locked-reason': '' } });
    expect(marks({ ...context, answers: new Map([[`${address}#unlock`, off]]) })).toEqual({});
    const ignored = new Map([[`${address}#unlock`, answer(lockedBy(ours))]]);
    expect(marks({ ...context, answers: ignored })).toEqual(remembered);
  });
});

describe('A lock call that is repeated after its answer was lost, and finds a lock', () => {
  const [call] = changeOf(planned({ lock: { reason: 'frozen' } }, {}), address).calls;

  interface Told {
    readonly account?: Json;
    readonly holder?: JsonObject | null;
    readonly reason?: string;
  }

  async function recoverAnswer({ account = { data: ours }, holder = ours, reason = 'frozen' }: Told) {
    const attributes = { name: 'app', locked: true, 'locked-reason': reason };
    const relationships = holder === null ? {} : { 'locked-by': { data: holder } };
    const organization = await openCannedOrganization((line) => {
      if (line !== 'GET /account/details')
        return { status: 200, body: { data: { id: 'ws-app', attributes, relationships } } };
      return account === null ? { status: 404 } : { status: 200, body: account };
    });
    onTestFinished(() => organization.close());
    if (call === undefined) throw new Error('no call');
    const about = { address: { kind: 'Workspace', target: 'acme', name: 'app' }, id: 'ws-app' };
    return kind.recoverAnswer?.(organization.session, call, about);
  }

  it('finds its own when its token’s user holds it for the reason that was sent', async () => {
    expect(await recoverAnswer({})).toMatchObject({ status: 200, body: { data: { id: 'ws-app' } } });
  });

  it.each<[string, Told]>([
    ['another user holds it', { holder: theirs }],
    ['a team holds it', { holder: { type: 'teams', id: 'user-ci' } }],
    ['nobody says who holds it', { holder: null }],
    ['it is held for another reason', { reason: 'by hand' }],
    ['the service does not say who we are', { account: null }],
    ['the service answers something else', { account: 'hello' }],
  ])('finds another one when %s', async (_, told) => {
    expect(await recoverAnswer(told)).toBeUndefined();
  });
});
