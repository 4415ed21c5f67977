/**
 * Modules that a process loads with `node --import` to be killed. Node needs 90 ms to strip the types of one, in each of thousands
 * of processes, so they are stripped once here.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @returns the URL for `node --import` */
export function preload(name: 'kill-at-ledger-write' | 'kill-at-rename' | 'kill-at-statement'): string {
  const source = readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8');
  const path = join(process.env['TRUEUP_TEST_TEMPLATES'] ?? '', `${name}.mjs`);
  // Other test files may read it at the same time.
  writeFileSync(`${path}.${process.pid}`, stripTypeScriptTypes(source));
  renameSync(`${path}.${process.pid}`, path);
  return pathToFileURL(path).href;
}
