// Requests in each dialect: paths, headers and member names, recorded by an independent server.
import { describe, expect, it } from 'vitest';
import { dialectNames, dialects, findDialect } from '../../src/api/dialects.ts';
import { renameMembers } from '../../src/model/call.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Dialect } from '../../src/model/stack.ts';
import { listen } from '../support/http/loopback.ts';
import { open, rolesTarget, workspacesTarget } from '../support/http/open-for-test.ts';

function dialect(service: Dialect['service'], name: string): Dialect {
  const found = findDialect(service, name);
  if (found === undefined) throw new Error(`no dialect ${name}`);
  return found;
}

describe('the dialects', () => {
  it('offer neutral first for both services', () => {
    expect(dialectNames('workspaces')).toEqual(['neutral', 'hcp-terraform']);
    expect(dialectNames('cluster-auth')).toEqual(['neutral', 'vault', 'openbao']);
  });

  it('are found only by service and name', () => {
    expect(dialects.get('cluster-auth/vault')?.defaultMount).toBe('kubernetes');
    expect(findDialect('workspaces', 'vault')).toBeUndefined();
  });

  it('list what only some services can do', () => {
    expect(dialect('workspaces', 'hcp-terraform').capabilities).toContain('additive-tag-bindings');
    expect(dialect('workspaces', 'neutral').capabilities.size).toBe(0);
  });
});

describe('workspaces', () => {
  const created: JsonObject = {
    data: {
      type: 'workspaces',
      attributes: {
        name: 'network-prod',
        'engine-version': '~> 1.9.0',
        'vcs-repo': { identifier: 'acme/network', 'vcs-app-installation-id': 'ghain-1' },
      },
    },
  };

  async function create(name: string, answer: JsonObject) {
    const server = await listen(() => ({ status: 201, body: answer }));
    const spoken = dialect('workspaces', name);
    const { openWriter } = open({ url: server.url, dialect: spoken });
    const body = renameMembers(created, spoken.rename) as JsonObject;
    const path = '/organizations/acme/workspaces';
    const result = await openWriter().send({ method: 'POST', path, body, repeatable: false });
    return { request: server.requests[0], result };
  }

  it('are created in neutral with the names of the specification', async () => {
    const { request } = await create('neutral', created);
    expect(request).toMatchObject({
      method: 'POST',
      path: '/api/v2/organizations/acme/workspaces',
      body: created,
      headers: {
        authorization: 'Bearer the-token',
        accept: 'application/vnd.api+json',
        'content-type': 'application/vnd.api+json',
        'user-agent': 'trueup/test',
      },
    });
  });

  it('are created in hcp-terraform with its names, and read with ours', async () => {
    const answered = {
      data: { id: 'ws-1', attributes: { 'terraform-version': '1.9.8', permissions: { 'can-update': true } } },
    };
    const { request, result } = await create('hcp-terraform', answered);
    expect(request?.path).toBe('/api/v2/organizations/acme/workspaces');
    expect(request?.headers['authorization']).toBe('Bearer the-token');
    expect(request?.body).toEqual({
      data: {
        type: 'workspaces',
        attributes: {
          name: 'network-prod',
          'terraform-version': '~> 1.9.0',
          'vcs-repo': { identifier: 'acme/network', 'github-app-installation-id': 'ghain-1' },
        },
      },
    });
    expect(result.body).toEqual({
      data: { id: 'ws-1', attributes: { 'engine-version': '1.9.8', permissions: { 'can-update': true } } },
    });
  });

  it('are locked and deleted with a content type, although there is no body', async () => {
    const server = await listen(() => ({ status: 204 }));
    const writer = open({ url: server.url }).openWriter();
    await writer.send({ method: 'POST', path: '/workspaces/ws-1/actions/unlock', repeatable: true });
    await writer.send({ method: 'DELETE', path: '/workspaces/ws-1', repeatable: true });
    for (const request of server.requests) {
      expect(request.headers['content-type']).toBe('application/vnd.api+json');
      expect(request.text).toBe('');
    }
  });

  it('lose consumers by a DELETE with a body', async () => {
    const server = await listen(() => ({ status: 204 }));
    const body = { data: [{ type: 'workspaces', id: 'ws-2' }] };
    const path = '/workspaces/ws-1/relationships/remote-state-consumers';
    await open({ url: server.url }).openWriter().send({ method: 'DELETE', path, body, repeatable: true });
    expect(server.requests[0]).toMatchObject({ method: 'DELETE', body });
  });

  it('are read without a content type', async () => {
    const server = await listen(() => ({ body: { data: [] } }));
    await open({ url: server.url }).reader.get('/organizations/acme/workspaces?page%5Bsize%5D=100');
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
    expect(server.lines).toEqual(['GET /api/v2/organizations/acme/workspaces?page%5Bsize%5D=100']);
  });
});

