import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../src/server/kernel/database.ts';
import { ensureTenants } from '../../../src/server/seed/prepare-data-file.ts';
import { serveForTest } from '../../support/server/serve-for-test.ts';

const WANTED = { organizations: ['acme', 'beta'], mounts: ['kubernetes'] };

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-tenants-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'embedded.db');
}

function serviceStatus(url: string, token: string): Promise<number> {
  const headers = { 'x-service-token': token };
  return fetch(`${url}/v1/auth/kubernetes/config`, { headers }).then((response) => response.status);
}

it('creates organizations and mounts, with an owner`s token and a service token for them', async () => {
  const data = temporaryFile();
  const { ownerToken, serviceToken } = ensureTenants(data, WANTED);
  const api = (await serveForTest({ data, seed: {} })).as(ownerToken);
  expect((await api.create({ name: 'a' })).status).toBe(201);
  expect((await api.get('/organizations/beta/workspaces')).status).toBe(200);
  expect(await serviceStatus(api.url, serviceToken)).not.toBe(403);
  expect(await serviceStatus(api.url, 'wrong')).toBe(403);
});

it('works while a server has the file open', async () => {
  const data = temporaryFile();
  const api = await serveForTest({ data, seed: {} });
  const { ownerToken } = ensureTenants(data, WANTED);
  expect((await api.as(ownerToken).create({ name: 'a' })).status).toBe(201);
});

it('returns the given tokens, and changes nothing the second time', async () => {
  const data = temporaryFile();
  const first = ensureTenants(data, WANTED);
  expect(ensureTenants(data, WANTED, first)).toEqual(first);
  const api = (await serveForTest({ data, seed: {} })).as(first.ownerToken);
  expect((await api.create({ name: 'a' })).status).toBe(201);
  const database = Database.open(data);
  onTestFinished(() => database.close());
  const count = (table: string) => database.get<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`)?.n;
  expect(['organizations', 'users', 'api_tokens', 'service_tokens', 'mounts'].map(count)).toEqual([
    2, 3, 3, 1, 1,
  ]);
});

it('creates a token for each organization, and keeps those of others', async () => {
  const data = temporaryFile();
  const first = ensureTenants(data, { organizations: ['acme'], mounts: [] });
  const { organizationTokens } = ensureTenants(data, { organizations: ['beta'], mounts: [] }, first);
  expect(organizationTokens['acme']).toBe(first.organizationTokens['acme']);
  const api = await serveForTest({ data, seed: {} });
  const statusOf = (name: string, token = '') =>
    api
      .as(token)
      .get(`/organizations/${name}/workspaces`)
      .then(({ status }) => status);
  expect(await statusOf('acme', organizationTokens['acme'])).toBe(200);
  expect(await statusOf('beta', organizationTokens['beta'])).toBe(200);
  expect(await statusOf('beta', organizationTokens['acme'])).toBe(404);
});

it('adds the given tokens to a file that does not have them', async () => {
  const data = temporaryFile();
  const tokens = { ownerToken: 'owner-from-before', serviceToken: 'service-from-before' };
  ensureTenants(data, WANTED, tokens);
  const api = (await serveForTest({ data, seed: {} })).as(tokens.ownerToken);
  expect((await api.get('/organizations/acme/workspaces')).status).toBe(200);
  expect(await serviceStatus(api.url, tokens.serviceToken)).not.toBe(403);
});

it('creates new tokens when none are given, and leaves the older ones valid', async () => {
  const data = temporaryFile();
  const [first, second] = [ensureTenants(data, WANTED), ensureTenants(data, WANTED)];
  expect(second.ownerToken).not.toBe(first.ownerToken);
  const api = await serveForTest({ data, seed: {} });
  for (const { ownerToken } of [first, second]) {
    expect((await api.as(ownerToken).get('/organizations/acme/workspaces')).status).toBe(200);
  }
});

it('keeps no raw token in the file', () => {
  const data = temporaryFile();
  const { ownerToken, serviceToken, organizationTokens } = ensureTenants(data, WANTED);
  const database = Database.open(data);
  onTestFinished(() => database.close());
  const rows = ['api_tokens', 'service_tokens', 'users'].flatMap((table) =>
    database.all(`SELECT * FROM ${table}`),
  );
  const text = JSON.stringify(rows);
  for (const token of [ownerToken, ...Object.values(organizationTokens)]) expect(text).not.toContain(token);
  expect(text).not.toContain(serviceToken);
});
