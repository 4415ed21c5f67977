/**
 * GET, POST and DELETE of /organizations/:organization_name/authentication-token and /teams/:team_id/authentication-token.
 * An organization can have a second token, only for its audit trail. A team can have any number of additional tokens, each with a
 * description; they are shown and revoked by id.
 * Invariants: a new token revokes the previous one of its kind, unless it is an additional one; the token itself is only in the
 * answer to POST.
 */
import { recordEvent } from '../kernel/audit-events.ts';
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

/** The team or organization of a token, and the token's purpose. */
interface Holder {
  readonly column: 'organization_id' | 'team_id';
  readonly id: string;
  readonly organizationId: string;
  readonly prefix: string;
  readonly isForAuditTrails: boolean;
}

type FindHolder = (request: ApiRequest) => Holder;

const findOrganizationHolder: FindHolder = (request) => {
  const { id } = requireOrganizationRight(request, 'owner');
  const isForAuditTrails = isAuditTrailsToken(request);
  return {
    column: 'organization_id',
    id,
    organizationId: id,
    prefix: isForAuditTrails ? 'audit-trails' : 'organization',
    isForAuditTrails,
  };
};

const findTeamHolder: FindHolder = (request) => {
  const { id, organization_id } = requireTeam(request, 'administer');
  return { column: 'team_id', id, organizationId: organization_id, prefix: 'team', isForAuditTrails: false };
};

/**
 * Whether the request has `?token=audit-trails`: it is about the token that can only read the audit trail (wire/audit-trails 1.3).
 * @throws ApiError 400 for any other value, because a request for another kind of token would revoke the wrong one
 */
function isAuditTrailsToken({ services: { edition }, query }: ApiRequest): boolean {
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
      ['/organizations/:organization_name/authentication-token', findOrganizationHolder],
      ['/teams/:team_id/authentication-token', findTeamHolder],
    ] as const
  ).flatMap(([path, findHolder]) => [
    recordedRead(path, (request) => show(request, findHolder(request))),
    on('POST', path, (request) => create(request, findHolder(request))),
    on('DELETE', path, (request) => remove(request, findHolder(request))),
  ]),
  on('POST', '/teams/:team_id/authentication-tokens', createAdditionalToken),
  recordedRead(BY_ID, showById),
  on('DELETE', BY_ID, removeById),
];

function show(request: ApiRequest, holder: Holder): ApiAnswer {
  const row = requireToken(request.services, holder);
  recordEvent(request, 'authentication_token.show', { id: row.id, organization_id: holder.organizationId });
  return ok({ data: resource(row, null) });
}

function create(request: ApiRequest, holder: Holder): ApiAnswer {
  const expiresAt = readExpiry(request.services, request.body);
  removeMainToken(request.services, holder);
  return createToken(request, holder, { expiresAt, isMain: true });
}

/** POST /teams/:team_id/authentication-tokens: an additional token. @throws ApiError 422 without a unique description */
function createAdditionalToken(request: ApiRequest): ApiAnswer {
  const holder = findTeamHolder(request);
  const problems: PointedProblem[] = [];
  const read = new MemberReader(attributesOf(request.body), '/data/attributes', problems);
  const description = read.nullableText('description', TEXT_LIMIT) ?? '';
  if (description === '') read.refuse('description', 'description is required');
  const taken = request.services.database.get(
    'SELECT 1 FROM api_tokens WHERE team_id = :id AND description = :description',
    { id: holder.id, description },
  );
  if (taken !== undefined) read.refuse('description', 'Description has already been taken');
  if (problems.length > 0) throw invalid(problems);
  return createToken(request, holder, {
    expiresAt: readExpiry(request.services, request.body),
    isMain: false,
    description,
  });
}

interface NewToken {
  readonly expiresAt: Date | null;
  /** True for the single token of its kind; false for an additional token of a team. */
  readonly isMain: boolean;
  readonly description?: string;
}

