// Which workers and repositories a fleet has, in a real PostgreSQL whose time the tests move.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFleetFile } from '../../../src/commands/fleet/kept-fleet.ts';
import { claimRepositories, renewClaim } from '../../../src/commands/fleet/repository-claims.ts';
import { readStatus, scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import {
  forgetWorker,
  nameRepositories,
  noteWorker,
  readFleetProblems,
} from '../../../src/commands/fleet/workers.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { trueup } from '../../support/captured-host.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const minute = 60_000;

async function openRepositories() {
  const { client, ...database } = await openFleetDatabase(server);
  const add = (repository: string) =>
    scheduleStacks(client, repository, [{ repository, path: 'trueup.yaml', tree: 'first', seconds: 900 }]);
  const name = (names: readonly string[], fleet = 'acme') =>
    nameRepositories(client, { fleet, names, unread: new Map() });
  const left = async () => (await readStatus(client)).stacks.map(({ repository }) => repository);
  return { client, ...database, add, name, left };
}

describe.skipIf(bin === undefined)('The workers of a fleet', () => {
  const worker = {
    ...{ host: 'one.example', pid: 7, fleet: 'acme', version: '1', concurrency: 4 },
    ...{ shard: undefined, running: 0, problem: undefined },
  };

  it('are known while they send heartbeats, and are forgotten an hour later', async () => {
    const { client, advance } = await openFleetDatabase(server);
    const ids = async () => (await client.query('select id from trueup_fleet.workers order by id')).rows;
    await noteWorker(client, { ...worker, id: 'a' });
    await noteWorker(client, { ...worker, id: 'b', problem: 'line 3: no' });
    expect(await readFleetProblems(client)).toEqual([{ message: 'line 3: no', hosts: ['one.example'] }]);
    await advance(2 * minute);
    await noteWorker(client, { ...worker, id: 'a' });
    expect(await readFleetProblems(client)).toEqual([]);
    expect(await ids()).toHaveLength(2);
    await advance(59 * minute);
    await noteWorker(client, { ...worker, id: 'a' });
    expect(await ids()).toEqual([{ id: 'a' }]);
    await forgetWorker(client, 'a');
    expect(await ids()).toEqual([]);
  });

  it('end the stacks of a repository ten minutes after it left fleet.yaml', async () => {
    const { add, name, left, advance, client } = await openRepositories();
    await add('kept');
    await add('gone');
    await name(['kept', 'gone']);
    await advance(9 * minute);
    await name(['kept']);
    expect(await left()).toEqual(['gone', 'kept']);
    await advance(2 * minute);
    await name(['kept']);
    expect(await left()).toEqual(['kept']);
    // The row stays, because it has the history.
    const { rows } = await client.query(`select removed is not null as is from trueup_fleet.stacks`);
    expect(rows).toHaveLength(2);
    // The repository comes back, and its stack is due at once.
    await add('gone');
    await name(['kept', 'gone']);
    expect(await left()).toEqual(['gone', 'kept']);
  });

  it('keep the stacks of a repository while a worker with an older file still has it', async () => {
    const { add, name, left, advance } = await openRepositories();
    await add('old');
    await name(['new', 'old']);
    for (let passed = 0; passed < 30; passed += 1) {
      await advance(minute);
      await name(['new']);
      await name(['new', 'old']);
    }
    expect(await left()).toEqual(['old']);
  });

  it('keep the stacks of another fleet, even while the workers of that fleet are down', async () => {
    const { add, name, left, advance } = await openRepositories();
    await add('theirs');
    await add('shared');
    await name(['theirs', 'shared'], 'other');
    await name(['ours', 'shared']);
    await advance(24 * 60 * minute);
    await name(['theirs', 'shared'], 'other');
    await advance(9 * minute);
    await name(['ours']);
    expect(await left()).toEqual(['shared', 'theirs']);
    await advance(6 * 24 * 60 * minute);
    await name(['ours']);
    expect(await left()).toEqual(['shared', 'theirs']);
    await name(['theirs'], 'other');
    expect(await left()).toEqual(['theirs']);
  });

  it('end the stacks of a repository that leaves a fleet after its name was changed', async () => {
    const { add, name, left, advance } = await openRepositories();
    await add('gone');
    await add('kept');
    await name(['gone', 'kept'], 'old');
    await name(['gone', 'kept'], 'new');
    await advance(60 * minute);
    await name(['kept'], 'new');
    expect(await left()).toEqual(['kept']);
  });

  it('keep a repository while a worker with the old name of the fleet still has it', async () => {
    const { client, add, name, left, advance } = await openRepositories();
    await add('gone');
    await name(['gone'], 'old');
    await name(['gone'], 'new');
    await advance(20 * minute);
    // The old worker has read a repository for longer than that.
    await noteWorker(client, { ...worker, id: 'a', fleet: 'old' });
    await name(['kept'], 'new');
    expect(await left()).toEqual(['gone']);
  });

  it('end the stacks of a renamed fleet a week later if its repositories changed at the same time', async () => {
    const { client, add, name, left, advance } = await openRepositories();
    await add('gone');
    await add('kept');
    await name(['gone', 'kept'], 'old');
    await advance(minute);
    await name(['kept'], 'new');
    await advance(6 * 24 * 60 * minute);
    await name(['kept'], 'new');
    expect(await left()).toEqual(['gone', 'kept']);
    await advance(2 * 24 * 60 * minute);
    await name(['kept'], 'new');
    expect(await left()).toEqual(['kept']);
    expect((await client.query('select fleet, name from trueup_fleet.repositories')).rows).toEqual([
      { fleet: 'new', name: 'kept' },
    ]);
  });
});

describe.skipIf(bin === undefined)('A repository of a fleet', () => {
  const infra = { name: 'infra', url: 'https://git.example.com/acme/infra.git', ref: 'main' };
  const other = { ...infra, url: 'https://git.example.com/globex/infra.git' };

  async function openClaims() {
    const database = await openFleetDatabase(server);
    const { client } = database;
    const claim = async (fleet: string, repository = infra) => {
      await client.query('begin');
      const refused = await claimRepositories(client, { fleet, repositories: [repository] });
      await client.query('commit');
      return refused.get('infra');
    };
    return { ...database, claim };
  }

  it('is not read while another fleet uses its name for another repository or branch', async () => {
    const { claim, client } = await openClaims();
    expect(await claim('acme')).toBeUndefined();
    expect(await claim('globex', other)).toBe(
      'repository "infra" of the fleet "globex" is left alone: the fleet "acme" uses this name for another repository, and both fleets use one database; give it another name in fleet.yaml',
    );
    expect(await claim('globex', { ...infra, ref: 'next' })).toContain('for another branch');
    // A fleet that was refused does not keep the name from others.
    expect(await claim('acme')).toBeUndefined();
    // The same repository with another form of its address.
    expect(await claim('globex', { ...infra, url: 'git@git.example.com:acme/infra' })).toBeUndefined();
    await expect(renewClaim(client, 'globex', other)).rejects.toThrow('is left alone');
  });

  it('can get another address together with its fleet', async () => {
    const { claim } = await openClaims();
    await claim('acme');
    expect(await claim('acme', other)).toBeUndefined();
    expect(await claim('globex')).toContain('is left alone');
    expect(await claim('globex', other)).toBeUndefined();
    // If two fleets use the repository, both must change the address.
    expect(await claim('acme')).toContain('is left alone');
    expect(await claim('globex')).toBeUndefined();
    expect(await claim('acme')).toBeUndefined();
  });

  it('can be used two days after the last worker of the other fleet has used its name', async () => {
    const { claim, advance, client } = await openClaims();
    await claim('acme');
    await advance(47 * 60 * minute);
    expect(await claim('globex', other)).toContain('is left alone');
    await advance(2 * 60 * minute);
    expect(await claim('globex', other)).toBeUndefined();
    // A worker of the first fleet that began to read it earlier.
    await expect(renewClaim(client, 'acme', infra)).rejects.toThrow('is left alone');
    expect(await claim('acme')).toContain('the fleet "globex" uses this name');
  });

  it('is stored without the login in its address', async () => {
    const { claim, client } = await openClaims();
    await claim('acme', { ...infra, url: 'https://ann:secret-word@git.example.com/acme/infra.git' });
    const { rows } = await client.query('select fleet, name, url, ref from trueup_fleet.repositories');
    expect(rows).toEqual([{ fleet: 'acme', name: 'infra', url: 'git.example.com/acme/infra', ref: 'main' }]);
  });

  it('belongs to one of two fleets that claim its name at the same moment', async () => {
    const { client, connect } = await openClaims();
    const clients = await Promise.all([connect(), connect()]);
    const refused = await Promise.all(
      clients.map(async (one, index) => {
        await one.query('begin');
        const repositories = [index === 0 ? infra : other];
        const why = await claimRepositories(one, { fleet: `fleet-${index}`, repositories });
        await one.query('commit');
        return why.size;
      }),
    );
    expect(refused.toSorted()).toEqual([0, 1]);
    const { rows } = await client.query('select fleet from trueup_fleet.repositories where url is not null');
    expect(rows).toHaveLength(1);
  });
});

describe('A fleet file that changes', () => {
  const text = (repositories: readonly string[], more = '') =>
    JSON.stringify({
      apiVersion: 'trueup.dev/v1',
      kind: 'Fleet',
      metadata: { name: 'acme' },
      spec: { repositories: repositories.map((name) => ({ name, url: 'https://git.example.com/acme' })) },
    }) + more;

  it('is used in its last valid version, and its error is reported', async () => {
    const path = join(temporaryFolder(), 'fleet.yaml');
    writeFileSync(path, text(['one']));
    const file = await openFleetFile(path);
    const names = () => file.fleet.repositories.map(({ name }) => name);
    writeFileSync(path, text(['one', 'Two']));
    await file.refresh();
    expect(names()).toEqual(['one']);
    expect(file.problem).toMatch(
      /^the new version of the fleet file is not valid, so the last valid one stays in use: line 1: /,
    );
    writeFileSync(path, text(['one', 'two']));
    await file.refresh();
    expect(names()).toEqual(['one', 'two']);
    expect(file.problem).toBeUndefined();
    writeFileSync(path, '');
    await file.refresh();
    expect(names()).toEqual(['one', 'two']);
    expect(file.problem).toContain('must hold one document');
  });
});

it.each(['--concurrency', '--apply-concurrency'])(
  '%s is at most 100, because each of them is a process',
  async (flag) => {
    const { code, err } = await trueup(['fleet', 'run', flag, '101'], { cwd: temporaryFolder() });
    expect(code).toBe(1);
    expect(err).toContain('a number from 1 to 100; for more, start more workers');
  },
);
