/** GET /organization/audit-trail: the request, the page of events, the document of one event, and how long events are kept. */
import { randomUUID } from 'node:crypto';
import { insertEvent, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import type { TokenKind } from '../kernel/caller.ts';
import { type SchemaCheck, schemaCheck } from '../kernel/check-schema.ts';
import type { Database } from '../kernel/database.ts';
import { type ApiError, badRequest, forbidden } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  type Endpoint,
  on,
  type Query,
  queryText,
} from '../kernel/endpoint.ts';
import { type Page, pageNumbers, pageOfRows, pageWindow } from '../kernel/pagination.ts';
import { readTimestamp } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { type AddedEvent, EVENT_KINDS } from './audit-event-schema.ts';

export const AUDIT_TRAIL_ENDPOINTS: readonly Endpoint[] = [
  {
    ...on('GET', '/organization/audit-trail', listAuditEvents),
    needs: 'auditTrails',
    isForAuditTrails: true,
  },
];

// GET /organization/audit-trail: the events of the token's organization, oldest first.
// Invariant: the order is total (time, then the order of writing), and new events come last, so earlier pages do not
// change while events arrive.
// Source: wire/audit-trails 1.

function listAuditEvents(request: ApiRequest): ApiAnswer {
  const organization = requireOwnOrganization(request);
  const { since, page } = readTrailQuery(request.query);
  const { rows, totalCount } = pageOfRows<AuditEventRow>(
    request.services.database,
    {
      select: '*',
      from: 'audit_events WHERE organization_id = :organization AND timestamp > :after',
      order: 'timestamp, position',
      parameters: { organization, after: retainedAfter(request.services.now(), since) },
    },
    pageWindow(page),
  );
  const document = {
    data: rows.map((row) => auditEventDocument(row, request.services.dialects.workspaces)),
    pagination: pagination(request.services, page, totalCount),
  };
  return { status: 200, document, mediaType: 'application/json' };
}

const TOKEN_OWNERS: Readonly<Partial<Record<TokenKind, string>>> = { user: "a user's", team: "a team's" };

/** @throws ApiError 403 for the token of a user or a team */
function requireOwnOrganization({ caller }: ApiRequest): string {
  if (caller.organizationId !== undefined) return caller.organizationId;
  throw forbidden(
    "An audit trail is read with the organization's own token, or with one that is made for audit trails; " +
      `this one is ${TOKEN_OWNERS[caller.tokenKind] ?? 'another'}`,
  );
}

function pagination({ dialects }: Services, page: Page, totalCount: number): Record<string, number | null> {
  const { previous, next, total } = pageNumbers(page, totalCount);
  return {
    current_page: page.number,
    ...(dialects.workspaces.auditPagesHaveSize ? { page_size: page.size } : {}),
    prev_page: previous,
    next_page: next,
    total_pages: total,
    total_count: totalCount,
  };
}

// The query of a request for an audit trail: the start time and the page.
// Invariant: an invalid value is refused and never replaced by a default, or a client that follows a trail would miss events.
// Source: wire/audit-trails 1.1.

/** The default and the maximum size of a page. */
const PAGE_SIZE = 1000;

/** The largest page number whose first row is still an exact integer in SQLite and JavaScript. */
const LARGEST_NUMBER = Math.floor(Number.MAX_SAFE_INTEGER / PAGE_SIZE);

interface TrailQuery {
  /** Exclusive, in milliseconds since 1970. */
  readonly since: number | undefined;
  readonly page: Page;
}

/** @throws ApiError 400 */
function readTrailQuery(query: Query): TrailQuery {
  return {
    since: readSince(query),
    page: {
      number: wholeNumber(query, 'page[number]') ?? 1,
      size: Math.min(wholeNumber(query, 'page[size]') ?? PAGE_SIZE, PAGE_SIZE),
    },
  };
}

/** An RFC 3339 time with any offset and any fraction of a second. */
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i;

function readSince(query: Query): number | undefined {
  const text = queryText(query, 'since');
  if (text === undefined || text === '') return undefined;
  // A plus that was not encoded arrives as a space.
  const [, day = '', time = '', fraction = '', zone = ''] =
    TIME.exec(text.replace(/ (?=\d\d:\d\d$)/, '+')) ?? [];
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const at = readTimestamp(`${day}T${time}.${milliseconds}${zone.toUpperCase()}`);
  if (at === undefined)
    throw badRequest(
      `since is not a time: write it in the form of RFC 3339, such as 2030-01-31T12:00:00.000Z`,
      {
        parameter: 'since',
      },
    );
  return at;
}