function createToken(request: ApiRequest, holder: Holder, { isMain, ...given }: NewToken): ApiAnswer {
  const { database } = request.services;
  const token = newToken(holder.prefix);
  const userId = ensureServiceAccount(database, holder.id, request.services.now());
  const { isForAuditTrails } = holder;
  const owner = holder.column === 'team_id' ? { teamId: holder.id } : { organizationId: holder.id };
  const grant = { userId, ...owner, ...given, isForAuditTrails };
  const id = registerApiToken(database, token, grant, request.services.now());
  database.update('api_tokens', id, { is_main: Number(isMain), created_by_id: request.caller.userId });
  recordEvent(request, 'authentication_token.create', { id, organization_id: holder.organizationId });
  return created({ data: resource(requireRow(tokenById(request.services, id)), token) });
}

/** GET /authentication-tokens/:token_id */
function showById(request: ApiRequest): ApiAnswer {
  const { row, holder } = requireById(request);
  recordEvent(request, 'authentication_token.show', { id: row.id, organization_id: holder.organizationId });
  return ok({ data: resource(row, null) });
}

/** DELETE /authentication-tokens/:token_id */
function removeById(request: ApiRequest): ApiAnswer {
  const { row, holder } = requireById(request);
  request.services.database.delete('api_tokens', row.id);
  recordEvent(request, 'authentication_token.destroy', {
    id: row.id,
    organization_id: holder.organizationId,
  });
  return NO_CONTENT;
}

/** A token of a team or an organization. @throws ApiError 404 for a caller who may not see its holder */
function requireById(request: ApiRequest): { row: TokenRow; holder: Holder } {
  const row = requireRow(tokenById(request.services, request.params['token_id'] ?? ''));
  if (row.team_id !== null) {
    const holderRequest = { ...request, params: { team_id: row.team_id } };
    return { row, holder: findTeamHolder(holderRequest) };
  }
  const found = request.services.database.byId<{ name: string }>('organizations', row.organization_id);
  if (found === undefined) throw notFound('Authentication token');
  const holderRequest = { ...request, params: { organization_name: found.name } };
  return { row, holder: findOrganizationHolder(holderRequest) };
}

function tokenById({ database }: Services, id: string): TokenRow | undefined {
  return database.byId<TokenRow>('api_tokens', id);
}

function remove(request: ApiRequest, holder: Holder): ApiAnswer {
  const { id } = requireToken(request.services, holder);
  removeMainToken(request.services, holder);
  recordEvent(request, 'authentication_token.destroy', { id, organization_id: holder.organizationId });
  return NO_CONTENT;
}

function removeMainToken({ database }: Services, holder: Holder): void {
  database.run(`DELETE FROM api_tokens WHERE ${mainTokenCondition(holder)}`, parametersOf(holder));
}

/** @throws ApiError 404 when the holder has none */
function requireToken({ database }: Services, holder: Holder): TokenRow {
  return requireRow(
    database.get<TokenRow>(
      `SELECT * FROM api_tokens WHERE ${mainTokenCondition(holder)}`,
      parametersOf(holder),
    ),
  );
}

/** @throws ApiError 404 */
function requireRow(row: TokenRow | undefined): TokenRow {
  if (row === undefined) throw notFound('Authentication token');
  return row;
}

/** SQL: the main token of the holder, of the kind in `:audit`. Additional tokens and those of a seed are not main. */
function mainTokenCondition({ column }: Holder): string {
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
 * The time in `data.attributes.expired-at`. Null means never; if it is absent, the dialect's default applies.
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
    read.refuse('expired-at', 'expired-at must be in the future');
  if (problems.length > 0) throw invalid(problems);
  if (time !== undefined) return new Date(time);
  return text === undefined && defaultMonths !== undefined ? monthsLater(now(), defaultMonths) : null;
}

/** The attributes in the body; empty if the request has no body. */
function attributesOf(body: unknown): BodyObject {
  return asObject(asObject(asObject(body)?.['data'])?.['attributes']) ?? {};
}

function monthsLater(time: Date, months: number): Date {
  const later = new Date(time);
  later.setUTCMonth(later.getUTCMonth() + months);
  return later;
}
