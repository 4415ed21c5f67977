import { describe, expect, it } from 'vitest';

import { startServer } from '../../src/server/start-server.ts';
import { temporaryDataFile } from '../support/server/data-file.ts';
import { seedWith, serveForTest, type TestClient } from '../support/server/serve-for-test.ts';

const A = { name: 'a', id: 'ws-a' };
const POLICY = '/workspaces/ws-a/relationships/data-retention-policy';
const KEEP = { data: { type: 'data-retention-policy-dont-deletes' } };

function serveEdition(edition?: string): Promise<TestClient> {
  const seed = seedWith({
    workspaces: [A],
    'data-retention-policy': {},
    'global-remote-state-default': true,
    'assessments-enforced': true,
  });
  return serveForTest({ seed, ...(edition === undefined ? {} : { edition }) });
}

describe('data retention policies', () => {
  it('do not exist on the hosted service, for any method', async () => {
    const api = await serveEdition('hosted');
    for (const answer of [
      await api.get(POLICY),
      await api.post(POLICY, KEEP),
      await api.patch(POLICY, KEEP),
      await api.delete(POLICY),
      await api.send('PUT', POLICY, KEEP),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.errors[0]).toMatchObject({ status: '404', title: 'not found' });
    }
  });

  it.each(['all', 'self-hosted', undefined])('exist in the edition %s', async (edition) => {
    const api = await serveEdition(edition);
    expect((await api.get(POLICY)).status).toBe(200);
    expect((await api.post(POLICY, KEEP)).status).toBe(200);
    expect((await api.get('/workspaces/ws-a')).resource.relationships).toHaveProperty(
      'data-retention-policy',
    );
  });

  it('that were set in another edition stay in the data file, and are not shown', async () => {
    const data = temporaryDataFile();
    const self = await serveForTest({ data, edition: 'self-hosted', seed: seedWith({ workspaces: [A] }) });
    await self.post(POLICY, KEEP);
    const hosted = await serveForTest({ data, edition: 'hosted', seed: {} });
    const { relationships } = (await hosted.get('/workspaces/ws-a')).resource;
    expect(relationships).not.toHaveProperty('data-retention-policy');
    expect((await self.get(POLICY)).status).toBe(200);
  });
});

describe('assessments', () => {
  it('are neither accepted nor returned by the self-hosted edition', async () => {
    const api = await serveEdition('self-hosted');
    const created = await api.create({ name: 'b', 'assessments-enabled': true });
    expect(created.status).toBe(201);
    expect(created.resource.attributes).not.toHaveProperty('assessments-enabled');
    expect((await api.create({ name: 'c', 'assessments-enabled': 'nonsense' })).status).toBe(201);
    const listed = await api.get('/organizations/acme/workspaces');
    for (const { attributes } of listed.resources)
      expect(attributes).not.toHaveProperty('assessments-enabled');
  });

  it.each(['all', 'hosted'])('are accepted and returned by the edition %s', async (edition) => {
    const api = await serveForTest({ edition });
    const created = await api.create({
      name: 'b',
      'execution-mode': 'remote',
      'assessments-enabled': true,
    });
    expect(created.resource.attributes['assessments-enabled']).toBe(true);
    expect((await api.create({ name: 'c', 'assessments-enabled': 'nonsense' })).status).toBe(422);
  });
});

it.each([
  ['all', true],
  ['self-hosted', true],
  ['hosted', false],
])(
  'takes the default of global-remote-state from the organization in the edition %s: %s',
  async (edition, expected) => {
    const api = await serveEdition(edition);
    const created = await api.create({ name: 'b' });
    expect(created.resource.attributes['global-remote-state']).toBe(expected);
  },
);

it('refuses to start with an edition that does not exist', async () => {
  await expect(startServer({ data: ':memory:', edition: 'enterprise' })).rejects.toThrow(
    'no edition "enterprise" of "neutral" is served: it has all, hosted, self-hosted',
  );
});