function wholeNumber(query: Query, name: string): number | undefined {
  const text = queryText(query, name);
  if (text === undefined || text === '') return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1) throw invalidParameter(name, 'must be a whole number from 1 on');
  if (value > LARGEST_NUMBER) throw invalidParameter(name, `may be at most ${LARGEST_NUMBER}`);
  return value;
}

function invalidParameter(parameter: string, why: string): ApiError {
  return badRequest(`${parameter} ${why}`, { parameter });
}

// An event as the API shows it.
// Invariant: members that only some kinds of events have are in `resource.meta`. They are not beside the standard members, because
// `version` and `resource` are names of both (wire/audit-trails 2 and 3.2).

interface AuditEventRow {
  readonly id: string;
  readonly organization_id: string;
  readonly timestamp: string;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly actor_type: 'Client' | 'Impersonated' | 'System';
  readonly impersonator_id: string | null;
  readonly request_id: string | null;
  readonly resource_id: string;
  readonly resource_type: string;
  readonly resource_action: string;
  /** JSON. */
  readonly meta: string | null;
}

function auditEventDocument(row: AuditEventRow, dialect: WorkspacesDialect): Record<string, unknown> {
  return {
    id: row.id,
    version: dialect.auditEventVersion,
    type: 'Resource',
    timestamp: row.timestamp,
    auth: {
      accessor_id: row.actor_id,
      description: row.actor_name,
      type: row.actor_type,
      impersonator_id: row.impersonator_id,
      organization_id: row.organization_id,
    },
    request: { id: row.request_id },
    resource: {
      id: row.resource_id,
      type: row.resource_type,
      action: row.resource_action,
      meta: metaOf(row, dialect),
    },
  };
}

/** The meta with the names of the dialect. */
function metaOf({ meta, resource_type }: AuditEventRow, { auditMetaNames }: WorkspacesDialect): unknown {
  if (meta === null) return null;
  const members = Object.entries(JSON.parse(meta) as Record<string, unknown>);
  const names = auditMetaNames[resource_type] ?? {};
  return Object.fromEntries(members.map(([name, value]) => [names[name] ?? name, value]));
}

// How long events are kept. Older events are not returned. They are deleted from the data file only when a server starts, so that
// moving the clock of a running server deletes nothing.
// Source: wire/audit-trails 1.4.

const RETENTION_MS = 14 * 86_400_000;

/** Times in the data file are texts, which sort like times only while years have four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The time, as text, after which events are returned: the later one of `since` and the start of the retention. */
function retainedAfter(now: Date, since = Number.NEGATIVE_INFINITY): string {
  return new Date(Math.min(Math.max(since, now.getTime() - RETENTION_MS), LAST_MS)).toISOString();
}

/** Keeps the audit-trails tokens of an organization valid as long as its trail is kept. Call it before deleting the organization. */
export function keepTrailTokens({ database, now }: Services, organizationId: string): void {
  database.run(
    `UPDATE api_tokens SET organization_id = NULL, deleted_organization_id = :organization,
       expires_at = MIN(COALESCE(expires_at, :end), :end)
     WHERE organization_id = :organization AND is_for_audit_trails = 1`,
    { organization: organizationId, end: new Date(now().getTime() + RETENTION_MS).toISOString() },
  );
}

/** Deletes expired events from the data file. */
export function deleteExpiredEvents(database: Database, now: Date): void {
  database.run('DELETE FROM audit_events WHERE timestamp <= :after', { after: retainedAfter(now) });
}

// Events that a seed or the admin API adds to a trail, because the service cannot cause them itself. The actor is an existing
// user or the service. Source: wire/audit-trails 3.

/** An event names a user who does not exist. */
export class UnknownActorError extends Error {
  override readonly name = 'UnknownActorError';

  constructor(username: string) {
    super(`an event of the audit trail names the user "${username}", who does not exist`);
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

/** Checks what the schema of an event cannot express: its action and its meta. `at` is the path of the event. */
export function eventProblems(event: AddedEvent, at: string): string[] {
  const actions = EVENT_KINDS[event.type] ?? {};
  const schema = Object.hasOwn(actions, event.action) ? actions[event.action] : undefined;
  const noActor = event['impersonated-by'] !== undefined && event.by === undefined;
  return [
    ...(noActor ? [`${at}.impersonated-by needs by: the user who is impersonated`] : []),
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
