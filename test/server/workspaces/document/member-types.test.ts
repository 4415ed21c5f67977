// The type of every member of a workspace document, for a workspace without any optional value and for one with all of them.

import { describe, expect, it } from 'vitest';

import {
  seedWith,
  serveForTest,
  type TestClient,
  type TestResource,
} from '../../../support/server/serve-for-test.ts';

/** Whether a value is of a type, and of no other one. */
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  timestamp: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  strings: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const ALWAYS: readonly [name: string, type: string][] = [
  ['actions', 'object'],
  ['allow-destroy-plan', 'boolean'],
  ['assessments-enabled', 'boolean'],
  ['auto-apply', 'boolean'],
  ['auto-apply-run-trigger', 'boolean'],
  ['created-at', 'timestamp'],
  ['updated-at', 'timestamp'],
  ['latest-change-at', 'timestamp'],
  ['environment', 'string'],
  ['execution-mode', 'string'],
  ['operations', 'boolean'],
  ['file-triggers-enabled', 'boolean'],
  ['global-remote-state', 'boolean'],
  ['locked', 'boolean'],
  ['name', 'string'],
  ['permissions', 'object'],
  ['queue-all-runs', 'boolean'],
  ['resource-count', 'integer'],
  ['source', 'string'],
  ['speculative-enabled', 'boolean'],
  ['structured-run-output-enabled', 'boolean'],
  ['tag-names', 'strings'],
  ['engine-version', 'string'],
  ['trigger-prefixes', 'strings'],
  ['trigger-patterns', 'strings'],
  ['setting-overwrites', 'object'],
];

/** Null on the workspace without optional values. */
const NULLABLE: readonly [name: string, type: string][] = [
  ['apply-duration-average', 'number'],
  ['plan-duration-average', 'number'],
  ['auto-destroy-at', 'timestamp'],
  ['auto-destroy-activity-duration', 'string'],
  ['inherits-project-auto-destroy', 'boolean'],
  ['description', 'string'],
  ['locked-reason', 'string'],
  ['oauth-client-name', 'string'],
  ['policy-check-failures', 'number'],
  ['run-failures', 'number'],
  ['workspace-kpis-runs-count', 'number'],
  ['source-name', 'string'],
  ['vcs-repo', 'object'],
  ['vcs-repo-identifier', 'string'],
  ['working-directory', 'string'],
];

const REPOSITORY: readonly [name: string, type: string][] = [
  ['branch', 'string'],
  ['display-identifier', 'string'],
  ['identifier', 'string'],
  ['ingress-submodules', 'boolean'],
  ['oauth-token-id', 'string'],
  ['repository-http-url', 'string'],
  ['service-provider', 'string'],
  ['tags-regex', 'string'],
  ['webhook-url', 'string'],
];

const PERMISSIONS = [
  ...[
    'can-update',
    'can-destroy',
    'can-queue-run',
    'can-read-run',
    'can-read-variable',
    'can-update-variable',
  ],
  ...['can-read-state-versions', 'can-read-state-outputs', 'can-create-state-versions', 'can-queue-apply'],
  ...['can-lock', 'can-unlock', 'can-force-unlock', 'can-read-settings', 'can-manage-tags'],
  ...[
    'can-manage-run-tasks',
    'can-force-delete',
    'can-manage-assessments',
    'can-manage-ephemeral-workspaces',
  ],
  ...['can-read-assessment-results', 'can-queue-destroy'],
];

/** The permissions of a team that may read a workspace. */
const OF_READERS = [
  ...['can-read-run', 'can-read-variable', 'can-read-state-versions', 'can-read-state-outputs'],
  ...['can-read-settings', 'can-read-assessment-results'],
];

