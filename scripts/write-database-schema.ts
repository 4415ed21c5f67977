/**
 * Writes `src/server/kernel/new-database.ts`: the result of all migrations on an empty database, so that a new one does not run each
 * of them, which takes ten times as long.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../src/server/kernel/migrations.ts';

const file = fileURLToPath(new URL('../src/server/kernel/new-database.ts', import.meta.url));

/** A statement in one line, without comments. */
function oneLine(sql: string): string {
  return sql
    .replace(/--[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/\( /g, '(')
    .replace(/ \)/g, ')');
}

function newDatabaseFile(): string {
  const sqlite = new DatabaseSync(':memory:');
  for (const sql of MIGRATIONS) sqlite.exec(sql);
  const listed = sqlite
    .prepare(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
    )
    .all();
  const releases = sqlite.prepare('SELECT version FROM releases ORDER BY version').all();
  sqlite.close();
  const statements = [
    ...listed.map(({ sql }) => oneLine(String(sql))),
    'INSERT INTO data_file (proof_key) VALUES (lower(hex(randomblob(32))))',
    `INSERT INTO releases (version) VALUES\n${wrapped(releases.map(({ version }) => `('${version}')`))}`,
    `PRAGMA user_version = ${MIGRATIONS.length}`,
  ];
  return `/** Written by "npm run schemas" from the migrations: what they make of an empty database. */
export const NEW_DATABASE = \`
${statements.map((sql) => `${sql};\n`).join('')}\`;
`;
}

function wrapped(values: readonly string[]): string {
  const lines: string[] = [];
  for (const value of values) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + value.length < 100) lines[lines.length - 1] = `${last}, ${value}`;
    else lines.push(value);
  }
  return lines.join(',\n');
}

/** @returns whether the file is up to date, or was written */
export async function writeNewDatabase({ onlyChecks }: { readonly onlyChecks: boolean }): Promise<boolean> {
  const text = newDatabaseFile();
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return true;
  if (onlyChecks) return false;
  await writeFile(file, text);
  return true;
}
