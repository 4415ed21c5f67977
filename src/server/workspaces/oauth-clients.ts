/**
 * OAuth clients and their tokens: what connects an organization to where repositories are.
 * Invariants: a client has one token, and they come and go together, so they share a row; the secret that a client is
 * made with is taken and not kept, because nothing here connects anywhere.
 */
import { newId } from '../kernel/identifiers.ts';
import { MemberReader, NAME_LIMIT, readResource } from '../kernel/request-body.ts';
import { invalid, type PointedProblem, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { requireOfOrganization, requireOrganization, requireOrganizationRight } from './access.ts';
import type { Services } from '../kernel/services.ts';

interface ConnectionRow {
  /** Of the token. */
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
export function listOauthClients(services: Services, request: ApiRequest): ApiAnswer {
  return listOf(services, request, clientResource);
}

/** GET /organizations/:organization_name/oauth-tokens */
export function listOauthTokens(services: Services, request: ApiRequest): ApiAnswer {
  const answer = listOf(services, request, tokenResource);
  const { id } = requireOrganization(services, request).organization;
  recordEvent(services, request, id, { id, type: 'oauth_token', action: 'index' });
  return answer;
}

function listOf(services: Services, request: ApiRequest, show: Show): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  const query = {
    select: COLUMNS,
    from: `${TABLES} WHERE t.organization_id = :organization`,
    order: 't.created_at, t.id',
    parameters: { organization: organization.id },
  };
  return pagedAnswer<ConnectionRow>(services, request, query, (rows) => rows.map(show));
}

/** GET /oauth-clients/:client_id */
export function showOauthClient(services: Services, request: ApiRequest): ApiAnswer {
  return ok({ data: clientResource(requireClient(services, request)) });
}

/** GET /oauth-clients/:client_id/oauth-tokens */
export function listTokensOfClient(services: Services, request: ApiRequest): ApiAnswer {
  const row = requireClient(services, request);
  const read = { id: row.client_id, type: 'oauth_token', action: 'index' };
  recordEvent(services, request, row.organization_id, read);
  return ok({ data: [tokenResource(row)] });
}

/** GET /oauth-tokens/:token_id */
export function showOauthToken(services: Services, request: ApiRequest): ApiAnswer {
  const found = find(services, 'id', request.params['token_id']);
  const row = requireOfOrganization(request, found, 'OAuth token');
  const read = { id: row.id, type: 'oauth_token', action: 'show' };
  recordEvent(services, request, row.organization_id, read);
  return ok({ data: tokenResource(row) });
}

/** POST /organizations/:organization_name/oauth-clients */
export function createOauthClient(services: Services, request: ApiRequest): ApiAnswer {
  const organization = requireOrganizationRight(services, request, 'administer');
  const problems: PointedProblem[] = [];
  const { attributes } = readResource(request.body, 'oauth-clients');
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const row = {
    id: newId('ot'),
    client_id: newId('oc'),
    organization_id: organization.id,
    client_name: read.nullableText('name', NAME_LIMIT) ?? null,
    service_provider: read.text('service-provider') ?? '',
    http_url: (read.text('http-url') ?? '').replace(/\/+$/, ''),
    api_url: read.nullableText('api-url') ?? null,
    organization_scoped: Number(read.boolean('organization-scoped') ?? true),
    created_at: services.now().toISOString(),
  };
  if (row.service_provider === '') read.refuse('service-provider', 'service-provider is required');
  if (row.http_url === '') read.refuse('http-url', 'http-url is required');
  if (problems.length > 0) throw invalid(problems);
  services.database.insert('oauth_tokens', row);
  recordEvent(services, request, row.organization_id, clientChange(row, 'create'));
  return created({ data: clientResource({ ...row, organization_name: organization.name }) });
}

/** DELETE /oauth-clients/:client_id: workspaces that are connected through it lose their repository. */
export function deleteOauthClient(services: Services, request: ApiRequest): ApiAnswer {
  const row = requireClient(services, request, 'administer');
  services.database.run(
    `UPDATE workspaces SET vcs_repo = NULL WHERE vcs_repo ->> '$.oauthTokenId' = :token`,
    { token: row.id },
  );
  services.database.run('DELETE FROM oauth_tokens WHERE id = :id', { id: row.id });
  recordEvent(services, request, row.organization_id, clientChange(row, 'destroy'));
  return NO_CONTENT;
}

function requireClient(services: Services, request: ApiRequest, right?: 'administer'): ConnectionRow {
  const row = find(services, 'client_id', request.params['client_id']);
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
      organization: {
        data: { id: row.organization_name, type: 'organizations' },
        links: { related: `/api/v2/organizations/${row.organization_name}` },
      },
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
      'oauth-client': {
        data: { id: row.client_id, type: 'oauth-clients' },
        links: { related: `/api/v2/oauth-clients/${row.client_id}` },
      },
    },
    links: { self: `/api/v2/oauth-tokens/${row.id}` },
  };
}

function clientChange(row: Pick<ConnectionRow, 'client_id'>, action: 'create' | 'destroy') {
  return { id: row.client_id, type: 'oauth_client', action };
}

function recordEvent(
  services: Services,
  request: ApiRequest,
  organizationId: string,
  resource: { readonly id: string; readonly type: string; readonly action: string },
): void {
  services.recordEvent({ organizationId, actor: request.caller, requestId: request.requestId, resource });
}
