import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const WORKSPACE = { name: 'net', id: 'ws-net' };
const ACME: Parameters<typeof seedWith>[0] = {
  workspaces: [WORKSPACE],
  teams: [{ name: 'devs', members: ['bob'], 'workspace-access': { net: 'write' } }],
};
const ACME_SEED = seedWith(ACME);

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-seed-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'embedded.db');
}

it('does not create organizations and teams again that were deleted or renamed', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: ACME_SEED });
  const rename = (type: string, name: string) => ({ data: { type, attributes: { name } } });
  await first.as('eve').delete('/organizations/rival');
  await first.patch('/organizations/acme', rename('organizations', 'acme-two'));
  const teams = (await first.get('/organizations/acme-two/teams')).resources;
  const idOf = (name: string) => teams.find(({ attributes }) => attributes['name'] === name)?.id;
  await first.delete(`/teams/${idOf('readers')}`);
  await first.patch(`/teams/${idOf('devs')}`, rename('teams', 'crew'));
  const second = await serveForTest({ data, seed: ACME_SEED });
  expect((await second.get('/organizations')).names).toEqual(['acme-two']);
  expect((await second.as('eve').get('/organizations')).names).toEqual([]);
  expect((await second.get('/organizations/acme-two/teams')).names).toEqual([
    'crew',
    'managers',
    'owners',
    'platform-admins',
  ]);
  expect((await second.as('readers').get('/organizations')).status).toBe(401);
  expect((await second.as('bob').get('/workspaces/ws-net')).status).toBe(200);
});

it('adds members and access to a team that a request created', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: ACME_SEED });
  await first.post('/organizations/acme/teams', { data: { type: 'teams', attributes: { name: 'crew' } } });
  const teams = [{ name: 'crew', members: ['eve'], 'workspace-access': { net: 'read' } }];
  const api = await serveForTest({ data, seed: seedWith({ ...ACME, teams }) });
  expect((await api.as('eve').get('/workspaces/ws-net')).status).toBe(200);
});

it('reports a new item that refers to a deleted one', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: ACME_SEED });
  await first.delete('/projects/prj-sandbox');
  await first.delete('/agent-pools/apool-builders');
  const start = (more: Parameters<typeof seedWith>[0]) =>
    serveForTest({ data, seed: seedWith({ ...ACME, ...more }) });
  await expect(start({ workspaces: [WORKSPACE, { name: 'new', project: 'sandbox' }] })).rejects.toThrow(
    'the seed\'s workspace "new" cannot be added to organization "acme": its project was deleted since',
  );
  const projects = [{ name: 'new', 'default-agent-pool': 'builders' }];
  await expect(start({ projects })).rejects.toThrow(
    'the seed names the agent pool "builders" of organization "acme", which was deleted since',
  );
});
