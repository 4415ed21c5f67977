/**
 * GET, POST and DELETE of /organizations/:organization_name/authentication-token and /teams/:team_id/authentication-token.
 * An organization has a second token, for its audit trail alone; a team has any number more, each with a description, which are shown
 * and ended by their ids.
 * Invariants: making a token ends the one of its sort that was made before; the token itself stands in the answer to POST
 * and nowhere else.
 */
import { ensureServiceAccount, newToken, registerApiToken } from '../kernel/tokens.ts';
import {
  asObject,
  type BodyObject,
  MemberReader,
  readTimestamp,
  TEXT_LIMIT,
} from '../kernel/request-body.ts';
import { badRequest, invalid, notFound, type PointedProblem, type Resource } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  NO_CONTENT,
  ok,
  on,
  queryText,
  recordedRead,
} from '../kernel/endpoint.ts';
import { requireOrganizationRight } from './access.ts';
import type { Services } from '../kernel/services.ts';
import { requireTeam } from './teams.ts';

interface TokenRow {
  id: string;
  team_id: string | null;
  organization_id: string | null;
  description: string | null;
  created_at: string;
  expires_at: string | null;
  created_by_id: string | null;
}

/** Whose token it is, and what for. */
interface Holder {
  readonly column: 'organization_id' | 'team_id';
  readonly id: string;
  readonly organizationId: string;
  readonly prefix: string;
  readonly isForAuditTrails: boolean;
}

type FindHolder = (services: Services, request: ApiRequest) => Holder;

const organization: FindHolder = (services, request) => {
  const { id } = requireOrganizationRight(services, request, 'owner');
  const isForAuditTrails = isAuditTrailsToken(services, request);
  return {
    column: 'organization_id',
    id,
    organizationId: id,
    prefix: isForAuditTrails ? 'audit-trails' : 'organization',
    isForAuditTrails,
  };
};

const team: FindHolder = (services, request) => {
  const { id, organization_id } = requireTeam(services, request, 'administer');
  return { column: 'team_id', id, organizationId: organization_id, prefix: 'team', isForAuditTrails: false };
};

/**
 * `?token=audit-trails` is the token that reads the audit trail and nothing else (wire/audit-trails 1.3).
 * @throws ApiError 400 for any other word: what was meant may be another token than the one that would be ended
 */
function isAuditTrailsToken({ edition }: Services, { query }: ApiRequest): boolean {
  const kind = queryText(query, 'token') ?? '';
  if (kind === '') return false;
  if (kind === 'audit-trails' && edition.auditTrails) return true;
  throw badRequest('token may be "audit-trails" where audit trails are served, or left out', {
    parameter: 'token',
  });
}

const BY_ID = '/authentication-tokens/:token_id';

export const ACCESS_TOKEN_ENDPOINTS: readonly Endpoint[] = [
  ...(
    [
      ['/organizations/:organization_name/authentication-token', organization],
      ['/teams/:team_id/authentication-token', team],
    ] as const
  ).flatMap(([path, holderOf]) => [
    recordedRead(path, (services, request) => show(services, request, holderOf(services, request))),
    on('POST', path, (services, request) => create(services, request, holderOf(services, request))),
    on('DELETE', path, (services, request) => remove(services, request, holderOf(services, request))),
  ]),
  on('POST', '/teams/:team_id/authentication-tokens', createDescribed),
  recordedRead(BY_ID, showById),
  on('DELETE', BY_ID, removeById),
];

function show(services: Services, request: ApiRequest, holder: Holder): ApiAnswer {
  const row = requireToken(services, holder);
  recordEvent(services, request, holder, { id: row.id, action: 'show' });
  return ok({ data: resource(row, null) });
}

function create(services: Services, request: ApiRequest, holder: Holder): ApiAnswer {
  const expiresAt = readExpiry(services, request.body);
  removeMain(services, holder);
  return make(services, request, holder, { expiresAt, isMain: true });
}

/** POST /teams/:team_id/authentication-tokens: a token beside those that are there. @throws ApiError 422 without a description of its own */
function createDescribed(services: Services, request: ApiRequest): ApiAnswer {
  const holder = team(services, request);
  const problems: PointedProblem[] = [];
  const read = new MemberReader(attributesOf(request.body), '/data/attributes', problems);
  const description = read.nullableText('description', TEXT_LIMIT) ?? '';
  if (description === '') read.refuse('description', 'description is required');
  const taken = services.database.get(
    'SELECT 1 FROM api_tokens WHERE team_id = :id AND description = :description',
    { id: holder.id, description },
  );
  if (taken !== undefined) read.refuse('description', 'Description has already been taken');
  if (problems.length > 0) throw invalid(problems);
  return make(services, request, holder, {
    expiresAt: readExpiry(services, request.body),
    isMain: false,
    description,
  });
}

interface NewToken {
  readonly expiresAt: Date | null;
  /** The one of its sort that its holder has. */
  readonly isMain: boolean;
  readonly description?: string;
}

