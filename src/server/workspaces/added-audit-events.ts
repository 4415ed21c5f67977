/**
 * Events that a seed or the admin API adds to a trail, because the service cannot cause them itself. The actor is an existing
 * user or the service. Source: wire/audit-trails 3.
 */
import { randomUUID } from 'node:crypto';
import { insertEvent, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import { type SchemaCheck, schemaCheck } from '../kernel/check-schema.ts';
import type { Database } from '../kernel/database.ts';
import { type AddedEvent, EVENT_KINDS } from './audit-event-schema.ts';

/** Names a user who does not exist. */
export class UnknownActorError extends Error {
  override readonly name = 'UnknownActorError';

  constructor(username: string) {
    super(`an event of the audit trail names the user "${username}", who is not there`);
  }
}

/** Adds a checked event to the trail of an organization. @returns its id @throws UnknownActorError */
export function addEvent(database: Database, organizationId: string, event: AddedEvent, now: Date): string {
  const impersonator = event['impersonated-by'];
  const actor =
    event.by === undefined
      ? SERVICE_ITSELF
      : { userId: userId(database, event.by), username: event.by, impersonatorId: undefined };
  return insertEvent(
    database,
    {
      organizationId,
      actor: { ...actor, impersonatorId: impersonator && userId(database, impersonator) },
      requestId: event['request-id'],
      resource: { id: event.resource ?? randomUUID(), type: event.type, action: event.action },
      meta: event.meta,
    },
    event.at === undefined ? now : new Date(event.at),
  );
}

/** @throws UnknownActorError */
function userId(database: Database, username: string): string {
  const row = database.get<{ id: string }>('SELECT id FROM users WHERE username = :username', { username });
  if (row === undefined) throw new UnknownActorError(username);
  return row.id;
}

const metaChecks = new WeakMap<object, SchemaCheck>();

/** What the schema of an event cannot express: its action, and what it carries. `at` is the path of the event. */
export function eventProblems(event: AddedEvent, at: string): string[] {
  const actions = EVENT_KINDS[event.type] ?? {};
  const schema = Object.hasOwn(actions, event.action) ? actions[event.action] : undefined;
  const noActor = event['impersonated-by'] !== undefined && event.by === undefined;
  return [
    ...(noActor ? [`${at}.impersonated-by needs by: somebody acts in a user's name`] : []),
    ...(schema === undefined
      ? [`${at}.action must be one of ${Object.keys(actions).join(', ')}`]
      : metaCheck(schema)(event.meta ?? null, `${at}.meta`).map(({ text }) => text)),
  ];
}

function metaCheck(schema: object): SchemaCheck {
  const check = metaChecks.get(schema) ?? schemaCheck(schema, { root: 'meta' });
  metaChecks.set(schema, check);
  return check;
}
