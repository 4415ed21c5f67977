// Plan and apply through the dialect `hcp-terraform`, against a service that answers like the real one.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOrganization } from '../support/dialects/open-organization.ts';
import { openStack, workspace } from '../support/dialects/stack-folder.ts';
import { hcpTerraform, serveWorkspaces, tokens } from '../support/dialects/workspaces-service.ts';

const everyField = {
  description: 'Everything at once',
  executionMode: 'agent',
  agentPoolId: 'apool-1',
  allowDestroyPlan: false,
  assessmentsEnabled: true,
  autoApply: true,
  autoApplyRunTrigger: true,
  autoDestroyAt: '2031-01-31T08:00:42Z',
  engineVersion: '~> 1.9.0',
  queueAllRuns: true,
  speculativeEnabled: false,
  structuredRunOutputEnabled: false,
  workingDirectory: 'envs/prod/',
  vcsRepo: {
    identifier: 'acme/network',
    vcsAppInstallationId: 'ghain-1',
    branch: 'main',
    ingressSubmodules: true,
  },
  triggerPatterns: ['/envs/prod/**/*'],
  projectId: 'prj-gold',
  sshKeyId: 'sshkey-1',
  tagNames: ['pci', 'Payments'],
  sourceUrl: 'https://git.example.com/acme',
  dataRetentionPolicy: { deleteOlderThanNDays: 30 },
  lock: { reason: 'frozen' },
  tags: { env: 'prod', team: 'network' },
  remoteStateConsumers: ['reader'],
};

const manifests = workspace('app', everyField) + workspace('reader', { executionMode: 'local' });

/** Names of the specifications, of the other service and of its brands. None may be sent to this service. */
const foreign = /engine|vcs-app|cluster|kubernetes|vault|bao|x-service|sentinel|policy_engine/i;

