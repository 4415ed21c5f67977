/**
 * GET /organizations/:organization_name/workspaces. The order is total, and a new workspace comes last among equal sort keys. A
 * client that follows the links gets pages that begin after the last row of the page before.
 */
import type { Database, SqlParameters } from '../kernel/database.ts';
import { badRequest } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  ok,
  type Query,
  queryList,
  querySwitch,
  queryText,
} from '../kernel/endpoint.ts';
import {
  describePage,
  type Page,
  type PageEnd,
  pageWindow,
  requestedPage,
  requestedStart,
} from '../kernel/pagination.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { requireOrganization } from './access.ts';
import { readableCondition } from './permissions.ts';
import { workspaceResources } from './workspace-document.ts';
import { includedResources, requestedIncludes, withLinkage } from './workspace-include.ts';
import { recordsById, type WorkspaceRecord } from './workspace-record.ts';

interface SortKey {
  /** An SQL expression over `w` whose value is a text and never null. Without it, the order is that of creation. */
  readonly sql?: string;
  readonly descending: boolean;
}

export const BY_NAME = { sql: 'w.name', descending: false } as const;

/** Which workspaces, in which order, and which page of them. */
interface WorkspaceQuery {
  readonly conditions: readonly Condition[];
  readonly sort: SortKey;
  readonly page: Page;
  /** The end of the previous page; without it, the page number is used. */
  readonly after: PageEnd | undefined;
}

interface PageOfWorkspaces {
  readonly records: WorkspaceRecord[];
  readonly totalCount: number;
  /** Where this page ends; null for the last page. */
  readonly end: PageEnd | null;
}

interface PageRow {
  id: string;
  key: string;
  row: number;
}

