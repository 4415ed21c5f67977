/**
 * One page of a query's rows, and how many rows there are in all.
 * Invariant: the order that is given is total, or pages repeat and skip rows.
 */
import type { Database, SqlParameters } from './database.ts';

export interface PagedQuery {
  /** The columns: `s.*`. */
  readonly select: string;
  /** Tables and conditions: `state_versions s WHERE s.workspace_id = :workspace`. */
  readonly from: string;
  readonly order: string;
  readonly parameters: SqlParameters;
}

/** `Row` is the caller's claim about its own SQL. The page is told by a query's LIMIT and OFFSET. */
export function pageOfRows<Row>(
  database: Database,
  { select, from, order, parameters }: PagedQuery,
  window: { readonly limit: number; readonly offset: number },
): { rows: Row[]; totalCount: number } {
  const count = database.get<{ total: number }>(`SELECT COUNT(*) AS total FROM ${from}`, parameters);
  const rows = database.all<Row>(
    `SELECT ${select} FROM ${from} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
    {
      ...parameters,
      ...window,
    },
  );
  return { rows, totalCount: count?.total ?? 0 };
}
