import { describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { Spec } from '../../../src/model/resource.ts';
import {
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  planFor,
  type Situation,
} from '../../targets/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';
const locked = { attributes: { locked: true, 'locked-reason': 'maintenance' } };

function planned(spec: Spec, live?: Partial<LiveWorkspace>, records: Situation['records'] = {}) {
  return planFor({
    declared: [declare('Workspace', 'app', spec)],
    live: live === undefined ? [] : [{ name: 'app', ...live }],
    records,
  });
}

describe('A lock', () => {
  const held = { [address]: { id: 'ws-app', fields: { lock: { reason: 'x' } }, marks: { locked: true } } };
  const heldByOthers = { [address]: { id: 'ws-app', fields: { lock: { reason: 'x' } } } };

  it('is there already, whoever holds it and for whatever reason', () => {
    expect(planned({ lock: { reason: 'ours' } }, locked).changes).toEqual([]);
    expect(planned({ lock: {} }, locked).changes).toEqual([]);
  });

  it('is asked for with its reason, and a lock that someone else was quicker with is as good', () => {
    const change = changeOf(planned({ lock: { reason: 'ours' } }, {}), address);
    expect(change.fields).toMatchObject([{ path: ['lock'], before: null, after: { reason: 'ours' } }]);
    expect(change.calls).toMatchObject([
      { body: { reason: 'ours' }, order: 20, success: [200], already: [409] },
    ]);
  });

  it.each<[string, Spec]>([
    ['null', { lock: null }],
    ['no longer declared', {}],
  ])('that is ours goes when it is %s', (_, spec) => {
    const change = changeOf(planned(spec, locked, held), address);
    expect(change.calls.map(lineOf)).toEqual(['POST /workspaces/ws-app/actions/unlock']);
  });

  it('of someone else stays, with a note when the manifest has anything to say about it', () => {
    expect(planned({ lock: null }, locked).changes).toEqual([]);
    expect(planned({}, locked, heldByOthers).changes).toEqual([]);
    const change = changeOf(planned({ lock: null, autoApply: true }, locked), address);
    expect(change.notes).toEqual([
      'it is locked ("maintenance"), and not by this stack: the lock is left alone',
    ]);
    expect(changeOf(planned({ autoApply: true }, locked), address).notes).toEqual([]);
  });

  it('is remembered as ours only when we took it, and only as long as it holds', () => {
    const change = changeOf(planned({ lock: {} }, {}), address);
    const marks = (context: object) =>
      kind.marks?.({ answers: new Map(), desired: {}, idOf: () => undefined, ...context });
    const live = { address: change.address, spec: {}, witness: {}, facts: { locked: true } };
    const record = { origin: 'created', fields: {}, marks: { locked: true } } as const;
    const locked = { method: 'POST', url: '', status: 200, body: null, words: '' };
    const answers = new Map([[change.calls.at(-1)?.id ?? '', locked]]);
    expect(marks({ change, answers, desired: { lock: {} } })).toEqual({ locked: true });
    expect(marks({ change, desired: { lock: {} } }), 'somebody else took it').toEqual({});
    expect(marks({ desired: { lock: {} }, live, record })).toEqual({ locked: true });
    expect(marks({ desired: { lock: {} }, live })).toEqual({});
    expect(marks({ desired: { lock: {} }, live: { ...live, facts: { locked: false } }, record })).toEqual({});
    expect(marks({ desired: {}, live, record })).toEqual({});
  });
});

describe('A repository', () => {
  const repository = {
    identifier: 'acme/network',
    'oauth-token-id': 'ot-1',
    'vcs-app-installation-id': null,
  };

  it('that is new needs its identifier and a connection, and the plan says so', () => {
    for (const vcsRepo of [{ branch: 'main' }, { identifier: 'a/b' }, { oauthTokenId: 'ot-1' }]) {
      expect(planned({ vcsRepo }, {}).problems).toMatchObject([
        { code: 'vcs-repo-incomplete', class: 'invalid' },
      ]);
      expect(planned({ vcsRepo }).problems).toHaveLength(1);
    }
    expect(planned({ vcsRepo: { identifier: 'a/b', oauthTokenId: 'ot-1' } }, {}).problems).toEqual([]);
  });

  it('that is there may be changed in part', () => {
    const plan = planned({ vcsRepo: { branch: 'main' } }, { attributes: { 'vcs-repo': repository } });
    expect(plan.problems).toEqual([]);
  });

  it('shows that a new connection takes the place of the old one', () => {
    const plan = planned(
      { vcsRepo: { vcsAppInstallationId: 'app-1' } },
      { attributes: { 'vcs-repo': repository } },
    );
    expect(changeOf(plan, address).fields).toMatchObject([
      { path: ['vcsRepo', 'oauthTokenId'], before: 'ot-1', after: null },
      { path: ['vcsRepo', 'vcsAppInstallationId'], before: null, after: 'app-1' },
    ]);
  });
});

describe('What the service will refuse', () => {
  const live = (attributes: Record<string, never | unknown>, facts = {}) => ({
    address: { kind: 'Workspace', target: 'acme', name: 'app' },
    spec: {},
    witness: {},
    facts: {
      locked: false,
      lockedReason: '',
      resourceCount: 0,
      ...attributes,
      ...facts,
    } as never,
  });
  const record = { origin: 'created', fields: {}, marks: { locked: true } } as const;

  it('is a delete of what manages resources or is locked by others', () => {
    expect(kind.obstacles?.(live({}), 'delete')).toEqual([]);
    expect(kind.obstacles?.(live({ resourceCount: 1 }), 'delete')).toEqual([
      'it manages 1 resource, and a safe delete refuses that',
    ]);
    expect(kind.obstacles?.(live({ locked: true, lockedReason: 'frozen' }), 'delete')).toEqual([
      'it is locked ("frozen")',
    ]);
    expect(kind.obstacles?.(live({ locked: true }), 'delete', record)).toEqual([]);
  });
});

describe('A workspace with all the tags it can have', () => {
  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));
  const adopted = (count: number) =>
    planFor({
      declared: [declare('Workspace', 'app', {}, { adopt: true })],
      live: [{ name: 'app', claim: null, tags: tags(count) }],
    });

  it('cannot be adopted, and the plan says so', () => {
    expect(adopted(10).problems).toMatchObject([{ code: 'no-room-for-claim', class: 'conflict' }]);
    expect(adopted(9).problems).toEqual([]);
  });

  it('is no problem once one of them is the claim', () => {
    expect(planned({}, { tags: tags(9) }).problems).toEqual([]);
  });
});
