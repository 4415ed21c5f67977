/**
 * GET /organizations/:organization_name/workspaces: which workspaces, in which order, which page.
 * Invariants: only what the caller can read is listed and counted; who follows the links sees each workspace that stays
 * as it is exactly once, whatever others write; unknown parameters are ignored.
 */
import { readableCondition } from '../../identity/workspace-permissions.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../../json-api/endpoint.ts';
import { badRequest } from '../../json-api/errors.ts';
import { requestedStart } from '../../json-api/page-end.ts';
import { describePage, requestedPage } from '../../json-api/pagination.ts';
import { type Query, queryText } from '../../json-api/query.ts';
import type { Services } from '../../services.ts';
import { requireOrganization } from '../access.ts';
import { includedResources, requestedIncludes, withLinkage } from './include.ts';
import { type Condition, listConditions } from './list-conditions.ts';
import { workspaceResources } from '../document/workspace-document.ts';
import { BY_NAME, pageOfWorkspaces, type SortKey } from './page-of-workspaces.ts';

export function listWorkspaces(services: Services, request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  const includes = requestedIncludes(request.query);
  const sort = requestedSort(request.query);
  const after = requestedStart(request.query);
  const conditions: Condition[] = [
    { sql: 'w.organization_id = :organization', parameters: { organization: organization.id } },
    {
      sql: readableCondition(request.caller, organization.id),
      parameters: { teams: JSON.stringify(request.caller.teamIds) },
    },
    ...listConditions(request.query, {
      organizationId: organization.id,
      dialect: services.dialects.workspaces,
    }),
  ];
  const page = requestedPage(request.query);
  const { records, totalCount, end } = pageOfWorkspaces(services.database, { conditions, sort, page, after });
  const resources = workspaceResources(services, request, records);
  const included = includedResources(services, request, includes, records);
  return ok({
    data: withLinkage(resources, included),
    ...(includes.size > 0 ? { included: included.resources } : {}),
    ...describePage(request, page, totalCount, end),
  });
}

/** A workspace without a run comes last in either direction: "~" is behind every time, and "" before. */
const currentRunTime = (descending: boolean) =>
  `COALESCE((SELECT MAX(r.created_at) FROM runs r WHERE r.workspace_id = w.id), '${descending ? '' : '~'}')`;

const SORTS: ReadonlyMap<string, (descending: boolean) => string> = new Map([
  ['name', () => BY_NAME.sql],
  ['current-run.created-at', currentRunTime],
  ['latest-change-at', () => 'w.latest_change_at'],
]);

/** The spec calls the order without `sort` arbitrary but stable; what was made first comes first. */
function requestedSort(query: Query): SortKey {
  const sort = queryText(query, 'sort') ?? '';
  if (sort === '') return { sql: "''", descending: false };
  const descending = sort.startsWith('-');
  const sql = SORTS.get(descending ? sort.slice(1) : sort)?.(descending);
  if (sql === undefined) {
    throw badRequest(`"${sort}" is not a valid sort parameter`, { parameter: 'sort' });
  }
  return { sql, descending };
}
