/** Names of members that the service's library takes in any case. */

/** The same for all names that differ in case alone: also for the two letters beyond ASCII that have one of ASCII in the other case. */
export function foldedName(name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase();
}
