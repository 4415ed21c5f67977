/** The stores that can hold an archive, for tests that run against each: a file, and PostgreSQL if it is installed. */
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Archive } from '../../../src/audit-trail/archive.ts';
import { postgresArchive } from '../../../src/audit-trail/postgres-archive.ts';
import { sqliteArchive } from '../../../src/audit-trail/sqlite-archive.ts';
import { noSignals } from '../../../src/ledger/ledger-store.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../ledger/postgres-server.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface ArchiveStore {
  /** opens a new archive, or the one with this name; it is closed at the end of the test */
  open(name?: string): Archive;
  newName(): string;
}

/** Call it in a `describe`. */
export const archiveStores: readonly (readonly [string, () => ArchiveStore, boolean])[] = [
  ['a file', () => ({ open: openFile, newName: newFile }), true],
  ['PostgreSQL', postgresStore, findPostgres() !== undefined],
];

function newFile(): string {
  return join(temporaryFolder(), 'audit.db');
}

function openFile(name = newFile()): Archive {
  return closedWithTest(sqliteArchive(name));
}

function postgresStore(): ArchiveStore {
  let server: PostgresServer | undefined;
  beforeAll(() => {
    server = startPostgres(findPostgres() ?? '');
  });
  afterAll(() => server?.stop());
  const newName = () => server?.newDatabase() ?? '';
  return { open: (name = newName()) => closedWithTest(postgresArchive(name, noSignals)), newName };
}

function closedWithTest(archive: Archive): Archive {
  onTestFinished(() => archive.close());
  return archive;
}
