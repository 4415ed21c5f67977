/** The dialect `hcp-terraform`: where its service differs from the specification, or extends it (wire/workspaces 1). */
import { describe, expect, it } from 'vitest';

import type { ServerOptions } from '../../src/server/start-server.ts';
import {
  bindings,
  seedWith,
  serveForTest,
  type TestClient,
  workspaceBody,
} from '../support/server/serve-for-test.ts';

function serve(options: Partial<ServerOptions> = {}): Promise<TestClient> {
  return serveForTest({ dialects: ['hcp-terraform'], ...options });
}

const LIST = '/organizations/acme/workspaces';

describe('names', () => {
  it('of attributes are those of the real service, in requests and in answers', async () => {
    const api = await serve();
    const made = await api.create({
      name: 'net',
      'terraform-version': '~> 1.5.0',
      'vcs-repo': { identifier: 'acme/net', 'github-app-installation-id': 'ghain-app' },
    });
    expect(made.status).toBe(201);
    const { attributes } = made.resource;
    expect(attributes).toMatchObject({
      'terraform-version': '~> 1.5.0',
      'vcs-repo': { 'github-app-installation-id': 'ghain-app', 'oauth-token-id': null },
    });
    expect(JSON.stringify(attributes)).not.toMatch(/engine-version|vcs-app-installation-id/);
    expect((await api.get(LIST)).resources[0]?.attributes).toEqual(attributes);
  });

  it('of the specification are unknown in bodies, and are ignored', async () => {
    const api = await serve();
    const { attributes } = (await api.create({ name: 'net', 'engine-version': 'nonsense' })).resource;
    expect(attributes['terraform-version']).toMatch(/^\d+\.\d+\.\d+$/);
    expect(
      (
        await api.create({
          name: 'two',
          'vcs-repo': { identifier: 'a/b', 'vcs-app-installation-id': 'ghain-app' },
        })
      ).status,
    ).toBe(422);
  });

  it('in errors are those of the body', async () => {
    const api = await serve();
    const versions = await api.create({ name: 'net', 'terraform-version': '0.0.999' });
    expect(versions.pointers).toEqual(['/data/attributes/terraform-version']);
    const repo = { identifier: 'acme/net', 'github-app-installation-id': 'ghain-none' };
    const unknown = await api.create({ name: 'net', 'vcs-repo': repo });
    expect(unknown.pointers).toEqual(['/data/attributes/vcs-repo/github-app-installation-id']);
    const both = await api.create({ name: 'net', 'vcs-repo': { ...repo, 'oauth-token-id': 'ot-git' } });
    expect(both.errors[0]?.detail).toBe(
      'github-app-installation-id is not allowed together with oauth-token-id',
    );
    const empty = await api.create({
      name: 'net',
      'vcs-repo': { ...repo, 'github-app-installation-id': '' },
    });
    expect([empty.status, empty.errors[0]?.detail]).toEqual([400, 'invalid github_app_installation_id']);
  });

  it('of sources and of variable categories are those of the real service', async () => {
    const api = await serve();
    const id = await api.created({ name: 'net' });
    expect((await api.attributes(id))['source']).toBe('tfe-api');
    const vars = `/workspaces/${id}/vars`;
    const variable = (attributes: object) => api.post(vars, { data: { type: 'vars', attributes } });
    const made = await variable({ key: 'a', value: '1', category: 'terraform' });
    expect([made.status, made.resource.attributes['category']]).toEqual([201, 'terraform']);
    expect((await variable({ key: 'b', value: '1' })).resource.attributes['category']).toBe('terraform');
    expect((await variable({ key: 'c', value: '1', category: 'env' })).resource.attributes['category']).toBe(
      'env',
    );
    expect((await variable({ key: 'd', value: '1', category: 'engine' })).pointers).toEqual([
      '/data/attributes/category',
    ]);
    const included = (await api.get(`${LIST}/net?include=vars`)).document.included ?? [];
    expect(included.map(({ attributes }) => attributes['category'])).toEqual([
      'terraform',
      'terraform',
      'env',
    ]);
    const configuration = await api.post(`/workspaces/${id}/configuration-versions`, {
      data: { attributes: {} },
    });
    expect(configuration.resource.attributes['source']).toBe('tfe-api');
  });
});

