// Every kind of event that the specification lists, added with the admin API and read back. The tables are written manually
// from the specification (wire/audit-trails 3), and use nothing of the product.

import { afterAll, beforeAll, expect, it } from 'vitest';

import { type RunningServer, startServer } from '../../../src/server/start-server.ts';
import { ADMIN_TOKEN } from '../../support/server/admin-client.ts';
import { readTrail, type TrailEvent } from '../../support/server/audit-trails/read-trail.ts';
import { sendRaw } from '../../support/server/send-raw.ts';
import { SEED, type TestAnswer, type TestError, TestClient } from '../../support/server/serve-for-test.ts';

type Meta = Readonly<Record<string, unknown>>;

let server: RunningServer;
let real: RunningServer;
beforeAll(async () => {
  const options = { data: ':memory:', seed: SEED, relaxed: true, admin: { token: ADMIN_TOKEN } };
  server = await startServer(options);
  real = await startServer({ ...options, dialects: ['hcp-terraform'] });
});
afterAll(() => Promise.all([server.close(), real.close()]));

function add(event: Meta, { url } = server): Promise<TestAnswer> {
  return sendRaw(`${url}/admin/audit-events`, 'POST', {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ organization: 'acme', events: [event] }),
  });
}

/** Adds an event, and returns it as the trail shows it. */
async function addAndRead(event: Meta, { url } = server): Promise<TrailEvent | undefined> {
  const answer = await add(event, { url } as RunningServer);
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  const { ids } = JSON.parse(answer.text) as { ids: string[] };
  const { data } = await readTrail(new TestClient(url, 'ann'));
  return data.find(({ id }) => id === ids[0]);
}

function kindOf(event: string): { type: string; action: string } {
  const [type = '', action = ''] = event.split(' ');
  return { type, action };
}

it.each([
  'agent destroy',
  'authentication_token create',
  'authentication_token show',
  'authentication_token destroy',
  'configuration_version show',
  'configuration_version download',
  'notification_configuration create',
  'notification_configuration update',
  'notification_configuration destroy',
  'notification_configuration enable',
  'oauth_client create',
  'oauth_client update',
  'oauth_client destroy',
  'oauth_token index',
  'oauth_token show',
  'oauth_token update',
  'oauth_token destroy',
  'organization create',
  'organization update',
  'organization destroy',
  'organization_user create',
  'organization_user update',
  'organization_user destroy',
  'policy update',
  'policy destroy',
  'policy_check override',
  'policy_config create',
  'policy_set destroy',
  'policy_version create',
  'project create',
  'project update',
  'project destroy',
  'registry_module destroy',
  'registry_module update',
  'registry_provider create',
  'registry_provider destroy',
  'registry_provider_platform create',
  'registry_provider_platform destroy',
  'registry_provider_version create',
  'registry_provider_version destroy',
  'run apply',
  'run cancel',
  'run force_cancel',
  'run discard',
  'run force_execute',
  'run create',
  'run_trigger create',
  'run_trigger destroy',
  'saml_configuration create',
  'saml_configuration update',
  'saml_configuration destroy',
  'saml_configuration enable',
  'saml_configuration disable',
  'ssh_key index',
  'ssh_key show',
  'ssh_key create',
  'ssh_key update',
  'ssh_key destroy',
  'stack create',
  'state_version index',
  'state_version show',
  'state_version create',
  'state_version soft_delete_backing_data',
  'state_version restore_backing_data',
  'state_version permanently_delete_backing_data',
  'task_stage override',
  'user index',
  'var index',
  'var show',
  'var create',
  'var update',
  'var destroy',
  'vcs_repo create',
])('accepts and shows an event "%s" without meta', async (event) => {
  const { type, action } = kindOf(event);
  expect((await addAndRead({ type, action, resource: 'x-1' }))?.resource).toEqual({
    id: 'x-1',
    type,
    action,
    meta: null,
  });
});

