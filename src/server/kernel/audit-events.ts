/**
 * Writes events of the audit trail. An event is written in the transaction of the change that it records, so neither exists
 * without the other. A request that changes nothing, or is refused, records no event. One that changes several things (the flat tags of
 * many workspaces, the members of a team) records an event for each. The deletion of a team or a project is one event: what is
 * deleted with it gets no event of its own.
 * Types and actions are those of wire/audit-trails 3. Where that page has none, they follow its style.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from './database.ts';
import { stableId } from './identifiers.ts';
import type { Services } from './services.ts';

/** A user, the service account of a team's or an organization's token, or the service itself. */
interface AuditActor {
  readonly userId: string;
  readonly username: string;
  /** The user who impersonates that user. */
  readonly impersonatorId: string | undefined;
  readonly isService?: true;
}

/** The actor of events without a request: a queued run starts, or a run is applied automatically. */
export const SERVICE_ITSELF: AuditActor = {
  // No user has such a name, so no user has this id.
  userId: stableId('user', '', 'system'),
  username: 'system',
  impersonatorId: undefined,
  isService: true,
};

/** Who requested a change, and the id of the API request, if any. An `ApiRequest` fits this type. */
export interface EventCause {
  readonly services: Services;
  readonly caller: AuditActor;
  readonly requestId?: string;
}

interface AuditEvent {
  readonly organizationId: string;
  readonly actor: AuditActor;
  /** The request's id, as answered in `X-Request-Id`. */
  readonly requestId?: string | null | undefined;
  readonly resource: { readonly id: string; readonly type: string; readonly action: string };
  /** Further data, which only some kinds of events have. */
  readonly meta?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Records an event of a resource. Call it inside the transaction of the change.
 * @param kind its type and action: `workspace.update`
 */
export function recordEvent(
  { services, caller, requestId }: EventCause,
  kind: `${string}.${string}`,
  resource: { readonly id: string; readonly organization_id: string },
  meta?: AuditEvent['meta'],
): void {
  const [type = '', action = ''] = kind.split('.');
  const { id, organization_id: organizationId } = resource;
  const event = { organizationId, actor: caller, requestId, resource: { id, type, action }, meta };
  insertEvent(services.database, event, services.now());
}

/** Adds one event with the time `at`. Call it inside the transaction of the change. @returns its id */
export function insertEvent(database: Database, event: AuditEvent, at: Date): string {
  const id = randomUUID();
  database.insert('audit_events', {
    id,
    organization_id: event.organizationId,
    timestamp: at.toISOString(),
    actor_id: event.actor.userId,
    actor_name: event.actor.username,
    actor_type: actorType(event.actor),
    impersonator_id: event.actor.impersonatorId ?? null,
    request_id: event.requestId ?? null,
    resource_id: event.resource.id,
    resource_type: event.resource.type,
    resource_action: event.resource.action,
    meta: event.meta ? JSON.stringify(event.meta) : null,
  });
  return id;
}

function actorType({ impersonatorId, isService }: AuditActor): 'Client' | 'Impersonated' | 'System' {
  if (isService === true) return 'System';
  return impersonatorId === undefined ? 'Client' : 'Impersonated';
}
