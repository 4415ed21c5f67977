/**
 * How long events are kept. What is older is not answered; it leaves the data file when a server starts on it, so that moving
 * the clock of a running one takes nothing away.
 * Source: wire/audit-trails 1.4.
 */

import type { Database } from '../data-file/database.ts';

const RETENTION_MS = 14 * 86_400_000;

/** Times in the data file are texts, which compare as times do as long as their years have four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The time, as the data file has it, after which events are answered: `since`, or what is forgotten by now. */
export function answeredAfter(now: Date, since = Number.NEGATIVE_INFINITY): string {
  return new Date(Math.min(Math.max(since, now.getTime() - RETENTION_MS), LAST_MS)).toISOString();
}

/** Takes out of the data file what nobody is answered any more. */
export function forgetOldEvents(database: Database, now: Date): void {
  database.run('DELETE FROM audit_events WHERE timestamp <= :after', { after: answeredAfter(now) });
}
