/** Folders for tests, in the system's own place for such things. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Texts or bytes by path; folders on the way to a file come into being with it. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The path of a new folder with these files; gone when the test has ended. */
export function temporaryFolder(files: Files = {}): string {
  const folder = makeFolder(files);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** The same for what outlives a test, or is made many times in one: whoever makes it removes it. */
export function makeFolder(files: Files = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-test-'));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
