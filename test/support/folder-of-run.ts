/** A folder for templates that the tests of one process make once and copy; it is removed at the end of the test run. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'trueup-templates-'));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.env['TRUEUP_TEST_TEMPLATES'] = folder;
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
