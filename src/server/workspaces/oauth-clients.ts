/**
 * OAuth clients and their tokens: the connections of an organization to repository hosts.
 * Invariants: a client has one token, created and deleted with it, so they share a row; the secret of a client is
 * accepted and not stored, because nothing here connects anywhere.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { newId } from '../kernel/identifiers.ts';
import { NAME_LIMIT, readAttributes } from '../kernel/request-body.ts';
import { invalid, type Resource, related } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { requireOfOrganization, requireOrganization, requireOrganizationRight } from './access.ts';
import type { Services } from '../kernel/services.ts';

interface ConnectionRow {
  /** The id of the token. */
  id: string;
  client_id: string;
  organization_id: string;
  organization_name: string;
  client_name: string | null;
  service_provider: string;
  http_url: string;
  api_url: string | null;
  organization_scoped: number;
  created_at: string;
}

type Show = (row: ConnectionRow) => Resource;

const COLUMNS = 't.*, o.name AS organization_name';
const TABLES = 'oauth_tokens t JOIN organizations o ON o.id = t.organization_id';

/** GET /organizations/:organization_name/oauth-clients */
export function listOauthClients(request: ApiRequest): ApiAnswer {
  return listOf(request, clientResource);
}

/** GET /organizations/:organization_name/oauth-tokens */
export function listOauthTokens(request: ApiRequest): ApiAnswer {
  const answer = listOf(request, tokenResource);
  const { id } = requireOrganization(request).organization;
  recordEvent(request, 'oauth_token.index', { id, organization_id: id });
  return answer;
}

function listOf(request: ApiRequest, show: Show): ApiAnswer {
  const { organization } = requireOrganization(request);
  const query = {
    select: COLUMNS,
    from: `${TABLES} WHERE t.organization_id = :organization`,
    order: 't.created_at, t.id',
    parameters: { organization: organization.id },
  };
  return pagedAnswer<ConnectionRow>(request, query, (rows) => rows.map(show));
}

/** GET /oauth-clients/:client_id */
export function showOauthClient(request: ApiRequest): ApiAnswer {
  return ok({ data: clientResource(requireClient(request)) });
}

/** GET /oauth-clients/:client_id/oauth-tokens */
export function listTokensOfClient(request: ApiRequest): ApiAnswer {
  const row = requireClient(request);
  recordEvent(request, 'oauth_token.index', { ...row, id: row.client_id });
  return ok({ data: [tokenResource(row)] });
}

/** GET /oauth-tokens/:token_id */
export function showOauthToken(request: ApiRequest): ApiAnswer {
  const found = find(request.services, 'id', request.params['token_id']);
  const row = requireOfOrganization(request, found, 'OAuth token');
  recordEvent(request, 'oauth_token.show', row);
  return ok({ data: tokenResource(row) });
}

/** POST /organizations/:organization_name/oauth-clients */
export function createOauthClient(request: ApiRequest): ApiAnswer {
  const organization = requireOrganizationRight(request, 'administer');
  const { read, problems } = readAttributes(request.body, 'oauth-clients');
  const row = {
    id: newId('ot'),
    client_id: newId('oc'),
    organization_id: organization.id,
    client_name: read.nullableText('name', NAME_LIMIT) ?? null,
    service_provider: read.text('service-provider') ?? '',
    http_url: (read.text('http-url') ?? '').replace(/\/+$/, ''),
    api_url: read.nullableText('api-url') ?? null,
    organization_scoped: Number(read.boolean('organization-scoped') ?? true),
    created_at: request.services.now().toISOString(),
  };
  if (row.service_provider === '') read.refuse('service-provider', 'service-provider is required');
  if (row.http_url === '') read.refuse('http-url', 'http-url is required');
  if (problems.length > 0) throw invalid(problems);
  request.services.database.insert('oauth_tokens', row);
  recordEvent(request, 'oauth_client.create', { ...row, id: row.client_id });
  return created({ data: clientResource({ ...row, organization_name: organization.name }) });
}

/** DELETE /oauth-clients/:client_id: workspaces that are connected through it lose their repository. */
export function deleteOauthClient(request: ApiRequest): ApiAnswer {
  const row = requireClient(request, 'administer');
  request.services.database.run(
    `UPDATE workspaces SET vcs_repo = NULL WHERE vcs_repo ->> '$.oauthTokenId' = :token`,
    { token: row.id },
  );
  request.services.database.delete('oauth_tokens', row.id);
  recordEvent(request, 'oauth_client.destroy', { ...row, id: row.client_id });
  return NO_CONTENT;
}

function requireClient(request: ApiRequest, right?: 'administer'): ConnectionRow {
  const row = find(request.services, 'client_id', request.params['client_id']);
  return requireOfOrganization(request, row, 'OAuth client', right);
}

function find(
  { database }: Services,
  column: 'id' | 'client_id',
  id: string | undefined,
): ConnectionRow | undefined {
  return database.get<ConnectionRow>(`SELECT ${COLUMNS} FROM ${TABLES} WHERE t.${column} = :id`, {
    id: id ?? '',
  });
}

function clientResource(row: ConnectionRow): Resource {
  return {
    id: row.client_id,
    type: 'oauth-clients',
    attributes: {
      name: row.client_name,
      'created-at': row.created_at,
      'service-provider': row.service_provider,
      'http-url': row.http_url,
      'api-url': row.api_url ?? row.http_url,
      'organization-scoped': row.organization_scoped === 1,
    },
    relationships: {
      organization: related('organizations', row.organization_name),
      'oauth-tokens': {
        data: [{ id: row.id, type: 'oauth-tokens' }],
        links: { related: `/api/v2/oauth-clients/${row.client_id}/oauth-tokens` },
      },
    },
    links: { self: `/api/v2/oauth-clients/${row.client_id}` },
  };
}

function tokenResource(row: ConnectionRow): Resource {
  return {
    id: row.id,
    type: 'oauth-tokens',
    attributes: { 'created-at': row.created_at, 'has-ssh-key': false, 'service-provider-user': null },
    relationships: {
      'oauth-client': related('oauth-clients', row.client_id),
    },
    links: { self: `/api/v2/oauth-tokens/${row.id}` },
  };
}