const RUN_AND_WORKSPACE = {
  run: { id: 'run-1', message: 'Queued by hand' },
  workspace: { id: 'ws-1', name: 'network' },
};
const POLICY_CHECK = { comment: null, ...RUN_AND_WORKSPACE };
const RESULTS = {
  ...POLICY_CHECK,
  result: [{ policy: 'no-public-buckets', passed: true }],
  passed: 1,
  total_failed: 0,
  hard_failed: 0,
  soft_failed: 0,
  advisory_failed: 0,
  duration_ms: 12,
  policy_engine: 'no-public-buckets',
};
const OVERRIDDEN = { ...POLICY_CHECK, actor: 'ann' };
const EVALUATION = { comment: 'looks right', payload: RUN_AND_WORKSPACE, actor: 'ann' };
const TASK = {
  task_name: 'scan',
  task_category: 'task',
  task_url: 'https://scan.example.com',
  task_enabled: true,
  task_hmac_key_present: false,
};
const RETENTION = { delete_older_than_n_days: 60, organization: 'acme', organization_id: 'org-1' };
const CALLBACK = {
  task_result_status: 'passed',
  task_result_url: 'https://scan.example.com/1',
  task_result_message: 'nothing found',
  workspace: 'network',
  workspace_id: 'ws-1',
  run_id: 'run-1',
  run_created_at: '2026-03-01T10:00:00.000Z',
  run_created_by: 'ann',
  run_message: 'Queued by hand',
  run_is_speculative: false,
  workspace_task_id: 'wstask-1',
  workspace_task_stage: 'post_plan',
  workspace_task_enforcement: 'mandatory',
  organization_task: 'scan',
  organization_task_id: 'task-1',
  organization_task_url: 'https://scan.example.com',
};
const WORKSPACE_TASK = {
  task_enforcement_level: 'mandatory',
  task_stage: 'post_plan',
  workspace: 'network',
  workspace_id: 'ws-1',
  organization_task: 'scan',
  organization_task_id: 'task-1',
};

const CHECKED = ['comment', 'run.id', 'run.message', 'workspace.id', 'workspace.name'];
const COUNTED = ['passed', 'total_failed', 'hard_failed', 'soft_failed', 'advisory_failed', 'duration_ms'];
const RESULTING = ['result', ...COUNTED, 'policy_engine'];
const EVALUATED = ['payload.workspace.id', 'payload.workspace.name', 'payload.run.id', 'payload.run.message'];
const OF_TASK = ['task_name', 'task_category', 'task_url', 'task_enabled', 'task_hmac_key_present'];
const OF_RESULT = ['task_result_status', 'task_result_url', 'task_result_message'];
const OF_RUN = ['run_id', 'run_created_at', 'run_created_by', 'run_message', 'run_is_speculative'];
const OF_STAGE = ['workspace_task_id', 'workspace_task_stage', 'workspace_task_enforcement'];
const OF_ORGANIZATION = ['organization_task', 'organization_task_id', 'organization_task_url'];
const OF_ASSOCIATION = ['task_enforcement_level', 'task_stage', 'workspace', 'workspace_id'];

/** The meta of each kind: a complete example, and its members as the specification names them. */
const KINDS_WITH_META: readonly (readonly [event: string, meta: Meta, members: readonly string[]])[] = [
  [
    'data_retention_policy destroy',
    RETENTION,
    ['delete_older_than_n_days', 'organization', 'organization_id'],
  ],
  ['project add_team', { team: 'platform', permissions: 'read' }, ['team', 'permissions']],
  ['project update_team_permissions', { team: 'platform', permissions: 'write' }, ['team', 'permissions']],
  ['project remove_team', { team: 'platform' }, ['team']],
  ['workspace add_team', { team: 'platform', permissions: 'read' }, ['team', 'permissions']],
  ['workspace update_team_permissions', { team: 'platform', permissions: 'admin' }, ['team', 'permissions']],
  ['workspace remove_team', { team: 'platform' }, ['team']],
  ['team add_member', { user: 'bob' }, ['user']],
  ['team remove_member', { user: 'bob' }, ['user']],
  ['registry_module destroy_version', { version: 3 }, ['version']],
  ['workspace_comment create', { resource: 'run-1' }, ['resource']],
  ['policy_check queued', POLICY_CHECK, CHECKED],
  ['policy_check passed', RESULTS, [...CHECKED, ...RESULTING]],
  ['policy_check soft_failed', RESULTS, [...CHECKED, ...RESULTING]],
  ['policy_check hard_failed', RESULTS, [...CHECKED, ...RESULTING]],
  ['policy_check errored', RESULTS, [...CHECKED, ...RESULTING]],
  ['policy_check overridden', OVERRIDDEN, [...CHECKED, 'actor']],
  ['policy_check canceled', OVERRIDDEN, [...CHECKED, 'actor']],
  ['policy_check force_canceled', OVERRIDDEN, [...CHECKED, 'actor']],
  ['policy_evaluation queue', EVALUATION, ['comment', ...EVALUATED, 'actor']],
  ['policy_evaluation run', EVALUATION, []],
  ['policy_evaluation pass', EVALUATION, []],
  ['policy_evaluation fail', EVALUATION, []],
  ['policy_evaluation override', EVALUATION, []],
  ['policy_evaluation error', EVALUATION, []],
  ['policy_evaluation cancel', EVALUATION, []],
  ['policy_evaluation force_cancel', EVALUATION, []],
  ['organization_task create', TASK, OF_TASK],
  ['organization_task destroy', TASK, OF_TASK],
  [
    'organization_task update',
    { ...TASK, task_hmac_key_changed: true },
    [...OF_TASK, 'task_hmac_key_changed'],
  ],
  [
    'task_result callback',
    CALLBACK,
    [...OF_RESULT, 'workspace', 'workspace_id', ...OF_RUN, ...OF_STAGE, ...OF_ORGANIZATION],
  ],
  ['workspace_task create', WORKSPACE_TASK, [...OF_ASSOCIATION, 'organization_task', 'organization_task_id']],
  ['workspace_task update', WORKSPACE_TASK, [...OF_ASSOCIATION, 'organization_task', 'organization_task_id']],
  [
    'workspace_task destroy',
    WORKSPACE_TASK,
    [...OF_ASSOCIATION, 'organization_task', 'organization_task_id'],
  ],
];

