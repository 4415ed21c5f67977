import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Plan } from '../../../src/model/plan.ts';
import {
  declare,
  lineOf,
  type LiveWorkspace,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

/** `PATCH /workspaces/ws-app: can-update`, for each call of a plan. */
function rightsIn(plan: Plan): string[] {
  expect(plan.problems).toEqual([]);
  return plan.changes.flatMap(({ calls }) => calls.map((call) => `${lineOf(call)}: ${call.permission}`));
}

const reader: LiveWorkspace = { name: 'reader', ownershipTag: null };
const everything = [
  declare('Workspace', 'app', {
    description: 'x',
    sshKeyId: 'sshkey-1',
    tagNames: ['new'],
    dataRetentionPolicy: { dontDelete: true },
    lock: {},
  }),
  declare('TagBindings', 'app', { tags: { env: 'prod' } }),
  declare('RemoteStateConsumers', 'app', { consumers: ['reader'] }),
];

function planned(live: Partial<LiveWorkspace>, about: Partial<Situation> = {}) {
  return planFor({ declared: everything, live: [{ name: 'app', ...live }, reader], ...about });
}

describe('Each call names the permission that it needs', () => {
  it('to change a workspace and its children', () => {
    expect(rightsIn(planned({ attributes: { 'tag-names': ['old'] } })).toSorted()).toEqual([
      'DELETE /workspaces/ws-app/relationships/tags: can-manage-tags',
      'PATCH /workspaces/ws-app/relationships/ssh-key: can-update',
      'PATCH /workspaces/ws-app: can-update',
      'PATCH /workspaces/ws-app: can-update',
      'POST /workspaces/ws-app/actions/lock: can-lock',
      'POST /workspaces/ws-app/relationships/data-retention-policy: can-update',
      'POST /workspaces/ws-app/relationships/remote-state-consumers: can-update',
      'POST /workspaces/ws-app/relationships/tags: can-manage-tags',
    ]);
  });

  it('to add tags if the service can add single tags', () => {
    const declared = [
      declare('Workspace', 'app', {}, { adopt: true }),
      declare('TagBindings', 'app', { tags: { env: 'prod' } }),
    ];
    expect(rightsIn(planned({ ownershipTag: null }, { declared, dialect: 'hcp-terraform' }))).toEqual([
      'PATCH /workspaces/ws-app/tag-bindings: can-manage-tags',
      'PATCH /workspaces/ws-app/tag-bindings: can-manage-tags',
    ]);
  });

  it.each([
    ['safe', 'POST /workspaces/ws-app/actions/safe-delete: can-destroy'],
    ['force', 'DELETE /workspaces/ws-app: can-force-delete'],
  ] as const)('to delete a workspace (%s)', (remove, call) => {
    expect(rightsIn(planned({}, { declared: [declare('Workspace', 'app', {}, { remove })] }))).toEqual([
      call,
    ]);
  });
});

describe('A plan predicts calls that the token has no permission for', () => {
  const notesOf = (permissions: JsonObject | null) =>
    planned({ attributes: { permissions } }).changes.flatMap(({ notes }) => notes);

  it('only if the service reports the permission', () => {
    expect(notesOf({})).toEqual([]);
    expect(notesOf(null)).toEqual([]);
    expect(notesOf({ 'can-update': true, 'can-lock': 'no', 'can-destroy': false })).toEqual([]);
  });

  it('and names the setting that allows a forced delete', () => {
    const removed = { declared: [declare('Workspace', 'app', {}, { remove: 'force' })] };
    const { changes } = planned({ attributes: { permissions: { 'can-force-delete': false } } }, removed);
    const [note = ''] = changes.flatMap(({ notes }) => notes).filter((one) => one.includes('refuse'));
    expect(note).toContain('this token lacks "can-force-delete", needed for: delete');
    expect(note).toContain('the setting "allow-force-delete-workspaces" of the organization');
  });

  it('for each change separately', () => {
    expect(notesOf({ 'can-lock': false })).toEqual([
      'the service will refuse this: this token lacks "can-lock", needed for: lock',
    ]);
    expect(notesOf({ 'can-update': false })).toHaveLength(3);
  });
});
