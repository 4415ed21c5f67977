/** What a ledger is called once it was moved out of the way: by the moment, so that no second one takes its place. */

/** `damaged-2026-11-20T12-07-41-006Z`: fit for a file, a git path and a key. */
export function asideName(): string {
  return `damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
}
