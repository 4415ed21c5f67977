/** The message of a thrown value: libraries may throw values that are no errors. */

/** The message of an error; any other thrown value as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
