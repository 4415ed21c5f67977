/** Records what the tests that the conformance pages name send and assert, where `TRUEUP_RECORD_CONFORMANCE` names a folder for it. */
import { mkdirSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

import { RECORD_VARIABLE } from './evidence.ts';
import { namedFiles, testsFolder } from './rows.ts';

const folder = process.env[RECORD_VARIABLE];
const file = relative(testsFolder, expect.getState().testPath ?? '');

/** A worker runs many files, and this one before each of them. */
const ofProcess = globalThis as { recorded?: { readonly files: ReadonlySet<string> } };

if (folder !== undefined && (await begun(folder)).has(file)) {
  const { writeDown } = await import('./recorder.ts');
  // What is sent before the tests of the file is for all of them.
  beforeEach(() => writeDown(folder, file, []));
  afterEach(({ task }) => writeDown(folder, file, titlesAround(task)));
  afterAll(() => writeDown(folder, file, []));
}

/** The files that the pages name, once this process records. */
async function begun(into: string): Promise<ReadonlySet<string>> {
  if (ofProcess.recorded === undefined) {
    mkdirSync(into, { recursive: true });
    ofProcess.recorded = { files: namedFiles() };
    (await import('./recorder.ts')).record();
  }
  return ofProcess.recorded.files;
}

interface Titled {
  readonly name: string;
  readonly suite?: Titled | undefined;
}

function titlesAround({ name, suite }: Titled): string[] {
  return [...(suite === undefined ? [] : titlesAround(suite)), name];
}
