/**
 * What every part of the embedded service gets handed: the database, the clock, identities, the audit trail.
 * Invariant: parts reach the outside world only through this value, so a test can replace the clock and nothing leaks
 * between two servers in one process.
 */
import { type AuditEvent, recordEvent } from './audit-trails/record-event.ts';
import type { Database } from './data-file/database.ts';
import { authenticateServiceToken, type ServiceIdentity } from './identity/service-identity.ts';

export interface Services {
  readonly database: Database;
  now(): Date;
  /** The identity behind an `X-Service-Token` header; undefined when it is missing, unknown or expired. */
  authenticateServiceToken(header: string | string[] | undefined): ServiceIdentity | undefined;
  /** Adds to the audit trail; call it inside the transaction of the change. */
  recordEvent(event: AuditEvent): void;
}

export function createServices(database: Database, now: () => Date): Services {
  return {
    database,
    now,
    authenticateServiceToken: (header) => authenticateServiceToken(database, header, now()),
    recordEvent: (event) => recordEvent(database, event, now()),
  };
}
