import { describe, expect, it } from 'vitest';
import {
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';

describe('Deleting or releasing a workspace', () => {
  const record = { [address]: { id: 'ws-app' } };
  const locked = { attributes: { locked: true, 'locked-reason': 'frozen' } };
  const removed = (
    live: Partial<LiveWorkspace>,
    records: Situation['records'] = record,
    declared: Situation['declared'] = [],
  ) => changeOf(planFor({ declared, live: [{ name: 'app', ...live }], records }), address);

  it('is a safe delete after all other calls, and 404 is not a success', () => {
    const { action, calls } = removed({});
    expect(action).toBe('delete');
    expect(calls).toMatchObject([
      { method: 'POST', path: ['workspaces', 'ws-app', 'actions', 'safe-delete'], order: 30, success: [204] },
    ]);
  });

  it('removes our own lock first', () => {
    const marks = { locked: true, lockedReason: 'frozen' };
    const { calls } = removed(locked, { [address]: { id: 'ws-app', marks } });
    expect(calls.map((call) => [lineOf(call), call.order])).toEqual([
      ['POST /workspaces/ws-app/actions/unlock', 25],
      ['POST /workspaces/ws-app/actions/safe-delete', 30],
    ]);
    expect(calls[1]?.needs).toEqual([`${address}#unlock`]);
  });

  it('is a forced delete for a removal request with force', () => {
    const { calls } = removed(locked, record, [declare('Workspace', 'app', {}, { remove: 'force' })]);
    expect(calls.map(lineOf)).toEqual(['DELETE /workspaces/ws-app']);
  });

  it('only removes the ownership tag of an adopted workspace', () => {
    const { action, calls, preconditions } = removed(
      { tags: { env: 'prod' }, attributes: { 'source-name': null, 'assessments-enabled': true } },
      { [address]: { id: 'ws-app', origin: 'adopted' } },
    );
    expect(action).toBe('release');
    expect(calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(calls[0]?.body).toEqual({
      data: {
        type: 'workspaces',
        attributes: { 'assessments-enabled': true },
        relationships: {
          'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
        },
      },
    });
    expect(preconditions).toEqual({ direct: { env: 'prod' }, assessmentsEnabled: true });
  });
});
