/** Records what the tests that the conformance pages name send and assert, if `TRUEUP_RECORD_CONFORMANCE` has the path of a folder. */
import { mkdirSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

import { RECORD_VARIABLE } from './evidence.ts';
import { namedFiles, testsFolder } from './rows.ts';

const folder = process.env[RECORD_VARIABLE];
const file = relative(testsFolder, expect.getState().testPath ?? '');

/** A worker runs many test files, and this file before each of them. */
const ofProcess = globalThis as { namedFiles?: ReadonlySet<string> };

if (folder !== undefined) {
  const named = prepareFolder(folder);
  const { startRecording, writeEvidence } = await import('./recorder.ts');
  startRecording(named.has(file));
  if (named.has(file)) {
    // Requests before the first test of the file are evidence of all its tests.
    beforeEach(() => writeEvidence(folder, file, []));
    afterEach(({ task }) => writeEvidence(folder, file, titlesAround(task)));
    afterAll(() => writeEvidence(folder, file, []));
  }
}

/** Creates the folder. @returns the test files that the pages name */
function prepareFolder(into: string): ReadonlySet<string> {
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
