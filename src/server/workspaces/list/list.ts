/**
 * GET /organizations/:organization_name/workspaces: which workspaces, in which order, which page.
 * Invariants: only what the caller can read is listed and counted; the order is total, so that pages neither repeat nor
 * skip a workspace that stays as it is; unknown parameters are ignored.
 */
import type { Database, SqlParameters } from '../../data-file/database.ts';
import { readableCondition } from '../../identity/workspace-permissions.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../../json-api/endpoint.ts';
import { badRequest } from '../../json-api/errors.ts';
import { describePage, type Page, pageWindow, requestedPage } from '../../json-api/pagination.ts';
import { type Query, queryText } from '../../json-api/query.ts';
import type { Services } from '../../services.ts';
import { requireOrganization } from '../access.ts';
import { includedResources, requestedIncludes, withLinkage } from './include.ts';
import { type Condition, listConditions } from './list-conditions.ts';
import { workspaceResources } from '../document/workspace-document.ts';
import { recordsById, type WorkspaceRecord } from '../document/workspace-record.ts';

export function listWorkspaces(services: Services, request: ApiRequest): ApiAnswer {
  const includes = requestedIncludes(request.query);
  const order = requestedOrder(request.query);
  const { organization } = requireOrganization(services, request);
  const { database } = services;
  const conditions: Condition[] = [
    { sql: 'w.organization_id = :organization', parameters: { organization: organization.id } },
    {
      sql: readableCondition(request.caller, organization.id),
      parameters: { teams: JSON.stringify(request.caller.teamIds) },
    },
    ...listConditions(request.query, organization.id),
  ];
  const page = requestedPage(request.query);
  const { records, totalCount } = selectPage(database, conditions, order, page);
  const resources = workspaceResources(services, request, records);
  const included = includedResources(services, includes, records);
  return ok({
    data: withLinkage(resources, included),
    ...(includes.size > 0 ? { included: included.resources } : {}),
    ...describePage(request, page, totalCount),
  });
}

/** One page of the workspaces `w` that meet all conditions. Ids first: joins are then paid for one page only. */
export function selectPage(
  database: Database,
  conditions: readonly Condition[],
  order: string,
  page: Page,
): { records: WorkspaceRecord[]; totalCount: number } {
  const where = conditions.map(({ sql }) => `(${sql})`).join(' AND ');
  const parameters: SqlParameters = Object.assign({}, ...conditions.map((condition) => condition.parameters));
  const count = database.get<{ total: number }>(
    `SELECT COUNT(*) AS total FROM workspaces w WHERE ${where}`,
    parameters,
  );
  const ids = database.all<{ id: string }>(
    `SELECT w.id FROM workspaces w WHERE ${where} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
    { ...parameters, ...pageWindow(page) },
  );
  return {
    records: recordsById(
      database,
      ids.map((row) => row.id),
    ),
    totalCount: count?.total ?? 0,
  };
}

const CURRENT_RUN_TIME = '(SELECT MAX(r.created_at) FROM runs r WHERE r.workspace_id = w.id)';

const SORTS: Readonly<Record<string, string>> = {
  name: 'w.name',
  'current-run.created-at': CURRENT_RUN_TIME,
  'latest-change-at': 'w.latest_change_at',
};

/** The spec calls the order without `sort` arbitrary but stable; by id it is both. */
function requestedOrder(query: Query): string {
  const sort = queryText(query, 'sort') ?? '';
  if (sort === '') return 'w.id';
  const descending = sort.startsWith('-');
  const name = descending ? sort.slice(1) : sort;
  if (!Object.hasOwn(SORTS, name)) {
    throw badRequest(`"${sort}" is not a valid sort parameter`, { parameter: 'sort' });
  }
  return `${SORTS[name]} ${descending ? 'DESC' : 'ASC'}, w.id`;
}
