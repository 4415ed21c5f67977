import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const READ = [
  'can-read-run',
  'can-read-variable',
  'can-read-state-versions',
  'can-read-state-outputs',
  'can-read-settings',
  'can-read-assessment-results',
];
const PLAN = [...READ, 'can-queue-run'];
const WRITE = [
  ...PLAN,
  'can-update-variable',
  'can-create-state-versions',
  'can-queue-apply',
  'can-queue-destroy',
  'can-lock',
  'can-unlock',
];
const ADMIN = [
  ...WRITE,
  'can-update',
  'can-destroy',
  'can-force-unlock',
  'can-manage-tags',
  'can-manage-run-tasks',
  'can-manage-assessments',
  'can-manage-ephemeral-workspaces',
];
const ALL = [...ADMIN, 'can-force-delete'];

const seed = seedWith({
  workspaces: [{ name: 'net', id: 'ws-net', project: 'platform' }],
  teams: [
    { name: 'plan', token: 'plan', 'workspace-access': { net: 'plan' } },
    { name: 'write', token: 'write', 'workspace-access': { net: 'write' } },
    { name: 'admin', token: 'admin', 'workspace-access': { net: 'admin' } },
    { name: 'lockers', token: 'lockers', 'workspace-access': { net: ['can-lock'] } },
    { name: 'project-read', token: 'project-read', 'project-access': { platform: 'read' } },
    { name: 'project-write', token: 'project-write', 'project-access': { platform: 'write' } },
    { name: 'project-maintain', token: 'project-maintain', 'project-access': { platform: 'maintain' } },
    { name: 'one', members: ['bob'], 'workspace-access': { net: ['can-lock'] } },
    { name: 'two', members: ['bob'], 'project-access': { platform: 'read' } },
  ],
});

it.each([
  ['ann', ALL],
  ['managers', ADMIN],
  ['acme-organization', ADMIN],
  ['readers', READ],
  ['plan', PLAN],
  ['write', WRITE],
  ['admin', ADMIN],
  ['project-read', READ],
  ['project-write', WRITE],
  ['project-maintain', ADMIN],
  ['platform-admins', ADMIN],
  ['lockers', ['can-read-run', 'can-lock']],
  ['bob', [...READ, 'can-lock']],
])('shows %s its own permissions', async (token, expected) => {
  const api = await serveForTest({ seed });
  const permissions = (await api.as(token).get('/workspaces/ws-net')).resource.attributes[
    'permissions'
  ] as object;
  const granted = Object.entries(permissions).flatMap(([name, value]) => (value === true ? [name] : []));
  expect(granted.toSorted()).toEqual(expected.toSorted());
  expect(Object.keys(permissions).toSorted()).toEqual(ALL.toSorted());
});

it('hides the workspace from users without access', async () => {
  const api = await serveForTest({ seed });
  expect((await api.as('eve').get('/workspaces/ws-net')).status).toBe(404);
});
