/**
 * One page of the workspaces that meet some conditions.
 * Invariants: the order is total, and a workspace that is new comes last among equals, so that it moves no other one;
 * a page that continues another begins behind the last row of that one, whatever has become of the rows before.
 */
import type { Database, SqlParameters } from '../../data-file/database.ts';
import type { PageEnd } from '../../json-api/page-end.ts';
import { type Page, pageWindow } from '../../json-api/pagination.ts';
import { recordsById, type WorkspaceRecord } from '../document/workspace-record.ts';
import type { Condition } from './list-conditions.ts';

/** What a list is sorted by: an expression over `w` that is a text and never null. */
export interface SortKey {
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
