/** A fleet for a test: a database, a remote with stacks whose targets are the embedded service, and workers as real processes. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { trueup } from '../captured-host.ts';
import { type Bench, openBench, secrets } from '../cli/bench.ts';
import { workspace } from '../cli/documents.ts';
import { type Exited, type Running, startTrueup, trueupProcess } from '../cli/process.ts';
import { git, makeRemote } from '../ledger/git-remote.ts';
import type { PostgresServer } from '../ledger/postgres-server.ts';
import { documentsText, stackText, workspacesTarget } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface FleetScene {
  readonly bench: Bench;
  /** the folder in which the commands of `trueup fleet` run */
  readonly folder: string;
  /** the URL of the repository */
  readonly remote: string;
  /** a clone of the repository, as its owners have */
  readonly clone: string;
  readonly env: Readonly<Record<string, string>>;
  /** runs SQL in the database of the fleet */
  sql(text: string): string;
  /** waits until the column `found` of the first row is this text */
  until(text: string, found: string): Promise<void>;
  /** runs a command of `trueup fleet` to its end */
  fleet(...args: readonly string[]): Promise<Exited>;
  /** starts a worker, which runs until it is stopped */
  work(...args: readonly string[]): Running;
  /** starts a worker with a console */
  serve(...args: readonly string[]): Running;
  /** commits files to the remote, and symbolic links */
  push(files: Readonly<Record<string, string | { readonly link: string }>>): void;
  /** a stack with one workspace, as files */
  stack(name: string, more?: { readonly target?: object; readonly spec?: object }): Record<string, string>;
  /** applies a stack from a clone, as its owners do */
  apply(name: string): Promise<void>;
  /** makes all stacks due */
  makeDue(): void;
  /** the text of the check of each stack, by its folder */
  checks(run: Exited): Record<string, string>;
}

interface SceneOptions {
  readonly stacks?: readonly string[];
  /** further members of the repository in fleet.yaml */
  readonly repository?: object;
  /** tokens of further owners of the organization, by their names */
  readonly people?: Readonly<Record<string, string>>;
  /** requests per second that the service allows each user */
  readonly rateLimit?: number;
  /** further members of `spec` in fleet.yaml */
  readonly spec?: object;
  /** further variables of the workers */
  readonly env?: Readonly<Record<string, string>>;
  /** the database has no tables yet */
  readonly isEmpty?: boolean;
}

/** For each server, the URL of a database in which `trueup fleet migrate` has created the tables. */
const migrated = new WeakMap<PostgresServer, Promise<string>>();

async function migrate(server: PostgresServer): Promise<string> {
  const url = server.newDatabase();
  const ran = await trueupProcess(['fleet', 'migrate'], { cwd: tmpdir(), env: { TRUEUP_FLEET_URL: url } });
  if (ran.code !== 0) throw new Error(ran.out + ran.err);
  return url;
}

async function copyMigrated(server: PostgresServer): Promise<string> {
  const template = migrated.get(server) ?? migrate(server);
  migrated.set(server, template);
  return server.copyDatabase(await template);
}

export async function openFleet(
  server: PostgresServer,
  {
    stacks = ['one', 'two', 'three'],
    repository = {},
    people = {},
    rateLimit,
    spec = {},
    env: more = {},
    isEmpty = false,
  }: SceneOptions = {},
): Promise<FleetScene> {
  const bench = await openBench({ people, ...(rateLimit === undefined ? {} : { rateLimit }) });
  const remote = makeRemote();
  const clone = remote.clone();
  const folder = temporaryFolder();
  const url = isEmpty ? server.newDatabase() : await copyMigrated(server);
  const env = { ...secrets, TRUEUP_FLEET_URL: url, OTHER_TOKEN: people['bob'] ?? '', ...more };
  const push: FleetScene['push'] = (files) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(clone, path)), { recursive: true });
      if (typeof content === 'string') writeFileSync(join(clone, path), content);
      else symlinkSync(content.link, join(clone, path));
    }
    git(clone, 'add', '.');
    git(clone, 'commit', '--quiet', '-m', 'more');
    git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  };
  const stack: FleetScene['stack'] = (name, { target = {}, spec = {} } = {}) => ({
    [`${name}/trueup.yaml`]: stackText({
      name,
      targets: [workspacesTarget(bench.wire.url, target)],
      spec: { ledger: 'git', ...spec },
    }),
    [`${name}/manifests.yaml`]: documentsText([workspace(`${name}-app`, { description: `about ${name}` })]),
  });
  const fleetFile = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Fleet',
    metadata: { name: 'acme' },
    spec: {
      ...spec,
      repositories: [{ name: 'infra', url: remote.directory, variables: ['API_TOKEN'], ...repository }],
    },
  };
  writeFileSync(join(folder, 'fleet.yaml'), JSON.stringify(fleetFile));
  const apply = async (name: string) => {
    const ran = await trueup(['apply', name, '--yes'], { cwd: clone, env });
    if (ran.code !== 0) throw new Error(ran.out + ran.err);
  };
  if (stacks.length > 0) push(Object.assign({}, ...stacks.map((name) => stack(name))));
  for (const name of stacks) await apply(name);
  return {
    ...{ bench, folder, env, push, stack, apply, remote: remote.directory, clone },
    sql: (text) => server.run(url, text),
    until: async (text, found) => {
      // One connection: `sql` starts a process for each question, and many scenes wait at once.
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        while ((await client.query<{ found: string }>(text)).rows[0]?.found !== found) await sleep(500);
      } finally {
        await client.end();
      }
    },
    fleet: (...args) => trueupProcess(['fleet', ...args], { cwd: folder, env }),
    work: (...args) => startTrueup(['fleet', 'work', ...args], { cwd: folder, env }),
    serve: (...args) => startTrueup(['fleet', 'serve', ...args], { cwd: folder, env }),
    makeDue: () => {
      server.run(url, 'update trueup_fleet.stacks set forced = true');
    },
    checks: ({ out }) =>
      Object.fromEntries(
        [...out.matchAll(/^infra\/(.+)\/trueup\.yaml: (.*)$/gm)].map(([, name = '', said = '']) => [
          name,
          said,
        ]),
      ),
  };
}

/** process ids of the children of a process */
export function childrenOf(pid: number): number[] {
  const stats = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return stats.map(Number).filter((id) => {
    try {
      return readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === `${pid}`;
    } catch {
      return false;
    }
  });
}
