import type { CallValue } from '../../../src/model/call.ts';
import { describe, expect, it } from 'vitest';
import { remoteStateConsumers as kind } from '../../../src/kinds/remote-state-consumers/index.ts';
import type { Json } from '../../../src/model/json.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
import {
  at,
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'RemoteStateConsumers/acme/app';
const readers: readonly LiveWorkspace[] = ['one', 'two', 'three'].map((name) => ({
  name,
  ownershipTag: null,
}));
const shared = { attributes: { 'global-remote-state': true } };

function planned(consumers: readonly string[], live: Partial<LiveWorkspace>, about: Partial<Situation> = {}) {
  return planFor({
    declared: [declare('Workspace', 'app'), declare('RemoteStateConsumers', 'app', { consumers })],
    live: [{ name: 'app', ...live }, ...readers],
    ...about,
  });
}

function ids(body: CallValue | undefined): Json[] {
  const data = at(body, 'data');
  return Array.isArray(data) ? data.map((item: Json) => at(item, 'id') ?? null) : [];
}

const relation = '/relationships/remote-state-consumers';

describe('Changing the consumers of a state', () => {
  it('adds and removes single consumers, and never replaces the list', () => {
    const { calls } = changeOf(planned(['two', 'three'], { consumers: ['one', 'two'] }), address);
    expect(calls.map((call) => [lineOf(call), call.body])).toEqual([
      [`POST /workspaces/ws-app${relation}`, { data: [{ type: 'workspaces', id: 'ws-three' }] }],
      [`DELETE /workspaces/ws-app${relation}`, { data: [{ type: 'workspaces', id: 'ws-one' }] }],
    ]);
    for (const call of calls) expect(call).toMatchObject({ order: 10, success: [204], repeatable: true });
  });

  it('refers to workspaces that the same plan creates, as consumer and as producer', () => {
    const plan = planFor({
      declared: [
        ...['app', 'other'].map((name) => declare('Workspace', name)),
        declare('RemoteStateConsumers', 'app', { consumers: ['other'] }),
        declare('RemoteStateConsumers', 'other', { consumers: ['app'] }),
      ],
    });
    expect(plan.problems).toEqual([]);
    const [call] = changeOf(plan, address).calls;
    expect(call && lineOf(call)).toBe(`POST /workspaces/<Workspace/acme/app>${relation}`);
    expect(ids(call?.body)).toEqual([{ $id: 'Workspace/acme/other' }]);
    expect(call?.needs.toSorted()).toEqual(['Workspace/acme/app#create', 'Workspace/acme/other#create']);
  });

  it('finds a consumer by its id after it was renamed in the service', () => {
    const plan = planFor({
      declared: [
        declare('Workspace', 'app'),
        declare('Workspace', 'reader'),
        declare('RemoteStateConsumers', 'app', { consumers: ['reader'] }),
      ],
      live: [
        { name: 'app', consumers: ['moved'] },
        { name: 'moved', id: 'ws-reader' },
      ],
      records: { 'Workspace/acme/reader': { id: 'ws-reader' } },
    });
    expect(plan.changes.map(({ address: { kind: name } }) => name)).toEqual(['Workspace']);
  });

  it('reports a consumer that is neither live nor declared', () => {
    expect(planned(['nobody'], {}).problems).toMatchObject([{ code: 'unknown-reference' }]);
  });
});

describe('Global sharing', () => {
  it('that ends in the same plan is followed by the whole list, because the former list is unknown', () => {
    const declared = [
      declare('Workspace', 'app', { globalRemoteState: false }),
      declare('RemoteStateConsumers', 'app', { consumers: ['one'] }),
    ];
    const change = changeOf(planned([], shared, { declared }), address);
    expect(change.fields).toMatchObject([
      { path: ['consumers'], after: ['one'], unknown: 'unknown while shared globally' },
    ]);
    expect(change.calls.map(lineOf)).toEqual([`PATCH /workspaces/ws-app${relation}`]);
    expect(change.calls[0]?.needs).toEqual(['Workspace/acme/app#update']);
    expect(ids(change.calls[0]?.body)).toEqual(['ws-one']);
  });

  it('that is no longer declared ends as well', () => {
    const records = { 'Workspace/acme/app': { id: 'ws-app', fields: { globalRemoteState: true } } };
    const plan = planned(['one'], shared, { records });
    expect(plan.problems).toEqual([]);
    expect(changeOf(plan, address).calls.map(lineOf)).toEqual([`PATCH /workspaces/ws-app${relation}`]);
  });

  it('that is on and undeclared contradicts a list of consumers, and the plan shows the line to add', () => {
    const plan = planned(['one'], shared);
    expect(plan.problems).toMatchObject([
      { code: 'consumers-while-global', fix: expect.stringContaining('globalRemoteState: false') },
    ]);
  });

  it('that begins waits until the list of a removed document is withdrawn', () => {
    const plan = planned(
      ['one'],
      { consumers: ['one'] },
      {
        declared: [declare('Workspace', 'app', { globalRemoteState: true })],
        records: {
          [address]: { id: 'ws-app', fields: { consumers: ['one'] }, marks: { edges: { one: 'ws-one' } } },
        },
      },
    );
    const [removal] = changeOf(plan, address).calls;
    const [update] = changeOf(plan, 'Workspace/acme/app').calls;
    expect(removal && lineOf(removal)).toBe(`DELETE /workspaces/ws-app${relation}`);
    expect(removal?.order).toBeLessThan(update?.order ?? 0);
  });
});

describe('A removed document', () => {
  const record = {
    fields: { consumers: ['one', 'two'] },
    marks: { edges: { one: 'ws-one', two: 'ws-two' } },
  };

  it('revokes only the access that it gave', () => {
    const plan = planned(
      [],
      { consumers: ['one', 'three'] },
      {
        declared: [declare('Workspace', 'app')],
        records: { [address]: { id: 'ws-app', ...record } },
      },
    );
    const change = changeOf(plan, address);
    expect(change).toMatchObject({
      action: 'delete',
      fields: [{ before: ['one', 'three'], after: ['three'] }],
    });
    expect(change.calls.map((call) => [lineOf(call), ids(call.body)])).toEqual([
      [`DELETE /workspaces/ws-app${relation}`, ['ws-one']],
    ]);
  });

  it('revokes nothing while everyone may read the state', () => {
    const plan = planned([], shared, {
      declared: [declare('Workspace', 'app')],
      records: { [address]: { id: 'ws-app', ...record } },
    });
    expect(plan.changes).toEqual([]);
  });

  it('is recorded with the names of consumers and their ids', () => {
    const live = {
      address: { kind: kind.name, target: 'acme', name: 'app' },
      spec: {},
      evidence: {},
      facts: {},
    };
    const idOf = ({ name }: { name: string }) => (name === 'gone' ? undefined : `ws-${name}`);
    expect(
      kind.ledgerMarks?.({ answers: new Map(), desired: { consumers: ['one', 'gone'] }, live, idOf }),
    ).toEqual({
      edges: { one: 'ws-one' },
    });
  });

  it('revokes access by the id of a consumer, even if it was renamed', () => {
    const known: LedgerRecord = { origin: 'created', ...record };
    const live = {
      address: { kind: kind.name, target: 'acme', name: 'app' },
      spec: { consumers: ['renamed', 'other'] },
      evidence: {},
      facts: { global: false, edges: { renamed: 'ws-one', other: 'ws-other' } },
    };
    expect(kind.withdrawAccess?.(known, live)).toEqual({ consumers: ['other'] });
  });
});
