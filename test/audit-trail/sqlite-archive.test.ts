// Permissions of the file of an archive, and errors with it.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sqliteArchive } from '../../src/audit-trail/sqlite-archive.ts';
import { loadSqlite } from '../../src/ledger/exclusive-file.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

function openAt(file: string) {
  const archive = sqliteArchive(file);
  onTestFinished(() => archive.close());
  return archive;
}

function run(file: string, sql: string): void {
  const database = new (loadSqlite().DatabaseSync)(file);
  database.exec(sql);
  database.close();
}

const head = { readAt: 1, completeFrom: 0 };

it('the file is readable only by its owner, and its folder is created', async () => {
  const file = join(temporaryFolder(), 'kept', 'audit.db');
  await openAt(file).keep('acme', { events: [], head });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('a file that is not a database is not changed', async () => {
  const file = join(temporaryFolder(), 'notes.txt');
  await writeFile(file, 'a diary, and not a short one: '.repeat(40));
  const before = await readFile(file);
  await expect(openAt(file).keep('acme', { events: [], head })).rejects.toThrow(
    `the archive "${file}" cannot be written: file is not a database`,
  );
  expect(await readFile(file)).toEqual(before);
});

it('the database of another program is not changed', async () => {
  const file = join(temporaryFolder(), 'other.db');
  run(file, 'create table events (id text)');
  const before = await readFile(file);
  await expect(openAt(file).keep('acme', { events: [], head })).rejects.toThrow(
    'its file is another database, which is not changed',
  );
  await expect(openAt(file).head('acme')).rejects.toThrow('is another database');
  expect(await readFile(file)).toEqual(before);
});

it('the archive of a newer trueup is refused', async () => {
  const file = join(temporaryFolder(), 'audit.db');
  await openAt(file).keep('acme', { events: [], head });
  run(file, 'pragma user_version = 99');
  await expect(openAt(file).head('acme')).rejects.toThrow(
    'version 99, which this version of trueup does not support',
  );
});

it('a folder at the path of the file is reported by its name', async () => {
  const folder = temporaryFolder();
  await expect(openAt(folder).keep('acme', { events: [], head })).rejects.toThrow(
    `the archive "${folder}" cannot be written`,
  );
});

it('a damaged event is reported by its id', async () => {
  const file = join(temporaryFolder(), 'audit.db');
  await openAt(file).keep('acme', { events: [], head });
  run(file, `insert into events (trail, id, at, content) values ('acme', 'e1', 1, '{"id":"e1"}')`);
  const reading = openAt(file).newestFirst('acme');
  await expect(reading.next()).rejects.toThrow(/of event "e1" in the archive/);
});