/** Selects the ids first, so that joins run for the rows of one page only. */
export function pageOfWorkspaces(database: Database, query: WorkspaceQuery): PageOfWorkspaces {
  const { conditions, sort, page, after } = query;
  const where = conditions.map(({ sql }) => `(${sql})`).join(' AND ');
  const parameters: SqlParameters = Object.assign({}, ...conditions.map((condition) => condition.parameters));
  const count = database.get<{ total: number }>(
    `SELECT COUNT(*) AS total FROM workspaces w WHERE ${where}`,
    parameters,
  );
  const { limit, offset } = pageWindow(page);
  const start = after && rowsAfter(sort, after);
  const order = sort.sql === undefined ? '' : `${sort.sql} ${sort.descending ? 'DESC' : 'ASC'},`;
  const rows = database.all<PageRow>(
    `SELECT w.id, ${sort.sql ?? "''"} AS key, w.rowid AS row FROM workspaces w
     WHERE ${where} ${start === undefined ? '' : `AND (${start.sql})`}
     ORDER BY ${order} w.rowid LIMIT :limit OFFSET :offset`,
    {
      ...parameters,
      ...start?.parameters,
      // One row more than the page, to find out whether another page follows.
      limit: limit + 1,
      offset: start === undefined ? offset : 0,
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

/** The rows after the end of a page. */
function rowsAfter({ sql, descending }: SortKey, { key, row }: PageEnd): Condition {
  if (sql === undefined) return { sql: 'w.rowid > :after_row', parameters: { after_row: row } };
  return {
    sql: `${sql} ${descending ? '<' : '>'} :after_key OR (${sql} = :after_key AND w.rowid > :after_row)`,
    parameters: { after_key: key, after_row: row },
  };
}

// GET /organizations/:organization_name/workspaces: which workspaces, in which order, which page.
// Invariants: only workspaces that the caller can read are listed and counted; a client that follows the links sees each unchanged
// workspace exactly once, even while others write; unknown parameters are ignored.

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

/** A workspace without a run comes last in both directions: "~" sorts after every time, and "" before. */
const currentRunTime = (descending: boolean) =>
  `COALESCE((SELECT MAX(r.created_at) FROM runs r WHERE r.workspace_id = w.id), '${descending ? '' : '~'}')`;

const SORTS: ReadonlyMap<string, (descending: boolean) => string> = new Map([
  ['name', () => BY_NAME.sql],
  ['current-run.created-at', currentRunTime],
  ['latest-change-at', () => 'w.latest_change_at'],
]);

/** The requested order. In the spec, the order without `sort` is arbitrary but stable; here it is the order of creation. */
function requestedSort(query: Query): SortKey {
  const sort = queryText(query, 'sort') ?? '';
  if (sort === '') return { descending: false };
  const descending = sort.startsWith('-');
  const sql = SORTS.get(descending ? sort.slice(1) : sort)?.(descending);
  if (sql === undefined) {
    throw badRequest(`"${sort}" is not a valid sort parameter`, { parameter: 'sort' });
  }
  return { sql, descending };
}

// The searches and filters of the workspace list, as SQL conditions over the table `w`.
// Invariant: values from the client are only SQL parameters, never SQL text; all conditions are combined with AND, except tags
// with `filter[tag-union]`.

export interface Condition {
  readonly sql: string;
  readonly parameters: SqlParameters;
}

/** The organization of the list, and how the dialect interprets searches and filters. */
interface ListContext {
  readonly organizationId: string;
  readonly dialect: Pick<WorkspacesDialect, 'tagSearchFindsBindings' | 'hasListSwitches'>;
}

function listConditions(query: Query, context: ListContext): Condition[] {
  return [
    ...nameConditions(query),
    ...tagConditions(query, context),
    ...relatedConditions(query),
    ...boundConditions(query, context.dialect, boundWorkspaces),
  ];
}

function nameConditions(query: Query): Condition[] {
  const conditions: Condition[] = [];
  const fuzzy = queryText(query, 'search[name]');
  if (fuzzy) {
    // A fuzzy search matches any part of the name, and ignores case and separators.
    conditions.push({
      sql: `REPLACE(REPLACE(w.name, '-', ''), '_', '') LIKE :fuzzy_name ESCAPE '\\'`,
      parameters: { fuzzy_name: `%${likeText(fuzzy.replaceAll(/[-_\s]/g, ''))}%` },
    });
  }
  const wildcard = queryText(query, 'search[wildcard-name]');
  if (wildcard) {
    conditions.push({
      sql: `w.name LIKE :wildcard_name ESCAPE '\\'`,
      parameters: { wildcard_name: likeText(wildcard).replaceAll('*', '%') },
    });
  }
  return conditions;
}

/** Escapes the wildcards of LIKE. */
function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}

/** Workspaces with the names of their flat tags. */
const TAGGED = `SELECT wt.workspace_id, t.name FROM workspace_tags wt JOIN tags t ON t.id = wt.tag_id
  WHERE t.organization_id = :tag_organization`;

/** Workspaces with the names of their flat tags and the keys of their effective tag bindings. */
const TAGGED_OR_BOUND = `${TAGGED}
  UNION SELECT bound.id, LOWER(b.key) FROM workspaces bound JOIN tag_bindings b ON b.workspace_id = bound.id
  WHERE bound.organization_id = :tag_organization
  UNION SELECT bound.id, LOWER(b.key) FROM workspaces bound JOIN tag_bindings b ON b.project_id = bound.project_id
  WHERE bound.organization_id = :tag_organization`;

/** The inner query selects by organization itself: if it referred to the row of the outer query, it would run for every workspace. */
function tagConditions(query: Query, { organizationId, dialect }: ListContext): Condition[] {
  const tagged = `SELECT workspace_id FROM (${dialect.tagSearchFindsBindings ? TAGGED_OR_BOUND : TAGGED}) WHERE name`;
  const tagNames = (parameter: string): string[] => [
    ...new Set(queryList(query, parameter).map((name) => name.toLowerCase())),
  ];
  const wanted = tagNames('search[tags]');
  const excluded = tagNames('search[exclude-tags]');
  const conditions: Condition[] = [];
  if (wanted.length > 0) {
    conditions.push({
      sql: `w.id IN (${tagged} IN (SELECT value FROM json_each(:wanted_tags))
        GROUP BY workspace_id HAVING COUNT(*) = :wanted_count)`,
      parameters: {
        wanted_tags: JSON.stringify(wanted),
        wanted_count: wanted.length,
        tag_organization: organizationId,
      },
    });
  }
  if (excluded.length > 0) {
    conditions.push({
      sql: `w.id NOT IN (${tagged} IN (SELECT value FROM json_each(:excluded_tags)))`,
      parameters: { excluded_tags: JSON.stringify(excluded), tag_organization: organizationId },
    });
  }
  return conditions;
}

function relatedConditions(query: Query): Condition[] {
  const conditions: Condition[] = [];
  const projects = queryList(query, 'filter[project][id]');
  if (projects.length > 0) {
    conditions.push({
      sql: 'w.project_id IN (SELECT value FROM json_each(:projects))',
      parameters: { projects: JSON.stringify(projects) },
    });
  }
  const statuses = queryList(query, 'filter[current-run][status]');
  if (statuses.length > 0) {
    conditions.push({
      sql: `(SELECT r.status FROM runs r WHERE r.workspace_id = w.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1)
        IN (SELECT value FROM json_each(:run_statuses))`,
      parameters: { run_statuses: JSON.stringify(statuses) },
    });
  }
  return conditions;
}

/**
 * `filter[tagged][i][key|value]` over effective bindings: a resource must match all of them, or any with `filter[tag-union]`.
 * Without a value only the key must match; with `filter[tag-value-default-null]` the value must then be empty.
 * `having` builds the condition that a resource has a matching binding `b`.
 */
export function boundConditions(
  query: Query,
  dialect: Pick<WorkspacesDialect, 'hasListSwitches'>,
  having: (matches: string) => string,
): Condition[] {
  const isOn = (name: string): boolean => dialect.hasListSwitches && querySwitch(query, name);
  const absentValue = isOn('filter[tag-value-default-null]') ? '' : null;
  const indices = new Set(
    Object.keys(query).flatMap(
      (name) => /^filter\[tagged\]\[(\d+)\]\[(?:key|value)\]$/.exec(name)?.[1] ?? [],
    ),
  );
  const conditions = [...indices].flatMap((index) => {
    const key = queryText(query, `filter[tagged][${index}][key]`) || null;
    const value = queryText(query, `filter[tagged][${index}][value]`) || null;
    if (key === null && value === null) return [];
    const names = { key: `tagged_key_${index}`, value: `tagged_value_${index}` };
    // Null matches any key or value.
    const matches = `(:${names.key} IS NULL OR b.key = :${names.key})
      AND (:${names.value} IS NULL OR b.value = :${names.value})`;
    return { sql: having(matches), parameters: { [names.key]: key, [names.value]: value ?? absentValue } };
  });
  return isOn('filter[tag-union]') && conditions.length > 0 ? [anyOf(conditions)] : conditions;
}

function boundWorkspaces(matches: string): string {
  return `w.id IN (SELECT b.workspace_id FROM tag_bindings b WHERE b.workspace_id IS NOT NULL AND ${matches})
    OR EXISTS (SELECT 1 FROM tag_bindings b WHERE b.project_id = w.project_id AND ${matches}
      AND NOT EXISTS (SELECT 1 FROM tag_bindings own WHERE own.workspace_id = w.id AND own.key = b.key))`;
}

function anyOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' OR '),
    parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)) as SqlParameters,
  };
}