it.each(KINDS_WITH_META)('accepts an event "%s" and shows all of its meta', async (event, meta) => {
  const kind = kindOf(event);
  expect((await addAndRead({ ...kind, meta }))?.resource).toMatchObject({ ...kind, meta });
});

/** The meta with another value at a path, or without it. */
function changed(meta: Meta, [first = '', ...rest]: readonly string[], value: unknown): Meta {
  const inner = rest.length === 0 ? value : changed(meta[first] as Meta, rest, value);
  return { ...meta, [first]: inner };
}

const memberCases = KINDS_WITH_META.flatMap(([event, meta, members]) =>
  members.map((member) => [event, member, meta] as const),
);

it.each(memberCases)(
  'refuses an event "%s" whose %s is missing or of another type',
  async (event, member, meta) => {
    const path = member.split('.');
    const pointer = `/events/0/meta/${path.join('/')}`;
    const kind = kindOf(event);
    for (const value of [undefined, { not: 'this' }]) {
      const answer = await add({ ...kind, meta: changed(meta, path, value) });
      expect([value, answer.status]).toEqual([value, 422]);
      // A missing member is reported at its parent.
      const place = value === undefined ? pointer.slice(0, pointer.lastIndexOf('/')) : pointer;
      expect(answer.errors).toMatchObject([{ source: { pointer: place } }]);
    }
  },
);

it('refuses a retention of 0 days', async () => {
  const meta = { ...RETENTION, delete_older_than_n_days: 0 };
  expect((await add({ ...kindOf('data_retention_policy destroy'), meta })).status).toBe(422);
});

it('accepts a comment that is a text or null', async () => {
  const meta = { ...POLICY_CHECK, comment: 'as agreed' };
  expect((await addAndRead({ ...kindOf('policy_check queued'), meta }))?.resource.meta).toEqual(meta);
});

it('names the policy engine as the real service does, in its dialect', async () => {
  const event = await addAndRead({ ...kindOf('policy_check passed'), meta: RESULTS }, real);
  expect(event?.resource.meta).toMatchObject({ sentinel: 'no-public-buckets' });
  expect(event?.resource.meta).not.toHaveProperty('policy_engine');
});

const problem = (answer: TestAnswer): TestError | undefined => answer.errors[0];

it.each([
  ['an unknown type', { type: 'stork', action: 'create' }, '/events/0/type', 'workspace'],
  ['an action that its type does not have', { type: 'stack', action: 'lock' }, '/events/0/action', 'create'],
  [
    'a member that its kind does not have',
    { type: 'team', action: 'add_member', meta: { user: 'bob', by: 'me' } },
    '/events/0/meta/by',
    'known',
  ],
  ['a meta that is not a map', { type: 'stack', action: 'create', meta: 'x' }, '/events/0/meta', 'map'],
  ['no action', { type: 'stack' }, '/events/0', 'action'],
  ['an invalid time', { type: 'stack', action: 'create', at: 'soon' }, '/events/0/at', 'time'],
  [
    'a request id that is not a UUID',
    { type: 'stack', action: 'create', 'request-id': '7' },
    '/events/0/request-id',
    'UUID',
  ],
  [
    'an impersonator but no actor',
    { type: 'stack', action: 'create', 'impersonated-by': 'bob' },
    '/events/0/impersonated-by',
    'by',
  ],
  ['an unknown actor', { type: 'stack', action: 'create', by: 'zoe' }, '', 'zoe'],
])('refuses an event with %s, and names the place', async (_, event, pointer, why) => {
  const answer = await add(event);
  expect([answer.status, problem(answer)?.source?.pointer]).toEqual([422, pointer]);
  expect(problem(answer)?.detail).toContain(why);
});
