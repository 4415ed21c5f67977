// Who holds a lock, and what a plan does with it. What users see of locks is checked through plans.
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

describe('A declared lock', () => {
  it('is satisfied by any live lock, for any holder and reason', () => {
    expect(planned({ lock: { reason: 'ours' } }, lockedBy(theirs)).changes).toEqual([]);
    expect(planned({ lock: {} }, lockedBy(null)).changes).toEqual([]);
  });

  it('is requested with its reason, and a lock that someone else took first counts as well', () => {
    const change = changeOf(planned({ lock: { reason: 'ours' } }, {}), address);
    expect(change.fields).toMatchObject([{ path: ['lock'], before: null, after: { reason: 'ours' } }]);
    expect(change.calls).toMatchObject([
      { body: { reason: 'ours' }, order: 20, success: [200], already: [409] },
    ]);
  });
});

const ourMarks = { locked: true, lockedBy: ours, lockedReason: 'frozen' };

describe('A lock is ours', () => {
  it.each<[string, Partial<LiveWorkspace>, JsonObject]>([
    ['when it has the holder and the reason of our lock', lockedBy(ours), ourMarks],
    ['when the service does not report the holder', lockedBy(null), ourMarks],
    [
      'when the service did not report the holder when we took it',
      lockedBy(ours),
      { locked: true, lockedReason: 'frozen' },
    ],
    ['when the service does not report the reason', lockedBy(ours, null), ourMarks],
    ['by the declared reason, if the record is from an old version', lockedBy(theirs), { locked: true }],
  ])('%s', (_, live, marks) => {
    const change = changeOf(planned({}, live, recordWith(marks)), address);
    expect(change.calls.map(lineOf)).toEqual([unlock]);
    expect(change.notes).toEqual([]);
    expect(Object.keys(change.preconditions)).toEqual(['locked', 'lockedBy', 'lockedReason']);
  });
});

describe('A lock of someone else', () => {
  const cases: [string, Partial<LiveWorkspace>, JsonObject | undefined][] = [
    ['who locked again after our lock was removed', lockedBy(theirs), ourMarks],
    ['such as a run', lockedBy({ type: 'runs', id: 'run-1' }), ourMarks],
    ['with the same token, for another reason', lockedBy(ours, 'by hand'), ourMarks],
    [
      'with another reason, if the record is from an old version',
      lockedBy(null, 'by hand'),
      { locked: true },
    ],
    ['that we never took', lockedBy(theirs), undefined],
  ];

  it.each(cases)('%s stays, with a note, when the manifest no longer declares a lock', (_, live, marks) => {
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

  it.each(cases)('%s prevents the deletion of the workspace', (_, live, marks) => {
    const plan = planned({}, live, recordWith(marks), { remove: 'safe' });
    expect(plan.changes).toEqual([]);
    expect(plan.notices[0]?.message).toContain('to be deleted, but kept: it is locked');
  });

  it('is not mentioned if neither manifest nor ledger has a lock', () => {
    expect(changeOf(planned({ autoApply: true }, lockedBy(theirs)), address).notes).toEqual([]);
  });
});

it('Our lock is removed when the workspace is released, and before it is deleted', () => {
  const records = recordWith(ourMarks);
  const release = changeOf(planned(undefined, lockedBy(ours), records), address);
  expect(release.calls.map(lineOf)).toEqual([unlock, 'PATCH /workspaces/ws-app']);
  expect(release.notes).toEqual([]);
  expect(linesOf(planned({}, lockedBy(ours), records, { remove: 'safe' }))).toEqual([
    unlock,
    'POST /workspaces/ws-app/actions/safe-delete',
  ]);
});

describe('A lock that is not proved to be ours', () => {
  it.each<[string, Partial<LiveWorkspace>, JsonObject]>([
    ['neither holder nor reason', lockedBy(null, null), ourMarks],
    ['only an empty reason', lockedBy(null, ''), { ...ourMarks, lockedReason: '' }],
    [
      'a reason that it did not report when we took it',
      lockedBy(theirs, ''),
      { locked: true, lockedReason: null },
    ],
  ])('for which the service reports %s, is left alone, and the plan says so', (_, live, marks) => {
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

describe('The record of a lock', () => {
  const change = changeOf(planned({ lock: { reason: 'frozen' } }, {}), address);
  const unlocking = changeOf(planned({}, lockedBy(ours), recordWith(ourMarks)), address);
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

  it('is what the service reported when we took it', () => {
    const answers = new Map([[`${address}#lock`, answer(lockedBy(ours))]]);
    expect(marks({ change, answers })).toEqual(ourMarks);
    const bare = new Map([[`${address}#lock`, { ...answer({}), body: null }]]);
    expect(marks({ change, answers: bare }), 'an answer without a document').toEqual({ locked: true });
    expect(marks({ change }), 'someone else took it').toEqual({});
  });

  it('does not call it ours when the service accepted the lock but left the workspace unlocked', () => {
    const ignored = answer({ attributes: { locked: false, 'locked-reason': '' } });
    const given = marks({ change, answers: new Map([[`${address}#lock`, ignored]]) });
    const records = recordWith(given as JsonObject);
    expect(changeOf(planned({ lock: {} }, {}, records), address).calls.map(lineOf)).toEqual([
      'POST /workspaces/ws-app/actions/lock',
    ]);
    expect(planned({}, lockedBy(theirs), records).changes).toEqual([]);
  });

  it('stays for the same lock, and is completed when the service reports more', () => {
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

  it('is removed only when the service reports that the lock is off', () => {
    const context = {
      change: unlocking,
      live: live({ locked: true, lockedBy: ours }),
      record: record(ourMarks),
    };
    const off = answer({ attributes: { locked: false, 'locked-reason': '' } });
    expect(marks({ ...context, answers: new Map([[`${address}#unlock`, off]]) })).toEqual({});
    const ignored = new Map([[`${address}#unlock`, answer(lockedBy(ours))]]);
    expect(marks({ ...context, answers: ignored })).toEqual(ourMarks);
  });
});

describe('A lock call that is retried after its response was lost, and finds a lock', () => {
  const [call] = changeOf(planned({ lock: { reason: 'frozen' } }, {}), address).calls;

  interface AnswerAbout {
    readonly account?: Json;
    readonly holder?: JsonObject | null;
    readonly reason?: string;
  }

  async function recoverAnswer({ account = { data: ours }, holder = ours, reason = 'frozen' }: AnswerAbout) {
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

  it('recognizes its own lock if the user of its token holds it for the same reason', async () => {
    expect(await recoverAnswer({})).toMatchObject({ status: 200, body: { data: { id: 'ws-app' } } });
  });

  it.each<[string, AnswerAbout]>([
    ['another user holds it', { holder: theirs }],
    ['a team holds it', { holder: { type: 'teams', id: 'user-ci' } }],
    ['the service does not report the holder', { holder: null }],
    ['it is held for another reason', { reason: 'by hand' }],
    ['the service does not report who we are', { account: null }],
    ['the service returns something else', { account: 'hello' }],
  ])('recognizes another lock when %s', async (_, given) => {
    expect(await recoverAnswer(given)).toBeUndefined();
  });
});
