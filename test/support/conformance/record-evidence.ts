/** Records what the tests that the conformance pages name send and assert, where `TRUEUP_RECORD_CONFORMANCE` names a folder for it. */
import { mkdirSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

import { RECORD_VARIABLE } from './evidence.ts';
import { namedFiles, testsFolder } from './rows.ts';

const folder = process.env[RECORD_VARIABLE];
const file = relative(testsFolder, expect.getState().testPath ?? '');

/** A worker runs many files, and this one before each of them. */
const ofProcess = globalThis as { namedFiles?: ReadonlySet<string> };

if (folder !== undefined) {
  const named = begun(folder);
  const { take, writeDown } = await import('./recorder.ts');
  take(named.has(file));
  if (named.has(file)) {
    // What is sent before the tests of the file is for all of them.
    beforeEach(() => writeDown(folder, file, []));
    afterEach(({ task }) => writeDown(folder, file, titlesAround(task)));
    afterAll(() => writeDown(folder, file, []));
  }
}

/** The files that the pages name. */
function begun(into: string): ReadonlySet<string> {
  if (ofProcess.namedFiles === undefined) {
    mkdirSync(into, { recursive: true });
    ofProcess.namedFiles = namedFiles();
  }
  return ofProcess.namedFiles;
}

interface Titled {
  readonly name: string;
  readonly suite?: Titled | undefined;
}

function titlesAround({ name, suite }: Titled): string[] {
  return [...(suite === undefined ? [] : titlesAround(suite)), name];
}
