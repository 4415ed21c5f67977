// A service with all principals (principals.ts), which have access to the same two workspaces, and with one object of every type.
// Changes of a request are quickly undone, so that no response depends on an earlier request.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { type RunningServer, startServer } from '../../../../src/server/start-server.ts';
import { TestClient } from '../serve-for-test.ts';
import { PROJECT, principalsSeed, tokenOf } from './principals.ts';

/** Ids by collection (`teams`), or by collection and element (`teams owners`). */
export type Ids = Readonly<Record<string, string>>;

export interface World {
  readonly url: string;
  readonly ids: Ids;
  as(principal: string): TestClient;
  /** The rows of a query. */
  rows(sql: string): Record<string, unknown>[];
  /** A number that changes when the service writes. */
  version(): unknown;
  /** Restores the data of the start. */
  restore(): void;
  close(): Promise<void>;
}

/** `subject` is locked by a run, and has objects of all types that a workspace can have; `free` is unlocked, and has none. */
const WORKSPACES = [
  {
    name: 'subject',
    id: 'ws-subject',
    project: PROJECT,
    tags: ['shared'],
    'locked-by-run': 'run-planned',
    runs: [
      { id: 'run-planned', status: 'planned' },
      { id: 'run-pending', status: 'pending' },
    ],
    'state-versions': [{ id: 'sv-current', outputs: [{ name: 'address', value: 'somewhere' }] }],
    'configuration-versions': [
      { id: 'cv-uploaded', 'ingress-attributes': { branch: 'main' } },
      { id: 'cv-awaited', status: 'pending' as const },
    ],
    vars: [{ key: 'region', id: 'var-region' }],
    'assessment-results': [{ id: 'asmtres-last' }],
  },
  { name: 'free', id: 'ws-free', project: PROJECT },
];

export async function startWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-world-'));
  const data = join(folder, 'embedded.db');
  const seed = principalsSeed(['everybody'], () => WORKSPACES, {
    'agent-pools': [{ name: 'builders', id: 'apool-builders' }],
    'oauth-tokens': [{ id: 'ot-git' }],
  });
  const server = await startServer({ data, seed, relaxed: true });
  const as = (principal: string) => new TestClient(server.url, tokenOf(principal));
  const ids = await prepare(as('owner'));
  const kept = keepContents(data);
  return { url: server.url, ids, as, ...kept, close: () => close(server, kept, folder) };
}

async function close(server: RunningServer, kept: { end(): void }, folder: string): Promise<void> {
  kept.end();
  await server.close();
  rmSync(folder, { recursive: true });
}

/** Creates objects that a seed cannot describe, and reads the ids that a seed cannot set. */
async function prepare(owner: TestClient): Promise<Ids> {
  const first = async (path: string) => (await owner.get(path)).resources[0]?.id ?? '';
  const team = (name: string) => first(`/organizations/acme/teams?filter[names]=${name}`);
  const teams = await team('team-team-member');
  const owners = await team('owners');
  for (const holder of ['organizations/acme', `teams/${teams}`, `teams/${owners}`]) {
    await owner.post(`/${holder}/authentication-token`);
  }
  const described = async (holder: string) => {
    const body = { data: { type: 'authentication-tokens', attributes: { description: 'of the world' } } };
    return (await owner.post(`/teams/${holder}/authentication-tokens`, body)).resource.id;
  };
  await owner.post('/organizations/acme/projects', {
    data: { type: 'projects', attributes: { name: 'empty' } },
  });
  await owner.post('/organizations/acme/relationships/data-retention-policy', {
    data: { type: 'data-retention-policy-delete-olders', attributes: { 'delete-older-than-n-days': 30 } },
  });
  const set = (
    await owner.post('/organizations/acme/varsets', {
      data: { type: 'varsets', attributes: { name: 'shared' } },
    })
  ).resource.id;
  const ofSet = await owner.post(`/varsets/${set}/relationships/vars`, {
    data: { type: 'vars', attributes: { key: 'region' } },
  });
  const sourceable = { data: { type: 'workspaces', id: 'ws-subject' } };
  const trigger = await owner.post('/workspaces/ws-free/run-triggers', {
    data: { type: 'run-triggers', relationships: { sourceable } },
  });
  const empty = await first('/organizations/acme/projects?filter[names]=empty');
  return {
    ...{ organizations: 'acme', projects: `prj-${PROJECT}`, 'projects empty': empty },
    'authentication-tokens': await described(teams),
    'authentication-tokens owners': await described(owners),
    ...{ teams, 'teams owners': owners, tags: await first('/organizations/acme/tags') },
    'team-workspaces': await first('/team-workspaces?filter[workspace][id]=ws-free'),
    'team-projects': await first(`/team-projects?filter[project][id]=prj-${PROJECT}`),
    ...{ varsets: set, 'vars of a set': ofSet.resource.id, 'run-triggers': trigger.resource.id },
    users: String((await owner.get('/account/details')).resource.id),
    ...{ 'agent-pools': 'apool-builders', 'ssh-keys': 'sshkey-deploy', 'oauth-tokens': 'ot-git' },
    'oauth-clients': await first('/organizations/acme/oauth-clients'),
    ...{ workspaces: 'ws-subject', vars: 'var-region', 'assessment-results': 'asmtres-last' },
    ...{ 'state-versions': 'sv-current', 'configuration-versions': 'cv-uploaded' },
    'state-version-outputs': await first('/state-versions/sv-current/outputs'),
    ...{ runs: 'run-planned', 'runs pending': 'run-pending' },
    plans: (await owner.get('/runs/run-planned/plan')).resource.id,
    applies: (await owner.get('/runs/run-planned/apply')).resource.id,
  };
}

function keepContents(data: string) {
  const database = new DatabaseSync(data);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; ATTACH ':memory:' AS kept");
  const tables = database
    .prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
  for (const table of tables) database.exec(`CREATE TABLE kept."${table}" AS SELECT * FROM main."${table}"`);
  const back = [
    'BEGIN IMMEDIATE',
    ...tables.flatMap((table) => [
      `DELETE FROM main."${table}"`,
      `INSERT INTO main."${table}" SELECT * FROM kept."${table}"`,
    ]),
    'COMMIT',
  ].map((sql) => database.prepare(sql));
  const read = database.prepare('PRAGMA main.data_version');
  const version = () => read.get()?.['data_version'];
  let restored = version();
  return {
    rows: (sql: string) => database.prepare(sql).all(),
    version,
    restore: () => {
      if (version() === restored) return;
      for (const statement of back) statement.run();
      restored = version();
    },
    end: () => database.close(),
  };
}
