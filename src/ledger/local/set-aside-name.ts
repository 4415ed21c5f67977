/** The name of a damaged ledger that was moved away. It contains the time, so that the next one does not overwrite it. */

/** `damaged-2026-11-20T12-07-41-006Z`: valid in a file name, a git path and a key. */
export function asideName(): string {
  return `damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
}
