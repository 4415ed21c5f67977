/**
 * Builds the program once for a whole test run: tests start it several thousand times, and from its sources each start takes six times as
 * long. Every run has a folder of its own, inside the checkout, where Node finds the dependencies. `TRUEUP_BUILT_MAIN` names another
 * program to start, such as `src/main.ts`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
let built: string | undefined;

export function setup(): void {
  if (process.env['TRUEUP_BUILT_MAIN'] !== undefined) return;
  const folder = join(root, '.built-for-tests');
  mkdirSync(folder, { recursive: true });
  built = mkdtempSync(join(folder, 'run-'));
  execFileSync(process.execPath, [join(root, 'scripts', 'build.ts'), '--to', built], { stdio: 'pipe' });
  process.env['TRUEUP_BUILT_MAIN'] = join(built, 'main.js');
}

export function teardown(): void {
  if (built !== undefined) rmSync(built, { recursive: true, force: true });
}
