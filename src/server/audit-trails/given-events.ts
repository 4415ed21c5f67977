/**
 * Events that are put into a trail as they are told, by a seed or by the admin API: what the service cannot cause itself.
 * Invariant: each is one of a kind that the trail knows and carries what its kind carries; its actor is a user who is there,
 * or the service itself.
 * Source: wire/audit-trails 3.
 */
import { randomUUID } from 'node:crypto';

import type { Database } from '../data-file/database.ts';
import { anything, type Check, object, text, time } from '../seed/seed-reader.ts';
import { checkKind } from './event-kinds.ts';
import { insertEvent, SERVICE_ITSELF } from './record-event.ts';

/** As a seed and the admin API tell it. */
export interface GivenEvent {
  readonly type: string;
  readonly action: string;
  /** The id of what it happened to; one is made up where it is left out. */
  readonly resource?: string;
  /** Default: now. */
  readonly at?: string | Date;
  /** The username of who did it; without it the service did. */
  readonly by?: string;
  /** The username of who acted in that user's name. */
  readonly 'impersonated-by'?: string;
  readonly 'request-id'?: string;
  /** What the kind carries beyond the standard members. */
  readonly meta?: Readonly<Record<string, unknown>> | null;
}

const uuid: Check = (value, path, problems) => {
  if (typeof value !== 'string' || !/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value))
    problems.push(`${path} must be a UUID`);
};

const members = object(
  {
    type: text,
    action: text,
    resource: text,
    at: time,
    by: text,
    'impersonated-by': text,
    'request-id': uuid,
    meta: anything,
  },
  ['type', 'action'],
);

/** Checks one event; adds to `problems` what is wrong with it. */
export const givenEvent: Check = (value, path, problems) => {
  const known = problems.length;
  members(value, path, problems);
  if (problems.length > known) return;
  const event = value as GivenEvent;
  if (event['impersonated-by'] !== undefined && event.by === undefined)
    problems.push(`${path}${path === '' ? '' : '.'}impersonated-by needs by: somebody acts in a user's name`);
  checkKind(event, path, problems);
};

/** Somebody whom an event names is not there. */
export class UnknownActorError extends Error {
  override readonly name = 'UnknownActorError';

  constructor(username: string) {
    super(`an event of the audit trail names the user "${username}", who is not there`);
  }
}

/** Puts a checked event into the trail of an organization. @returns its id @throws UnknownActorError */
export function putEvent(database: Database, organizationId: string, event: GivenEvent, now: Date): string {
  const actorId = event.by === undefined ? SERVICE_ITSELF.userId : userId(database, event.by);
  const impersonator = event['impersonated-by'];
  return insertEvent(
    database,
    {
      organizationId,
      actor: {
        userId: actorId,
        username: event.by ?? SERVICE_ITSELF.username,
        impersonatorId: impersonator === undefined ? undefined : userId(database, impersonator),
        ...(event.by === undefined ? { isService: true } : {}),
      },
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
