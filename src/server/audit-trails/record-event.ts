/**
 * Writing the audit trail.
 * Invariant: an event is written in the transaction of the change it tells about, so neither exists without the other.
 */
import { randomUUID } from 'node:crypto';

import type { Database } from '../data-file/database.ts';

/** Who did it: a user, or the service account of a team's or an organization's token. */
interface AuditActor {
  readonly userId: string;
  readonly username: string;
}

export interface AuditEvent {
  readonly organizationId: string;
  readonly actor: AuditActor;
  /** The request's id, as answered in `X-Request-Id`. */
  readonly requestId?: string;
  readonly resource: { readonly id: string; readonly type: string; readonly action: string };
  /** What only some kinds of events carry. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Adds one event. Call it inside the transaction of the change. */
export function recordEvent(database: Database, event: AuditEvent, now: Date): void {
  database.insert('audit_events', {
    id: randomUUID(),
    organization_id: event.organizationId,
    timestamp: now.toISOString(),
    actor_id: event.actor.userId,
    actor_name: event.actor.username,
    actor_type: 'Client',
    request_id: event.requestId ?? null,
    resource_id: event.resource.id,
    resource_type: event.resource.type,
    resource_action: event.resource.action,
    meta: event.meta === undefined ? null : JSON.stringify(event.meta),
  });
}