describe('a stack through hcp-terraform', () => {
  it('is applied with every field, and then has no changes', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(manifests);
    const { id } = service.workspace('app');
    const reader = service.workspace('reader').id;
    expect(service.writes().slice(0, 2).sort()).toEqual([
      'POST /organizations/acme/workspaces',
      'POST /organizations/acme/workspaces',
    ]);
    expect(service.writes().slice(2, 5).sort()).toEqual(
      [
        `PATCH /workspaces/${id}/relationships/ssh-key`,
        `POST /workspaces/${id}/relationships/data-retention-policy`,
        `POST /workspaces/${id}/relationships/remote-state-consumers`,
      ].sort(),
    );
    expect(service.writes().slice(5)).toEqual([`POST /workspaces/${id}/actions/lock`]);
    expect(service.bodies('/relationships/remote-state-consumers').at(-2)).toBeUndefined();
    expect(service.bodies('POST /organizations/acme/workspaces')).toContainEqual({
      data: {
        type: 'workspaces',
        attributes: {
          name: 'app',
          description: 'Everything at once',
          'execution-mode': 'agent',
          'agent-pool-id': 'apool-1',
          'allow-destroy-plan': false,
          'assessments-enabled': true,
          'auto-apply': true,
          'auto-apply-run-trigger': true,
          'auto-destroy-at': '2031-01-31T08:00:00.000Z',
          'global-remote-state': false,
          'queue-all-runs': true,
          'source-name': 'trueup/payments',
          'source-url': 'https://git.example.com/acme',
          'speculative-enabled': false,
          'structured-run-output-enabled': false,
          'terraform-version': '~> 1.9.0',
          'trigger-patterns': ['/envs/prod/**/*'],
          'vcs-repo': {
            identifier: 'acme/network',
            branch: 'main',
            'ingress-submodules': true,
            'github-app-installation-id': 'ghain-1',
          },
          'working-directory': 'envs/prod/',
        },
        relationships: {
          project: { data: { type: 'projects', id: 'prj-gold' } },
          tags: {
            data: [
              { type: 'tags', attributes: { name: 'Payments' } },
              { type: 'tags', attributes: { name: 'pci' } },
            ],
          },
          'tag-bindings': {
            data: [
              { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
              { type: 'tag-bindings', attributes: { key: 'team', value: 'network' } },
              {
                type: 'tag-bindings',
                attributes: { key: 'trueup-stack', value: expect.stringMatching(/^payments:id=/) },
              },
            ],
          },
        },
      },
    });
    expect(service.workspace('app').consumers).toEqual(new Set([reader]));
  });

  it('sends no names of the specifications or of another service', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(manifests);
    await stack.make(workspace('app', { engineVersion: '1.9.8', vcsRepo: null }) + workspace('reader', {}));
    expect(service.unknownMembers).toEqual([]);
    const sent = service.requests.map(({ method, path, headers, text }) =>
      JSON.stringify([method, path, headers, text]),
    );
    expect(sent.filter((request) => foreign.test(request))).toEqual([]);
  });

  it('sends token and media type with every request, and a content type with every write', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(manifests);
    for (const { method, headers } of service.requests) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${tokens.writer}`,
        accept: 'application/vnd.api+json',
        'user-agent': 'trueup/0.0.0-test',
      });
      expect(headers['content-type']).toBe(method === 'GET' ? undefined : 'application/vnd.api+json');
    }
  });

  it('shows requests with the names of the service, and fields with the names of the manifest', async () => {
    const { stack } = await openOrganization('hcp-terraform');
    await stack.declare(manifests);
    const { out } = await stack.run('plan --calls');
    expect(out).toContain('"terraform-version": "~> 1.9.0"');
    expect(out).toContain('"github-app-installation-id": "ghain-1"');
    expect(out).not.toMatch(/engine-version|vcs-app-installation-id/);
    expect(out).toMatch(/engineVersion +"?~> 1\.9\.0/);
    const { out: json } = await stack.run('plan --format json');
    expect(json).toContain('"terraform-version": "~> 1.9.0"');
    expect(json).not.toMatch(/engine-version|vcs-app-installation-id/);
  });

  it('finds manual changes, and reverts them', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(manifests);
    const app = service.workspace('app');
    app.settings['description'] = 'by hand';
    app.version = '1.11.4';
    app.tags.set('team', 'someone');
    app.consumers.clear();
    const { changes } = await stack.plan();
    expect(changes.flatMap(({ fields }) => fields.map(({ path, before }) => [path, before]))).toEqual([
      ['/description', 'by hand'],
      ['/engineVersion', '1.11.4'],
      ['/tags/team', 'someone'],
      ['/consumers', []],
    ]);
    service.clear();
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(service.writes()).toEqual([
      `PATCH /workspaces/${app.id}`,
      `PATCH /workspaces/${app.id}/tag-bindings`,
      `POST /workspaces/${app.id}/relationships/remote-state-consumers`,
    ]);
    expect(service.bodies(`PATCH /workspaces/${app.id}`)).toEqual([
      {
        data: {
          type: 'workspaces',
          attributes: {
            'assessments-enabled': true,
            description: 'Everything at once',
            'terraform-version': '~> 1.9.0',
          },
        },
      },
    ]);
  });

  it('plans an organization without workspaces with three requests: workspaces, organization, projects', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.declare(workspace('app', {}));
    expect((await stack.plan()).coverage.complete).toBe(true);
    expect(service.requests.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)).toEqual([
      'GET /api/v2/organizations/acme/workspaces?sort=name&include=effective_tag_bindings&page[size]=100&page[number]=1',
      'GET /api/v2/organizations/acme',
      'GET /api/v2/organizations/acme/projects?page[size]=100&page[number]=1',
    ]);
  });

  it('deletes what it created with the safe delete', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(workspace('app', {}) + workspace('reader', {}));
    const { id } = service.workspace('reader');
    service.clear();
    await stack.make(workspace('app', {}));
    expect(service.writes()).toEqual([`POST /workspaces/${id}/actions/safe-delete`]);
  });

  it('adopts an existing workspace by adding only the ownership tag to its tags', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    const app = service.create('app');
    app.tags.set('owner', 'ann');
    await stack.declare(workspace('app', { description: 'ours' }));
    await stack.run('apply --yes', 9);
    expect(service.writes()).toEqual([]);
    await stack.make(workspace('app', { description: 'ours' }, { adopt: true }));
    expect(service.bodies(`PATCH /workspaces/${app.id}/tag-bindings`)).toEqual([
      {
        data: [
          {
            type: 'tag-bindings',
            attributes: { key: 'trueup-stack', value: expect.stringMatching(/^payments:id=/) },
          },
        ],
      },
    ]);
    expect([...app.tags.keys()]).toEqual(['owner', 'trueup-stack']);
  });
});

describe('a token that may only read', () => {
  it('is enough for a plan, which says which permission an apply needs', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(workspace('app', { description: 'one' }));
    service.clear();
    const reader = openStack({ targets: [stack.target], env: { API_TOKEN: tokens.reader } });
    await mkdir(join(reader.directory, '.trueup'));
    await writeFile(join(reader.directory, '.trueup', 'payments.ledger.json'), await stack.ledger());
    await reader.declare(workspace('app', { description: 'two' }));
    const { changes } = await reader.plan();
    expect(changes).toMatchObject([{ action: 'update', fields: [{ path: '/description' }] }]);
    expect(changes[0]?.notes.join()).toContain('this token lacks "can-update"');
    expect(service.writes()).toEqual([]);
  });
});

describe('tag bindings through hcp-terraform', () => {
  const tagged = (tags: object) => workspace('app', { assessmentsEnabled: true, tags });

  it('are added and changed one by one, so that tags of other writers are kept', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(tagged({ env: 'prod' }));
    const { id, tags } = service.workspace('app');
    service.clear();
    await stack.make(tagged({ env: 'staging', team: 'network' }));
    expect(service.writes()).toEqual([`PATCH /workspaces/${id}/tag-bindings`]);
    expect(service.bodies('/tag-bindings')).toEqual([
      {
        data: [
          { type: 'tag-bindings', attributes: { key: 'env', value: 'staging' } },
          { type: 'tag-bindings', attributes: { key: 'team', value: 'network' } },
        ],
      },
    ]);
    expect(tags.get('trueup-stack')).toMatch(/^payments:id=/);
  });

  it('are replaced as a whole to remove one, and keep ownership tag and health assessments', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(tagged({ env: 'prod', team: 'network' }));
    const app = service.workspace('app');
    service.clear();
    await stack.make(tagged({ env: 'prod' }));
    expect(service.writes()).toEqual([`PATCH /workspaces/${app.id}`]);
    expect([...app.tags]).toEqual([
      ['env', 'prod'],
      ['trueup-stack', expect.stringMatching(/^payments:id=/)],
    ]);
    expect(app.assessments).toBe(true);
  });

  it('from the project are ignored, even under the same key', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    await stack.make(workspace('app', { projectId: 'prj-gold', tags: { team: 'network' } }));
    service.clear();
    await stack.make(workspace('app', { projectId: 'prj-gold', tags: { team: 'network', env: 'shared' } }));
    expect(service.bodies('/tag-bindings')).toEqual([
      { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'shared' } }] },
    ]);
  });
});

it("sends requests below the path of the service's URL", async () => {
  const service = await serveWorkspaces(hcpTerraform);
  const { stack } = await openOrganization('hcp-terraform');
  const stranger = openStack({
    targets: [{ ...stack.target, url: `${service.url}/nowhere` }],
    env: { API_TOKEN: tokens.writer },
  });
  await stranger.declare(workspace('app', {}));
  const { coverage, problems } = await stranger.plan();
  expect(coverage.targets[0]).toMatchObject({ unread: true });
  expect(problems[0]?.message).toContain('/nowhere/api/v2/organizations/acme/workspaces');
});
