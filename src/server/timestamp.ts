/**
 * Times that users write: in bodies, and in seeds.
 * Invariant: only days that the calendar has. `Date` takes the 30th of February for a day of March.
 */

/** Milliseconds since 1970 of an ISO 8601 date or time, or undefined for any other text. A time without a zone is local. */
export function readTimestamp(text: string): number | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:$|T\d\d:\d\d)/.exec(text)?.[1];
  const time = Date.parse(text);
  if (day === undefined || Number.isNaN(time)) return undefined;
  const known = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(known.getTime()) && known.toISOString().startsWith(day) ? time : undefined;
}
