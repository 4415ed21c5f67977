// A data file for one test, and its contents.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { onTestFinished } from 'vitest';

/** All rows of a data file, by table. */
export function contents(file: string): Record<string, unknown[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return Object.fromEntries(
      tables.map(({ name }) => [String(name), database.prepare(`SELECT * FROM "${name}"`).all()]),
    );
  } finally {
    database.close();
  }
}

/** A path for a data file, in a folder that is removed at the end of the test. */
export function temporaryDataFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-server-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'embedded.db');
}