async function serveTwo(): Promise<{ api: TestClient; empty: TestResource; full: TestResource }> {
  const runs = [{ status: 'applied' as const, 'plan-duration': 1000, 'apply-duration': 2000 }];
  const seeded = {
    name: 'full',
    id: 'ws-full',
    project: 'sandbox',
    runs,
    'source-name': 'pipeline',
    tags: ['net'],
  };
  const api = await serveForTest({ seed: seedWith({ workspaces: [seeded] }) });
  const empty = (await api.create({ name: 'empty' })).resource;
  const updated = await api.update('ws-full', {
    description: 'All of it',
    'working-directory': 'envs/prod',
    'vcs-repo': {
      identifier: 'acme/net',
      'oauth-token-id': 'ot-git',
      branch: 'main',
      'ingress-submodules': true,
      'tags-regex': '^v',
    },
  });
  expect(updated.status).toBe(200);
  await api.post('/workspaces/ws-full/actions/lock', { reason: 'deploy' });
  const full = (await api.get('/workspaces/ws-full')).resource;
  return { api, empty, full };
}

describe('a workspace document', () => {
  it.each(ALWAYS)('always has %s, of the type %s', async (name, type) => {
    const { empty, full } = await serveTwo();
    for (const { attributes } of [empty, full])
      expect(attributes[name]).toSatisfy(TYPES[type] ?? expect.fail);
  });

  it.each(NULLABLE)('has null for %s when it is not set, else a value of the type %s', async (name, type) => {
    const { empty, full } = await serveTwo();
    expect(empty.attributes[name]).toBeNull();
    expect(full.attributes[name]).toSatisfy(TYPES[type] ?? expect.fail);
  });

  it.each(REPOSITORY)('has %s of its repository, of the type %s', async (name, type) => {
    const { full } = await serveTwo();
    const repo = full.attributes['vcs-repo'] as Record<string, unknown>;
    expect(repo[name]).toSatisfy(TYPES[type] ?? expect.fail);
    expect(Object.keys(repo).sort()).toEqual(REPOSITORY.map(([key]) => key).sort());
  });

  it.each(PERMISSIONS)('shows whether the caller has the permission %s', async (permission) => {
    const { api, empty } = await serveTwo();
    const reader = (await api.as('readers').get(`/workspaces/${empty.id}`)).resource;
    const own = empty.attributes['permissions'] as Record<string, unknown>;
    const theirs = reader.attributes['permissions'] as Record<string, unknown>;
    expect([own[permission], theirs[permission]]).toEqual([true, OF_READERS.includes(permission)]);
    expect(Object.keys(own).sort()).toEqual([...PERMISSIONS].sort());
  });

  it('has the two settings that override defaults, each a boolean', async () => {
    const { empty } = await serveTwo();
    expect(empty.attributes['setting-overwrites']).toEqual({ 'execution-mode': false, 'agent-pool': false });
    expect(empty.attributes['actions']).toEqual({ 'is-destroyable': true });
  });

  it('has the deprecated latest-run beside current-run, and the same in both', async () => {
    const { empty, full } = await serveTwo();
    expect(full.relationships['latest-run']?.data).toMatchObject({ type: 'runs', id: expect.any(String) });
    for (const { relationships } of [empty, full]) {
      expect(relationships['latest-run']?.data).toEqual(relationships['current-run']?.data);
    }
  });

  it.each(['remote-state-consumers', 'tag-bindings', 'effective-tag-bindings'])(
    'has only a link for %s, which works',
    async (name) => {
      const { api, empty } = await serveTwo();
      const { data, links } = empty.relationships[name] ?? {};
      expect(data).toBeUndefined();
      expect((await api.get(links?.related.replace('/api/v2', '') ?? '')).status).toBe(200);
    },
  );

  it('has relative links to itself, which work', async () => {
    const { api, full } = await serveTwo();
    expect(full.links?.['self-html']).toMatch(/^\/app\//);
    expect((await api.get(full.links?.['self']?.replace('/api/v2', '') ?? '')).resource).toEqual(full);
  });

  it('has the current state version if there is one', async () => {
    const workspaces = [{ name: 'a', id: 'ws-a', 'intermediate-state-version': 'finalized' as const }];
    const api = await serveForTest({ seed: seedWith({ workspaces }) });
    const current = async () =>
      (await api.get('/workspaces/ws-a')).resource.relationships['current-state-version'];
    expect((await current())?.data).toBeNull();
    await api.post('/workspaces/ws-a/actions/lock');
    await api.post('/workspaces/ws-a/actions/unlock');
    expect((await current())?.data).toMatchObject({ type: 'state-versions' });
  });
});
