import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { Database, loadSqlite } from '../../../src/server/kernel/database.ts';
import { MIGRATIONS } from '../../../src/server/kernel/migrations.ts';

function open(file = ':memory:'): Database {
  const database = Database.open(file);
  onTestFinished(() => database.close());
  return database;
}

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-database-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'embedded.db');
}

function addMount(database: Database, path: string): void {
  database.insert('mounts', { id: path, path, type: 'cluster-auth', created_at: '2026-01-01T00:00:00.000Z' });
}

function mounts(database: Database): string[] {
  return database.all<{ path: string }>('SELECT path FROM mounts ORDER BY path').map(({ path }) => path);
}

it('rolls a transaction back when it throws', () => {
  const database = open();
  const failing = () =>
    database.transaction(() => {
      addMount(database, 'a');
      throw new Error('no');
    });
  expect(failing).toThrow('no');
  expect(mounts(database)).toEqual([]);
});

it('joins an inner transaction to the outer one', () => {
  const database = open();
  const failing = () =>
    database.transaction(() => {
      database.transaction(() => addMount(database, 'inner'));
      throw new Error('outer');
    });
  expect(failing).toThrow('outer');
  expect(mounts(database)).toEqual([]);
});

it('works again after a refused statement', () => {
  const database = open();
  addMount(database, 'a');
  expect(() => database.transaction(() => addMount(database, 'a'))).toThrow(/UNIQUE/);
  database.transaction(() => addMount(database, 'b'));
  expect(mounts(database)).toEqual(['a', 'b']);
});

it('migrates a file once, and finds it current the next time', () => {
  const file = temporaryFile();
  const first = Database.open(file);
  addMount(first, 'kept');
  first.close();
  const second = open(file);
  expect(second.get<{ user_version: number }>('PRAGMA user_version')?.user_version).toBe(MIGRATIONS.length);
  expect(mounts(second)).toEqual(['kept']);
});

it('shows one consistent view inside a snapshot while another connection writes', () => {
  const file = temporaryFile();
  const [reader, writer] = [open(file), open(file)];
  reader.snapshot(() => {
    expect(mounts(reader)).toEqual([]);
    addMount(writer, 'new');
    expect(mounts(reader)).toEqual([]);
  });
  expect(mounts(reader)).toEqual(['new']);
});

it('sees commits of another connection immediately', () => {
  const file = temporaryFile();
  const [one, two] = [open(file), open(file)];
  one.transaction(() => addMount(one, 'a'));
  expect(mounts(two)).toEqual(['a']);
});

it.each([
  ['flushes a transaction to the disk when it ends', {}, 2],
  ['leaves the flush to the operating system with relaxed writes', { relaxed: true }, 1],
])('%s', (_title, options, synchronous) => {
  const database = Database.open(temporaryFile(), options);
  onTestFinished(() => database.close());
  expect(database.get('PRAGMA synchronous')).toEqual({ synchronous });
});

it('enforces foreign keys', () => {
  const database = open();
  const orphan = { organization_id: 'org-none', user_id: 'user-none' };
  expect(() => database.insert('organization_memberships', orphan)).toThrow(/FOREIGN KEY/);
});

it('creates a new database with the same schema as all migrations', () => {
  const { DatabaseSync } = loadSqlite();
  const migrated = new DatabaseSync(':memory:');
  onTestFinished(() => migrated.close());
  for (const sql of MIGRATIONS) migrated.exec(sql);
  const fresh = open();
  const plain = (sql: unknown) =>
    String(sql)
      .replace(/--[^\n]*/g, '')
      .replace(/\s+/g, '');
  const objects = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid";
  const releases = 'SELECT version FROM releases ORDER BY version';
  const both = (sql: string) => [fresh.all<{ sql?: string }>(sql), migrated.prepare(sql).all()];
  const [made = [], wanted = []] = both(objects).map((rows) =>
    rows.map((row) => ({ ...row, sql: plain(row.sql) })),
  );
  expect(made).toEqual(wanted);
  expect(made.length).toBeGreaterThan(60);
  const [versions, all] = both(releases);
  expect(versions).toEqual(all);
  expect(fresh.get('PRAGMA user_version')).toEqual({ user_version: MIGRATIONS.length });
  expect(fresh.all<{ proof_key: string }>('SELECT proof_key FROM data_file')).toEqual([
    expect.objectContaining({ proof_key: expect.stringMatching(/^[0-9a-f]{64}$/) }),
  ]);
});