describe('cluster authentication', () => {
  const config: JsonObject = { cluster_host: 'https://k:6443', cluster_ca_cert: 'PEM', pem_keys: [] };
  const names: [string, string, string, JsonObject][] = [
    ['neutral', 'x-service-token', 'x-service-namespace', config],
    [
      'vault',
      'x-vault-token',
      'x-vault-namespace',
      { kubernetes_host: 'https://k:6443', kubernetes_ca_cert: 'PEM', pem_keys: [] },
    ],
    [
      'openbao',
      'x-vault-token',
      'x-vault-namespace',
      { kubernetes_host: 'https://k:6443', kubernetes_ca_cert: 'PEM', pem_keys: [] },
    ],
  ];

  it.each(names)(
    'is configured in %s with its token header and names',
    async (name, tokenName, namespace, wire) => {
      const server = await listen(({ method }) =>
        method === 'POST' ? { status: 204 } : { body: { request_id: 'r-1', data: wire } },
      );
      const spoken = dialect('cluster-auth', name);
      const target = { ...rolesTarget, namespace: 'team-a' };
      const { reader, openWriter } = open({ url: server.url, dialect: spoken, target });
      const body = renameMembers(config, spoken.rename) as JsonObject;
      const path = `/auth/${spoken.defaultMount}/config`;
      await openWriter().send({ method: 'POST', path, body, repeatable: true });
      const read = await reader.get(path);

      const mount = name === 'neutral' ? 'cluster' : 'kubernetes';
      expect(server.lines).toEqual([`POST /v1/auth/${mount}/config`, `GET /v1/auth/${mount}/config`]);
      expect(server.requests[0]).toMatchObject({
        body: wire,
        headers: { [tokenName]: 'the-token', [namespace]: 'team-a', 'content-type': 'application/json' },
      });
      expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
      expect(read).toMatchObject({ status: 200, body: { data: config }, requestId: 'r-1' });
    },
  );

  it('is listed with the verb LIST', async () => {
    const server = await listen(() => ({ body: { data: { keys: ['payments-api'] } } }));
    const { reader } = open({ url: server.url, target: rolesTarget });
    const answer = await reader.list('/auth/cluster/role');
    expect(server.lines).toEqual(['LIST /v1/auth/cluster/role']);
    expect(answer).toMatchObject({ method: 'LIST', body: { data: { keys: ['payments-api'] } } });
  });

  it('deletes a role without a content type, because there is no content', async () => {
    const server = await listen(() => ({ status: 204 }));
    const writer = open({ url: server.url, target: rolesTarget }).openWriter();
    await writer.send({ method: 'DELETE', path: '/auth/cluster/role/a', repeatable: true });
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
  });

  it('sends vault the header that its agents may require', async () => {
    const server = await listen(() => ({ body: {} }));
    const target = { ...rolesTarget, dialect: 'vault' };
    await open({ url: server.url, target }).reader.get('/sys/auth');
    expect(server.requests[0]?.headers['x-vault-request']).toBe('true');
  });
});

describe('a URL with its own path', () => {
  it('keeps it before the API root', async () => {
    const server = await listen(() => ({ body: { data: [] } }));
    const { reader } = open({ url: `${server.url}/automation/`, target: workspacesTarget });
    const answer = await reader.get('/workspaces/ws-1');
    expect(server.lines).toEqual(['GET /automation/api/v2/workspaces/ws-1']);
    expect(answer.url).toBe(`${server.url}/automation/api/v2/workspaces/ws-1`);
  });
});