function make(
  services: Services,
  request: ApiRequest,
  holder: Holder,
  { isMain, ...given }: NewToken,
): ApiAnswer {
  const { database } = services;
  const token = newToken(holder.prefix);
  const userId = ensureServiceAccount(database, holder.id, services.now());
  const { isForAuditTrails } = holder;
  const owner = holder.column === 'team_id' ? { teamId: holder.id } : { organizationId: holder.id };
  const grant = { userId, ...owner, ...given, isForAuditTrails };
  const id = registerApiToken(database, token, grant, services.now());
  database.update('api_tokens', id, { is_main: Number(isMain), created_by_id: request.caller.userId });
  recordEvent(services, request, holder, { id, action: 'create' });
  return created({ data: resource(required(tokenById(services, id)), token) });
}

/** GET /authentication-tokens/:token_id */
function showById(services: Services, request: ApiRequest): ApiAnswer {
  const { row, holder } = requireById(services, request);
  recordEvent(services, request, holder, { id: row.id, action: 'show' });
  return ok({ data: resource(row, null) });
}

/** DELETE /authentication-tokens/:token_id */
function removeById(services: Services, request: ApiRequest): ApiAnswer {
  const { row, holder } = requireById(services, request);
  services.database.run('DELETE FROM api_tokens WHERE id = :id', { id: row.id });
  recordEvent(services, request, holder, { id: row.id, action: 'destroy' });
  return NO_CONTENT;
}

/** A token of a team or an organization. @throws ApiError 404 for who may not see it by its holder */
function requireById(services: Services, request: ApiRequest): { row: TokenRow; holder: Holder } {
  const row = required(tokenById(services, request.params['token_id'] ?? ''));
  if (row.team_id !== null) {
    const asked = { ...request, params: { team_id: row.team_id } };
    return { row, holder: team(services, asked) };
  }
  const found = services.database.get<{ name: string }>('SELECT name FROM organizations WHERE id = :id', {
    id: row.organization_id,
  });
  if (found === undefined) throw notFound('Authentication token');
  const asked = { ...request, params: { organization_name: found.name } };
  return { row, holder: organization(services, asked) };
}

function tokenById({ database }: Services, id: string): TokenRow | undefined {
  return database.get<TokenRow>('SELECT * FROM api_tokens WHERE id = :id', { id });
}

function remove(services: Services, request: ApiRequest, holder: Holder): ApiAnswer {
  const { id } = requireToken(services, holder);
  removeMain(services, holder);
  recordEvent(services, request, holder, { id, action: 'destroy' });
  return NO_CONTENT;
}

function removeMain({ database }: Services, holder: Holder): void {
  database.run(`DELETE FROM api_tokens WHERE ${isMainOf(holder)}`, parametersOf(holder));
}

/** @throws ApiError 404 when none was made */
function requireToken({ database }: Services, holder: Holder): TokenRow {
  return required(
    database.get<TokenRow>(`SELECT * FROM api_tokens WHERE ${isMainOf(holder)}`, parametersOf(holder)),
  );
}

/** @throws ApiError 404 */
function required(row: TokenRow | undefined): TokenRow {
  if (row === undefined) throw notFound('Authentication token');
  return row;
}

/** SQL: those that requests made, of which a holder has one of each sort. */
function isMainOf({ column }: Holder): string {
  return `${column} = :id AND is_main = 1 AND is_for_audit_trails = :audit`;
}

function parametersOf({ id, isForAuditTrails }: Holder) {
  return { id, audit: Number(isForAuditTrails) };
}

function resource(row: TokenRow, token: string | null): Resource {
  return {
    id: row.id,
    type: 'authentication-tokens',
    attributes: {
      'created-at': row.created_at,
      description: row.description,
      token,
      'expired-at': row.expires_at,
    },
    relationships: {
      'created-by': {
        data: row.created_by_id === null ? null : { id: row.created_by_id, type: 'users' },
      },
      ...(row.team_id === null ? {} : { team: { data: { id: row.team_id, type: 'teams' } } }),
    },
  };
}

/**
 * Clients send a body only when they want an end: `data.attributes.expired-at`. Null is none, whatever the dialect's default is.
 * @throws ApiError 422
 */
function readExpiry({ dialects, now }: Services, body: unknown): Date | null {
  const { defaultMonths, mayHavePassed } = dialects.workspaces.tokenEnds;
  const problems: PointedProblem[] = [];
  const read = new MemberReader(attributesOf(body), '/data/attributes', problems);
  const text = read.nullableText('expired-at');
  const time = text ? readTimestamp(text) : undefined;
  if (text && time === undefined) read.refuse('expired-at', 'expired-at must be an ISO 8601 time');
  if (time !== undefined && time <= now().getTime() && !mayHavePassed)
    read.refuse('expired-at', 'expired-at must be a time that is yet to come');
  if (problems.length > 0) throw invalid(problems);
  if (time !== undefined) return new Date(time);
  return text === undefined && defaultMonths !== undefined ? monthsLater(now(), defaultMonths) : null;
}

/** Empty where a request has no body. */
function attributesOf(body: unknown): BodyObject {
  return asObject(asObject(asObject(body)?.['data'])?.['attributes']) ?? {};
}

function monthsLater(time: Date, months: number): Date {
  const later = new Date(time);
  later.setUTCMonth(later.getUTCMonth() + months);
  return later;
}

function recordEvent(
  services: Services,
  request: ApiRequest,
  holder: Holder,
  change: { readonly id: string; readonly action: 'create' | 'show' | 'destroy' },
): void {
  services.recordEvent({
    organizationId: holder.organizationId,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: change.id, type: 'authentication_token', action: change.action },
  });
}
