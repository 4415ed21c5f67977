// Problems that only a database can have: permissions, versions, connections that break.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postgresLedger } from '../../src/ledger/postgres-ledger.ts';
import type { StackStore } from '../../src/model/ledger.ts';
import { entry, ledger, lock } from '../support/ledger/ledger-samples.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';

const bin = findPostgres();

function open(url: string): StackStore {
  const store = postgresLedger(url, 'payments');
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(bin === undefined)('PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(() => {
    server = startPostgres(bin ?? '');
  });
  afterAll(() => server.stop());

  const schemas = (url: string) =>
    server.run(url, `select count(*) from pg_namespace where nspname = 'trueup'`);

  it('is not changed by a read', async () => {
    const url = server.newDatabase();
    const store = open(url);
    expect((await store.read()).known).toBe(false);
    expect(await store.readLock()).toBeUndefined();
    expect(await store.listEntries(5)).toEqual([]);
    expect(schemas(url)).toBe('0');
    await store.write(ledger(0, 'a'));
    expect(schemas(url)).toBe('1');
  });

  it('gets its schema once, from the first of several stores', async () => {
    const url = server.newDatabase();
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => open(url).keepEntries([entry(id)])));
    expect(server.run(url, 'select version from trueup.migrations')).toBe('1');
    expect(await open(url).listEntries(9)).toHaveLength(5);
  });

  it('is not asked for the newest entry if that was read under the lock', async () => {
    const url = server.newDatabase();
    const store = open(url);
    await store.lock(lock('mine'));
    await store.keepEntries([entry('a')]);
    await store.readEntries(1);
    await store.keepEntries([entry('b')]);
    server.run(url, 'drop schema trueup cascade');
    expect(await store.newestEntryId()).toBe('b');
  });

  it('can be read by a user with only read permission', async () => {
    const url = server.newDatabase();
    await open(url).write(ledger(0, 'a'));
    server.run(
      url,
      `create role looker login; grant usage on schema trueup to looker;
       grant select on all tables in schema trueup to looker`,
    );
    const looker = open(server.urlFor(url, 'looker'));
    expect((await looker.read()).serial).toBe(1);
    await expect(looker.write(ledger(1, 'b'))).rejects.toThrow(
      /the ledger of stack "payments" in PostgreSQL cannot be written: permission denied/,
    );
  });

  it('may have a schema that a user with more permissions created', async () => {
    const url = server.newDatabase();
    server.run(url, 'create role writer login; create schema trueup authorization writer');
    await open(server.urlFor(url, 'writer')).write(ledger(0, 'a'));
    expect((await open(url).read()).serial).toBe(1);
  });

  it('reports a missing permission to create the schema', async () => {
    const url = server.newDatabase();
    server.run(url, 'create role nobody_much login');
    await expect(open(server.urlFor(url, 'nobody_much')).write(ledger(0))).rejects.toThrow(
      'permission denied for database',
    );
  });

  it('is not used when a newer trueup has migrated it', async () => {
    const url = server.newDatabase();
    await open(url).write(ledger(0, 'a'));
    server.run(url, 'insert into trueup.migrations (version) values (99)');
    const newer = 'version 99, which this version of trueup does not support';
    await expect(open(url).read()).rejects.toThrow(newer);
    await expect(open(url).lock(lock('mine'))).rejects.toThrow(newer);
  });

  it('detects a manual change', async () => {
    const url = server.newDatabase();
    await open(url).write(ledger(0, 'a'));
    server.run(url, `update trueup.ledgers set content = replace(content::text, 'created', 'adopted')::json`);
    await expect(open(url).read()).rejects.toThrow('its checksum does not match');
  });

  it('may be restarted between two writes', async () => {
    const url = server.newDatabase();
    const store = open(url);
    const first = await store.write(ledger(0, 'a'));
    server.restart();
    expect((await store.write(first)).serial).toBe(2);
  });

  it('is reported when it cannot be reached, without the password', async () => {
    for (const url of [
      'postgres://me:planted@127.0.0.1:1/trueup',
      'postgres://me:of/planted@127.0.0.1:1/trueup',
      'postgres://me:pw@127.0.0.1:1/trueup?sslpassword=planted',
      'postgres://me:planted@/trueup?host=/nowhere',
      'postgres://me:planted@[broken/trueup',
    ]) {
      const failure = await open(url)
        .read()
        .catch((error: Error) => error.message);
      expect(failure).toContain('the ledger of stack "payments" in PostgreSQL cannot be read: ');
      expect(failure).not.toContain('planted');
      expect(failure).not.toMatch(/cannot be read: $/);
    }
  });
});
