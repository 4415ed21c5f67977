/**
 * `npm run conformance`: compares each row of the pages below docs/internals/conformance with the requests and assertions of the tests
 * that the row names. Runs these tests to record them, unless `TRUEUP_RECORD_CONFORMANCE` names a folder with earlier records, as in
 * `.ci/run`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { problemsOf } from '../test/support/conformance/check-rows.ts';
import { RECORD_VARIABLE, readEvidence } from '../test/support/conformance/evidence.ts';
import { conformancePages, namedFiles, readPage, rowsOf } from '../test/support/conformance/rows.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs all tests that the pages name, without those of Terraform if it is not installed. @returns whether they pass */
function recordInto(folder: string): boolean {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const hasTerraform = spawnSync('terraform', ['version']).error === undefined;
  const files = [...namedFiles()]
    .filter((file) => hasTerraform || !file.startsWith('real-clients/'))
    .map((file) => `test/${file}`);
  const { status } = spawnSync(process.execPath, [vitest, 'run', '--reporter=dot', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, [RECORD_VARIABLE]: folder },
  });
  return status === 0;
}

/** Prints the rows that do not hold, and how many rows there are. @returns whether all of them hold */
function check(folder: string): boolean {
  const evidence = readEvidence(folder);
  const ran = new Set(evidence.map(({ file }) => file));
  const counts = { rows: 0, failing: 0 };
  for (const page of conformancePages())
    for (const row of rowsOf(readPage(page))) {
      const problems = problemsOf(row, evidence);
      counts.rows += 1;
      counts.failing += problems.length > 0 ? 1 : 0;
      for (const problem of problems) console.log(`${page} row ${row.number}: ${problem}`);
    }
  const absent = [...namedFiles()].filter((file) => !ran.has(file));
  for (const file of absent) console.log(`not run, so checked by its source alone: ${file}`);
  console.log(`${counts.rows} rows, ${counts.failing} of them not shown by the tests that they name`);
  return counts.failing === 0;
}

const recorded = process.env[RECORD_VARIABLE];
const folder = recorded ?? mkdtempSync(join(tmpdir(), 'conformance-'));
try {
  const passed = recorded !== undefined || recordInto(folder);
  process.exitCode = check(folder) && passed ? 0 : 1;
} finally {
  if (recorded === undefined) rmSync(folder, { recursive: true, force: true });
}
