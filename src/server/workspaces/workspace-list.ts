/**
 * GET /organizations/:organization_name/workspaces. The order is total and a new workspace comes last among equals; a page that
 * continues another begins after the last row of that one.
 */
import type { Database, SqlParameters } from '../kernel/database.ts';
import { badRequest } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, ok, type Query, queryText } from '../kernel/endpoint.ts';
import {
  describePage,
  type Page,
  type PageEnd,
  pageWindow,
  requestedPage,
  requestedStart,
} from '../kernel/pagination.ts';
import { requireOrganization } from './access.ts';
import { readableCondition } from './permissions.ts';
import { workspaceResources } from './workspace-document.ts';
import { type Condition, listConditions } from './workspace-filters.ts';
import { includedResources, requestedIncludes, withLinkage } from './workspace-include.ts';
import { recordsById, type WorkspaceRecord } from './workspace-record.ts';

/** What a list is sorted by: an expression over `w` that is a text and never null. */
interface SortKey {
  readonly sql: string;
  readonly descending: boolean;
}

export const BY_NAME: SortKey = { sql: 'w.name', descending: false };

/** Which workspaces, in which order, and which page of them. */
interface WorkspaceQuery {
  readonly conditions: readonly Condition[];
  readonly sort: SortKey;
  readonly page: Page;
  /** The end of the page before; without it the page's number counts. */
  readonly after: PageEnd | undefined;
}

interface PageOfWorkspaces {
  readonly records: WorkspaceRecord[];
  readonly totalCount: number;
  /** Where this page ends; null when nothing comes behind it. */
  readonly end: PageEnd | null;
}

interface PageRow {
  id: string;
  key: string;
  row: number;
}

/** Ids first: joins are then paid for one page only. */
export function pageOfWorkspaces(database: Database, query: WorkspaceQuery): PageOfWorkspaces {
  const { conditions, sort, page, after } = query;
  const where = conditions.map(({ sql }) => `(${sql})`).join(' AND ');
  const parameters: SqlParameters = Object.assign({}, ...conditions.map((condition) => condition.parameters));
  const count = database.get<{ total: number }>(
    `SELECT COUNT(*) AS total FROM workspaces w WHERE ${where}`,
    parameters,
  );
  const { limit, offset } = pageWindow(page);
  const rows = database.all<PageRow>(
    `SELECT w.id, ${sort.sql} AS key, w.rowid AS row FROM workspaces w WHERE ${where} ${behind(sort, after)}
     ORDER BY ${sort.sql} ${sort.descending ? 'DESC' : 'ASC'}, w.rowid LIMIT :limit OFFSET :offset`,
    {
      ...parameters,
      ...(after === undefined ? {} : { after_key: after.key, after_row: after.row }),
      // One more than the page has, to know whether that is all.
      limit: limit + 1,
      offset: after === undefined ? offset : 0,
    },
  );
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    records: recordsById(
      database,
      shown.map(({ id }) => id),
    ),
    totalCount: count?.total ?? 0,
    end: last === undefined ? null : { key: last.key, row: last.row },
  };
}

function behind({ sql, descending }: SortKey, after: PageEnd | undefined): string {
  if (after === undefined) return '';
  return `AND (${sql} ${descending ? '<' : '>'} :after_key OR (${sql} = :after_key AND w.rowid > :after_row))`;
}

// GET /organizations/:organization_name/workspaces: which workspaces, in which order, which page.
// Invariants: only what the caller can read is listed and counted; who follows the links sees each workspace that stays
// as it is exactly once, whatever others write; unknown parameters are ignored.

export function listWorkspaces(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
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
      dialect: request.services.dialects.workspaces,
    }),
  ];
  const page = requestedPage(request.query);
  const { records, totalCount, end } = pageOfWorkspaces(request.services.database, {
    conditions,
    sort,
    page,
    after,
  });
  const resources = workspaceResources(request, records);
  const included = includedResources(request, includes, records);
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
