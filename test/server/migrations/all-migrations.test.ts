import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { loadSqlite } from '../../../src/server/kernel/database.ts';
import { MIGRATIONS } from '../../../src/server/kernel/migrations.ts';
import { serveForTest } from '../../support/server/serve-for-test.ts';

/** A data file of older releases. @param releases in their order: the number of migrations of each, and the rows that it wrote */
function fileOfVersions(...releases: readonly (readonly [version: number, rows: string])[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-migrations-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'embedded.db');
  const { DatabaseSync } = loadSqlite();
  const sqlite = new DatabaseSync(file);
  let done = 0;
  for (const [version, rows] of releases) {
    for (const sql of MIGRATIONS.slice(done, version)) sqlite.exec(sql);
    sqlite.exec(`PRAGMA user_version = ${version}; ${rows}`);
    done = version;
  }
  sqlite.close();
  return file;
}

const DAY = "'2026-01-01T00:00:00.000Z'";
const BEFORE_RECORDS = `
INSERT INTO organizations (id, name, created_at) VALUES ('org-1', 'old', ${DAY});
INSERT INTO projects (id, organization_id, name, is_default, created_at)
  VALUES ('prj-1', 'org-1', 'Default Project', 1, ${DAY});
INSERT INTO workspaces (id, organization_id, project_id, name, agent_pool_overwritten, allow_destroy_plan,
    assessments_enabled, auto_apply, auto_apply_run_trigger, inherits_project_auto_destroy, engine_version,
    file_triggers_enabled, global_remote_state, queue_all_runs, speculative_enabled, structured_run_output_enabled,
    trigger_patterns, trigger_prefixes, created_at, updated_at, latest_change_at)
  VALUES ('ws-1', 'org-1', 'prj-1', 'a', 0, 1, 0, 0, 0, 1, '1.9.8', 1, 0, 0, 1, 1, '[]', '[]', ${DAY}, ${DAY}, ${DAY});
INSERT INTO runs (id, workspace_id, status, created_at)
  VALUES ('run-1', 'ws-1', 'applied', ${DAY}), ('run-2', 'ws-1', 'planned', ${DAY});
INSERT INTO state_versions (id, workspace_id, serial, status, intermediate, created_at)
  VALUES ('sv-1', 'ws-1', 1, 'finalized', 1, ${DAY});
INSERT INTO teams (id, organization_id, name, created_at) VALUES ('team-1', 'org-1', 'devs', ${DAY});
INSERT INTO team_workspace_access (team_id, workspace_id, access) VALUES ('team-1', 'ws-1', 'read');
INSERT INTO team_project_access (team_id, project_id, access) VALUES ('team-1', 'prj-1', 'write');
INSERT INTO oauth_tokens (id, organization_id, service_provider, http_url, created_at)
  VALUES ('ot-1', 'org-1', 'git', 'https://git.example.com', ${DAY});
`;

it('adds ids to the records of an older file', async () => {
  const seed = {
    users: [{ username: 'ann', token: 'ann' }],
    organizations: [{ name: 'old', teams: [{ name: 'owners', members: ['ann'] }] }],
  };
  const api = await serveForTest({ data: fileOfVersions([4, BEFORE_RECORDS]), seed });
  const followed = async (path: string, relationship: string) => {
    const related = (await api.get(path)).resource.relationships[relationship]?.links?.related ?? '';
    return (await api.get(related.replace('/api/v2', ''))).status;
  };
  expect(await followed('/runs/run-1', 'plan')).toBe(200);
  expect(await followed('/runs/run-2', 'apply')).toBe(200);
  expect(await followed('/oauth-tokens/ot-1', 'oauth-client')).toBe(200);
  for (const list of [
    '/team-workspaces?filter[workspace][id]=ws-1',
    '/team-projects?filter[project][id]=prj-1',
  ]) {
    const [access] = (await api.get(list)).resources;
    expect((await api.get(`/${access?.type}/${access?.id}`)).resource).toEqual(access);
  }
  await api.post('/workspaces/ws-1/actions/lock');
  const unlocked = await api.post('/workspaces/ws-1/actions/unlock');
  expect(unlocked.resource.relationships['current-state-version']?.data).toMatchObject({ id: 'sv-1' });
});

it('keeps the states of an older file', async () => {
  const state = '{"version":4,"note":"ü"}';
  const rows = `UPDATE state_versions SET state = '${state}', json_state = '{"a":1}', md5 = 'announced' WHERE id = 'sv-1';`;
  const seed = {
    users: [{ username: 'ann', token: 'ann' }],
    organizations: [{ name: 'old', teams: [{ name: 'owners', members: ['ann'] }] }],
  };
  const api = await serveForTest({ data: fileOfVersions([4, BEFORE_RECORDS], [14, rows]), seed });
  const { attributes } = (await api.get('/state-versions/sv-1')).resource;
  expect(attributes).toMatchObject({ size: Buffer.byteLength(state), md5: 'announced' });
  const read = async (name: string) => (await fetch(String(attributes[name]))).text();
  expect(await read('hosted-state-download-url')).toBe(state);
  expect(await read('hosted-json-state-download-url')).toBe('{"a":1}');
});

it('keeps the variables of an older file', async () => {
  const rows = `INSERT INTO variables (id, workspace_id, key, value, category, hcl, sensitive, created_at)
    VALUES ('var-1', 'ws-1', 'region', 'eu', 'engine', 0, 0, ${DAY}), ('var-2', 'ws-1', 'TOKEN', 'x', 'env', 0, 1, ${DAY});`;
  const seed = {
    users: [{ username: 'ann', token: 'ann' }],
    organizations: [{ name: 'old', teams: [{ name: 'owners', members: ['ann'] }] }],
  };
  const api = await serveForTest({ data: fileOfVersions([4, BEFORE_RECORDS], [15, rows]), seed });
  const { resources } = await api.get('/workspaces/ws-1/vars');
  expect(resources.map(({ id, attributes }) => [id, attributes['value']])).toEqual([
    ['var-1', 'eu'],
    ['var-2', null],
  ]);
});
