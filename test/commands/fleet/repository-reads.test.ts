// Two workers that read one repository: the slower one has an older commit, and must not end stacks that were added since.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readOpenDrifts } from '../../../src/commands/fleet/drift-records.ts';
import type { FleetRepository } from '../../../src/commands/fleet/fleet-file.ts';
import { readStatus } from '../../../src/commands/fleet/schedule.ts';
import { FleetWorker } from '../../../src/commands/fleet/worker.ts';
import type { PostgresClient } from '../../../src/ledger/postgres-connection.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { fleetRepository } from '../../support/fleet/repository.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

async function openReads(repository: Partial<FleetRepository> = {}) {
  const { client, advance } = await openFleetDatabase(server);
  const remote = makeRemote();
  const clone = remote.clone();
  const commit = (path: string) => {
    git(clone, 'add', '.');
    git(clone, 'commit', '--quiet', '-m', path);
    git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  };
  const push = (path: string, text = 'a stack') => {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
    commit(path);
  };
  const remove = (path: string) => {
    rmSync(join(clone, path));
    commit(path);
  };
  const run = <T>(work: (client: PostgresClient) => Promise<T>) => work(client);
  const settings = fleetRepository({ name: 'infra', url: remote.directory, ...repository });
  const problems: string[] = [];
  const none = { webhookSecret: undefined, channels: [], console: undefined, freezes: [], quotas: new Map() };
  /** @param before waits before the schedule changes, as a worker that was stopped there */
  const worker = (before: () => Promise<void> = async () => {}) =>
    new FleetWorker({
      fleet: {
        ...{ ...none, name: 'acme' },
        repositories: [settings],
      },
      database: {
        // Reads of repositories send no job.
        boss: {} as PgBoss,
        run,
        transaction: async (work) => {
          // Before, the name of the repository is claimed.
          const { rows } = await client.query('select from trueup_fleet.repositories');
          if (rows.length > 0) await before();
          return work(client);
        },
      },
      ...{ folder: temporaryFolder(), env: process.env, program: '', shard: undefined },
      ...{ concurrency: 1, applyConcurrency: 1, refreshFleet: async () => {} },
      ...{ signal: new AbortController().signal, onCheck: () => {}, onApply: () => {} },
      onProblem: (problem) => problems.push(problem),
      clean: (value) => value,
    });
  /** as a new version of fleet.yaml */
  const change = (more: Partial<FleetRepository>) => Object.assign(settings, more);
  const paths = async () => (await readStatus(client)).stacks.map(({ path }) => path);
  return { client, advance, push, remove, worker, change, paths, problems };
}

it.skipIf(bin === undefined)(
  'A read records the labels of each stack, and updates them after a later commit',
  async () => {
    const secondsOf: FleetRepository['secondsOf'] = (_, labels) =>
      labels?.['tier'] === 'production' ? 60 : 900;
    const { client, push, worker } = await openReads({ secondsOf });
    const text = (tier: string) => `kind: Stack\nmetadata: { name: one, labels: { tier: ${tier} } }\n`;
    push('one/trueup.yaml', text('production'));
    push('two/trueup.yaml');
    const reading = worker();
    const rows = async () => {
      expect([...(await reading.readRepositories())]).toEqual([]);
      const { stacks } = await readStatus(client);
      const { rows: seconds } = await client.query(
        'select seconds_between_checks as seconds from trueup_fleet.stacks order by path',
      );
      return stacks.map(({ labels }, index) => [labels, seconds[index]?.seconds]);
    };
    expect(await rows()).toEqual([
      [{ tier: 'production' }, 60],
      [{}, 900],
    ]);
    expect(await rows()).toHaveLength(2);
    push('one/trueup.yaml', text('test'));
    expect(await rows()).toEqual([
      [{ tier: 'test' }, 900],
      [{}, 900],
    ]);
  },
);

it.skipIf(bin === undefined)(
  'A read that began before another one and ends after it keeps stacks that were added since',
  async () => {
    const { advance, push, worker, paths } = await openReads();
    push('one/trueup.yaml');
    const stopped = Promise.withResolvers<void>();
    const resumed = Promise.withResolvers<void>();
    const slow = worker(async () => {
      stopped.resolve();
      await resumed.promise;
    }).readRepositories();
    await stopped.promise;
    push('two/trueup.yaml');
    await advance(1000);
    await worker().readRepositories();
    expect(await paths()).toEqual(['one/trueup.yaml', 'two/trueup.yaml']);
    resumed.resolve();
    expect([...(await slow)]).toEqual([]);
    expect(await paths()).toEqual(['one/trueup.yaml', 'two/trueup.yaml']);
  },
);

it.skipIf(bin === undefined)(
  'A read follows patterns that changed in fleet.yaml, also without a new commit',
  async () => {
    const { push, worker, change, paths } = await openReads();
    push('one/trueup.yaml');
    push('two/trueup.yaml');
    const reading = worker();
    await reading.readRepositories();
    expect(await paths()).toEqual(['one/trueup.yaml', 'two/trueup.yaml']);
    change({ stacks: ['two/*.yaml'] });
    await reading.readRepositories();
    expect(await paths()).toEqual(['two/trueup.yaml']);
  },
);

it.skipIf(bin === undefined)('A read that finds no stack file any more keeps all stacks', async () => {
  const { push, remove, worker, change, paths, problems, client } = await openReads();
  push('one/trueup.yaml');
  const reading = worker();
  await reading.readRepositories();
  await client.query(
    `insert into trueup_fleet.drifts (repository, path, stack, hash, opened, changed, resources, report)
     values ('infra', 'one/trueup.yaml', 'one', 'x', now(), now(), 1, '{}')`,
  );
  const kept = async (read: FleetWorker, pattern: string) => {
    const message =
      `repository "infra" has no stack file: none of its files matches "${pattern}". Its stacks stay as they are: ` +
      'correct "stacks" or the branch, or remove the repository from fleet.yaml to end its stacks';
    expect([...(await read.readRepositories())]).toEqual([['infra', message]]);
    expect(problems.splice(0)).toEqual([message]);
    expect(await paths()).toEqual(['one/trueup.yaml']);
    expect(await readOpenDrifts(client)).toHaveLength(1);
  };
  change({ stacks: ['stack/*.yaml'] });
  await kept(reading, 'stack/*.yaml');
  await kept(worker(), 'stack/*.yaml');
  change({ stacks: ['**/trueup.yaml'] });
  remove('one/trueup.yaml');
  await kept(reading, '**/trueup.yaml');
  push('two/trueup.yaml');
  expect([...(await reading.readRepositories())]).toEqual([]);
  expect(await paths()).toEqual(['two/trueup.yaml']);
});
