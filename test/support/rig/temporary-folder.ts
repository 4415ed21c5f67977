/** Folders for tests, in the temporary directory of the system. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Texts or bytes by path; missing folders on the path are created. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Makes a folder with these files, which is removed at the end of the test. @returns its path */
export function temporaryFolder(files: Files = {}): string {
  const folder = makeFolder(files);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** The same, but the caller must remove it: for folders that outlive a test, or of which one test makes many. */
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
