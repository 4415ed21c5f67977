import { expect, it } from 'vitest';

import { bindings, identifiers, seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const ATTRIBUTES = [
  'actions',
  'allow-destroy-plan',
  'apply-duration-average',
  'plan-duration-average',
  'assessments-enabled',
  'last-assessment-result-at',
  'auto-apply',
  'auto-apply-run-trigger',
  'auto-destroy-at',
  'auto-destroy-status',
  'auto-destroy-activity-duration',
  'inherits-project-auto-destroy',
  'created-at',
  'updated-at',
  'latest-change-at',
  'description',
  'environment',
  'execution-mode',
  'operations',
  'file-triggers-enabled',
  'global-remote-state',
  'locked',
  'locked-reason',
  'name',
  'oauth-client-name',
  'permissions',
  'policy-check-failures',
  'queue-all-runs',
  'resource-count',
  'run-failures',
  'workspace-kpis-runs-count',
  'source',
  'source-name',
  'source-url',
  'speculative-enabled',
  'structured-run-output-enabled',
  'tag-names',
  'engine-version',
  'trigger-prefixes',
  'trigger-patterns',
  'vcs-repo',
  'vcs-repo-identifier',
  'working-directory',
  'setting-overwrites',
];

const RELATIONSHIPS = [
  'agent-pool',
  'current-configuration-version',
  'current-run',
  'latest-run',
  'current-state-version',
  'current-assessment-result',
  'organization',
  'outputs',
  'project',
  'readme',
  'ssh-key',
  'locked-by',
  'vars',
  'remote-state-consumers',
  'tag-bindings',
  'effective-tag-bindings',
];

it('the document has every attribute and relationship of the spec, and no others', async () => {
  const api = await serveForTest();
  const { resource } = await api.create({ name: 'a' });
  expect(Object.keys(resource.attributes).toSorted()).toEqual(ATTRIBUTES.toSorted());
  expect(Object.keys(resource.relationships).toSorted()).toEqual(RELATIONSHIPS.toSorted());
  expect(resource.attributes['actions']).toEqual({ 'is-destroyable': true });
  expect(resource.links).toEqual({
    self: '/api/v2/organizations/acme/workspaces/a',
    'self-html': '/app/acme/workspaces/a',
  });
});

it('the document refers to the organization by name and to the project by id', async () => {
  const api = await serveForTest();
  const { relationships } = (await api.create({ name: 'a' })).resource;
  expect(relationships['organization']?.data).toEqual({ id: 'acme', type: 'organizations' });
  expect(relationships['project']?.data).toEqual({ id: expect.stringMatching(/^prj-/), type: 'projects' });
  expect(relationships['locked-by']).toEqual({ data: null });
  expect(relationships['outputs']).toEqual({ data: [] });
});

it('the document is the same in create, show, list, update and consumers', async () => {
  const api = await serveForTest();
  const attributes = { name: 'a', 'execution-mode': 'agent', 'agent-pool-id': 'apool-builders' };
  const created = (await api.create(attributes, bindings({ env: 'prod' }))).resource;
  const subject = await api.created({ name: 'subject' });
  await api.post(`/workspaces/${subject}/relationships/remote-state-consumers`, identifiers([created.id]));
  expect((await api.get(`/workspaces/${created.id}`)).resource).toEqual(created);
  expect((await api.get('/organizations/acme/workspaces/a')).resource).toEqual(created);
  expect((await api.get('/organizations/acme/workspaces?search[name]=a')).resources).toEqual([created]);
  expect((await api.get(`/workspaces/${subject}/relationships/remote-state-consumers`)).resources).toEqual([
    created,
  ]);
  expect((await api.update(created.id, {})).resource).toEqual(created);
});

it('averages the past thirty runs that were applied or errored', async () => {
  const old = Array.from({ length: 5 }, () => ({ status: 'errored', 'plan-duration': 1 }));
  const counted = Array.from({ length: 29 }, () => ({
    status: 'applied',
    'plan-duration': 1000,
    'apply-duration': 2000,
  }));
  const runs = [
    ...old,
    ...counted,
    { status: 'errored', 'plan-duration': 4000, 'failed-policy-check': true },
    { status: 'planned', 'plan-duration': 9_000_000 },
  ];
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', runs }] }) });
  expect((await api.get('/organizations/acme/workspaces/a')).resource.attributes).toMatchObject({
    'plan-duration-average': 1100,
    'apply-duration-average': 2000,
    'run-failures': 1,
    'policy-check-failures': 1,
    'workspace-kpis-runs-count': 30,
  });
});