describe('service discovery', () => {
  it('names the addresses of the services, and needs no token', async () => {
    const api = await serve();
    const answer = await fetch(`${api.url}/.well-known/terraform.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
    const address = '/api/v2/';
    expect(await answer.json()).toEqual({
      'state.v2': address,
      'tfe.v2': address,
      'tfe.v2.1': address,
      'tfe.v2.2': address,
    });
    const posted = await fetch(`${api.url}/.well-known/terraform.json`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is answered only in this dialect', async () => {
    const api = await serveForTest();
    expect((await fetch(`${api.url}/.well-known/terraform.json`)).status).toBe(404);
    expect((await api.get('/ping')).headers.get('tfp-api-version')).toBeNull();
  });

  it.each([
    [undefined, 'HCP Terraform'],
    ['hosted', 'HCP Terraform'],
    ['self-hosted', null],
  ])('adds headers to each answer, also to errors, in the edition %s', async (edition, name) => {
    const api = await serve(edition === undefined ? {} : { edition });
    const answers = [await api.get('/ping'), await api.as('nobody').get('/ping'), await api.get('/nowhere')];
    expect(answers.map(({ status }) => status)).toEqual([204, 401, 404]);
    for (const { headers } of answers) {
      expect(headers.get('tfp-api-version')).toBe('2.6');
      expect(headers.get('tfp-appname')).toBe(name);
      // Without a rate limit, no client has to slow down.
      expect(headers.get('x-ratelimit-limit')).toBeNull();
    }
  });

  it('reports the rate limit if there is one', async () => {
    const { headers } = await (await serve({ rateLimit: 30 })).get('/ping');
    expect(headers.get('x-ratelimit-limit')).toBe('30');
    expect(Number(headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(1);
  });
});

describe('editions', () => {
  it('are the hosted one, which is the default, and the self-hosted one', async () => {
    const path = '/workspaces/ws-a/relationships/data-retention-policy';
    const seed = seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }], 'data-retention-policy': {} });
    expect((await (await serve({ seed })).get(path)).status).toBe(404);
    expect((await (await serve({ seed, edition: 'self-hosted' })).get(path)).status).toBe(200);
    await expect(serve({ edition: 'all' })).rejects.toThrow(
      'no edition "all" of "hcp-terraform" is served: it has hosted, self-hosted',
    );
  });
});

describe('bodies', () => {
  it.each([{}, { type: '' }])('may leave out the type of their resource: %j', async (type) => {
    const api = await serve();
    const made = await api.post(LIST, { data: { ...type, attributes: { name: 'net' } } });
    expect(made.status).toBe(201);
    const { id } = made.resource;
    const key = await api.post('/organizations/acme/ssh-keys', {
      data: { attributes: { name: 'k', value: 'v' }, ...type },
    });
    expect(key.status).toBe(201);
    const added = await api.post(`/workspaces/${id}/relationships/tags`, {
      data: [{ ...type, attributes: { name: 'blue' } }],
    });
    expect(added.status).toBe(204);
    const locked = await api.post(`/workspaces/${id}/actions/lock`, {
      data: { ...type, attributes: { reason: 'why' } },
    });
    expect(locked.resource.attributes['locked-reason']).toBe('why');
  });

  it('with another type are refused', async () => {
    const api = await serve();
    expect((await api.post(LIST, { data: { type: 'runs', attributes: { name: 'net' } } })).pointers).toEqual([
      '/data/type',
    ]);
  });

  it('may have unknown members and parameters, and empty attributes beside an id', async () => {
    const api = await serve();
    const [first, second] = [
      await api.created({ name: 'one', unheard: { of: [1] } }),
      await api.created({ name: 'two' }),
    ];
    const consumers = `/workspaces/${first}/relationships/remote-state-consumers`;
    const empty = { name: '', 'auto-apply': false, 'created-at': '0001-01-01T00:00:00Z', 'vcs-repo': null };
    const document = {
      type: 'workspaces',
      id: second,
      attributes: empty,
      relationships: { project: { data: null } },
    };
    expect((await api.post(consumers, { data: [document] })).status).toBe(204);
    expect((await api.get(`${consumers}?junk=%7B+x+%7D`)).resources.map(({ id }) => id)).toEqual([second]);
    expect((await api.delete(consumers, { data: [document] })).status).toBe(204);
    expect((await api.get(consumers)).resources).toEqual([]);
  });
});

describe('a workspace', () => {
  it('that is locked cannot be safely deleted, and the error names the lock', async () => {
    const api = await serve();
    const id = await api.created({ name: 'net' });
    await api.post(`/workspaces/${id}/actions/lock`);
    const kept = await api.post(`${LIST}/net/actions/safe-delete`);
    expect([kept.status, kept.errors[0]?.detail]).toEqual([409, expect.stringContaining('locked')]);
    await api.post(`/workspaces/${id}/actions/unlock`);
    expect((await api.post(`${LIST}/net/actions/safe-delete`)).status).toBe(204);
  });

  it('accepts an exact engine version newer than all known ones, and no other unknown version', async () => {
    const api = await serve();
    const version = async (text: string) =>
      (await api.create({ name: `v${text.replaceAll('.', '-')}`, 'terraform-version': text })).status;
    expect([await version('99.1.2'), await version('0.0.999')]).toEqual([201, 422]);
  });

  it('inherits the mode when a request both sets and inherits it, and treats an empty pool as none', async () => {
    const api = await serve();
    const id = await api.created({ name: 'net', 'execution-mode': 'local', 'agent-pool-id': '' });
    const overwrites = { 'execution-mode': false, 'agent-pool': false };
    const asked = {
      'execution-mode': 'remote',
      'agent-pool-id': '',
      'project-remote-state': false,
      'setting-overwrites': overwrites,
    };
    const updated = await api.update(id, asked);
    expect(updated.status).toBe(200);
    expect(updated.resource.attributes).toMatchObject({
      'execution-mode': 'remote',
      'setting-overwrites': overwrites,
    });
    const plain = (await api.create({ name: 'two', 'setting-overwrites': overwrites })).resource.attributes;
    expect(plain['setting-overwrites']).toEqual(overwrites);
  });

  it('has no relationship to an SSH key or a lock holder while there is none', async () => {
    const api = await serve();
    const id = await api.created({ name: 'net' });
    const related = async () => Object.keys((await api.get(`/workspaces/${id}`)).resource.relationships);
    expect(await related()).not.toEqual(expect.arrayContaining(['ssh-key']));
    expect(await related()).not.toContain('locked-by');
    expect(await related()).toContain('agent-pool');
    await api.patch(`/workspaces/${id}/relationships/ssh-key`, {
      data: { attributes: { id: 'sshkey-deploy' }, type: 'workspaces' },
    });
    await api.post(`/workspaces/${id}/actions/lock`);
    expect(await related()).toEqual(expect.arrayContaining(['ssh-key', 'locked-by']));
  });
});

describe('sharing a state with the project', () => {
  const inPlatform = { project: { data: { type: 'projects', id: 'prj-platform' } } };

  it('makes all other workspaces of the project consumers, until it is disabled', async () => {
    const api = await serve();
    const id = await api.created({ name: 'one', 'project-remote-state': true }, inPlatform);
    expect(await api.attributes(id)).toMatchObject({
      'project-remote-state': true,
      'global-remote-state': false,
    });
    const two = await api.created({ name: 'two' }, inPlatform);
    const elsewhere = await api.created({ name: 'three' });
    const consumers = `/workspaces/${id}/relationships/remote-state-consumers`;
    const listed = async () => (await api.get(consumers)).resources.map((each) => each.id);
    expect(await listed()).toEqual([two]);
    const body = { data: [{ type: 'workspaces', id: elsewhere }] };
    expect((await api.post(consumers, body)).status).toBe(422);
    await api.update(id, { 'project-remote-state': false });
    expect((await api.post(consumers, body)).status).toBe(204);
    expect(await listed()).toEqual([elsewhere]);
  });

  it('is refused together with global sharing, with the text that clients know', async () => {
    const api = await serve();
    const id = await api.created({ name: 'one', 'global-remote-state': true });
    const refused = await api.update(id, { 'project-remote-state': true });
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      422,
      'Project remote state cannot be enabled when global remote state sharing is enabled',
    ]);
    expect(
      (await api.update(id, { 'project-remote-state': true, 'global-remote-state': false })).status,
    ).toBe(200);
  });

  it('is unknown to the dialect neutral', async () => {
    const api = await serveForTest();
    const { attributes } = (await api.create({ name: 'one', 'project-remote-state': true })).resource;
    expect(attributes).not.toHaveProperty('project-remote-state');
  });
});

describe('tags', () => {
  it('that are effective have ids, and only inherited ones link to their project', async () => {
    const api = await serve();
    const project = { data: { type: 'projects', id: 'prj-platform' } };
    const id = await api.created({ name: 'net' }, { project, ...bindings({ app: 'shop' }) });
    const { resources } = await api.get(`/workspaces/${id}/effective-tag-bindings`);
    expect(resources.map((item) => [item.attributes['key'], typeof item.id, item.links])).toEqual([
      ['app', 'string', undefined],
      ['tier', 'string', { 'inherited-from': '/api/v2/projects/prj-platform' }],
      ['env', 'string', { 'inherited-from': '/api/v2/projects/prj-platform' }],
    ]);
    const ofProject = (await api.get('/projects/prj-platform/effective-tag-bindings')).resources;
    expect(ofProject.map((item) => typeof item.id)).toEqual(['string', 'string']);
  });

  it('are found by a search for flat tags, also if they are bound or inherited', async () => {
    const api = await serve();
    const project = { data: { type: 'projects', id: 'prj-platform' } };
    await api.created({ name: 'flat' }, { tags: { data: [{ type: 'tags', attributes: { name: 'app' } }] } });
    await api.created({ name: 'bound' }, bindings({ App: 'shop', blue: '' }));
    await api.created({ name: 'inherited' }, { project });
    await api.created({ name: 'bare' });
    const found = async (query: string) => (await api.get(`${LIST}?sort=name&${query}`)).names;
    expect(await found('search[tags]=app')).toEqual(['bound', 'flat']);
    expect(await found('search[tags]=app,blue')).toEqual(['bound']);
    expect(await found('search[tags]=tier')).toEqual(['inherited']);
    expect(await found('search[exclude-tags]=app,tier')).toEqual(['bare']);
    const asMap =
      'TagBindings=%7B+blue+%7D&filter[tagged][0][key]=blue&filter[tagged][0][value]=&search[tags]=blue';
    expect(await found(asMap)).toEqual(['bound']);
  });
});

describe('the administration of a site', () => {
  it('gives a subscription to an organization of the caller', async () => {
    const api = await serve();
    const sets = await api.get('/admin/feature-sets?q=Business');
    expect(sets.resources.map(({ type, attributes }) => [type, attributes['name']])).toEqual([
      ['feature-sets', 'Business'],
    ]);
    expect(sets.document.meta?.pagination['total-count']).toBe(1);
    const body = {
      data: {
        type: 'subscription',
        relationships: { 'feature-set': { data: { id: sets.resources[0]?.id } } },
      },
    };
    expect((await api.post('/admin/organizations/acme/subscription', body)).status).toBe(204);
    expect((await api.post('/admin/organizations/rival/subscription', body)).status).toBe(404);
  });

  it('exists only in this dialect', async () => {
    const api = await serveForTest();
    expect((await api.get('/admin/feature-sets')).status).toBe(404);
    expect((await api.post('/admin/organizations/acme/subscription')).status).toBe(404);
  });
});

describe('a run', () => {
  it('links to logs that say that nothing runs here, and that can be read in pieces', async () => {
    const api = await serve();
    const id = await api.created({ name: 'net', 'execution-mode': 'remote' });
    const workspace = { data: { type: 'workspaces', id } };
    const run = (
      await api.post('/runs', { data: { type: 'runs', attributes: {}, relationships: { workspace } } })
    ).resource;
    expect((await api.get(`/runs/${run.id}/run-events`)).resources).toEqual([]);
    for (const part of ['plan', 'apply']) {
      const { attributes } = (await api.get(`/runs/${run.id}/${part}`)).resource;
      const link = String(attributes['log-read-url']);
      const whole = await (await fetch(link)).text();
      expect(whole).toMatch(
        new RegExp(`^\u0002The ${part} did not run: .*no engine.*"execution-mode" to "local".*\u0003$`, 's'),
      );
      const read = async (query: string) => (await fetch(`${link}?${query}`)).text();
      expect((await read('limit=10&offset=0')) + (await read('limit=65536&offset=10'))).toBe(whole);
      expect(await read(`limit=65536&offset=${whole.length}`)).toBe('');
      expect((await fetch(link.replace(`/logs/${part}`, '/logs/else'))).status).toBe(404);
      expect((await fetch(link.replace(/storage\/\d+/, 'storage/1'))).status).toBe(404);
    }
  });
});

it('the dialect can be combined with one of the other API', async () => {
  const api = await serve({ dialects: ['vault', 'hcp-terraform'] });
  expect((await api.post(LIST, workspaceBody({ name: 'net' }))).resource.attributes).toHaveProperty(
    'terraform-version',
  );
  expect((await fetch(`${api.url}/v1/sys/health`)).status).toBe(200);
});
