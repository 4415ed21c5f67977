/**
 * Writes `schemas/*.schema.json` from the kinds, so that editors complete and check what trueup itself would accept, and the schema of
 * a new database of the embedded service from its migrations.
 * `--check` writes nothing and exits 1 when a file is not what would be written.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { allSchemas } from '../src/commands/schema.ts';
import { kinds } from '../src/kinds/index.ts';
import { kebabCase } from '../src/model/field.ts';
import type { JsonObject } from '../src/model/json.ts';
import { writeNewDatabase } from './write-database-schema.ts';

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));

/** What each file of `schemas/` must hold. No `$id`: the files refer to nothing and work from any path. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map([...allSchemas(kinds)].map(([name, schema]) => [schemaFileName(name), asText(schema)]));
}

/** @param name as "trueup schema" knows it */
export function schemaFileName(name: string): string {
  return `${kebabCase(name).replace(/^-/, '')}.schema.json`;
}

function asText({ $id: _, ...schema }: JsonObject): string {
  return `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }, null, 2)}\n`;
}

async function staleFiles(wanted: ReadonlyMap<string, string>): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const present = await readdir(folder);
  const superfluous = present.filter((file) => !wanted.has(file));
  const changed = await Promise.all(
    [...wanted].map(async ([file, text]) =>
      present.includes(file) && (await readFile(`${folder}${file}`, 'utf8')) === text ? [] : [file],
    ),
  );
  return [...superfluous, ...changed.flat()].sort();
}

async function main(): Promise<void> {
  const wanted = schemaFiles();
  const stale = await staleFiles(wanted);
  if (process.argv.includes('--check')) {
    for (const file of stale) console.error(`schemas/${file} is not fresh: run "npm run schemas"`);
    const isFresh = await writeNewDatabase({ onlyChecks: true });
    if (!isFresh) console.error('src/server/kernel/new-database.ts is not fresh: run "npm run schemas"');
    process.exitCode = stale.length === 0 && isFresh ? 0 : 1;
    return;
  }
  await writeNewDatabase({ onlyChecks: false });
  for (const file of stale) {
    const text = wanted.get(file);
    if (text === undefined) await rm(`${folder}${file}`);
    else await writeFile(`${folder}${file}`, text);
    console.log(`${text === undefined ? 'removed' : 'wrote'} schemas/${file}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
