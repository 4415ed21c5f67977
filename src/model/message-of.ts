/** What was thrown, in words: libraries throw more than errors. */

/** The message of an error, or the text of whatever else was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
