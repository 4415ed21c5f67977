/**
 * Variables as the database keeps them, and as the API shows them.
 * Invariant: the value of a sensitive variable leaves the service never again.
 */
import type { Database } from '../data-file/database.ts';
import type { WorkspacesDialect } from '../workspaces-dialects.ts';
import type { Resource } from '../json-api/document.ts';

/** `engine` (a dialect may call it otherwise) for the configuration's own variables, `env` for the environment of its process. */
export const VARIABLE_CATEGORIES = ['engine', 'env'] as const;

export interface VariableRow {
  id: string;
  workspace_id: string;
  key: string;
  value: string;
  description: string | null;
  category: (typeof VARIABLE_CATEGORIES)[number];
  hcl: number;
  sensitive: number;
  created_at: string;
}

export function variableById(database: Database, id: string): VariableRow | undefined {
  return database.get<VariableRow>('SELECT * FROM variables WHERE id = :id', { id });
}

/** The variables of many workspaces in one query, each workspace's in the order of creation. */
export function variablesOf(database: Database, workspaceIds: readonly string[]): Map<string, VariableRow[]> {
  const rows = database.all<VariableRow>(
    'SELECT * FROM variables WHERE workspace_id IN (SELECT value FROM json_each(:ids)) ORDER BY position',
    { ids: JSON.stringify(workspaceIds) },
  );
  return Map.groupBy(rows, (row) => row.workspace_id);
}

export function variableResource(row: VariableRow, { engineCategory }: WorkspacesDialect): Resource {
  return {
    id: row.id,
    type: 'vars',
    attributes: {
      key: row.key,
      value: row.sensitive === 1 ? null : row.value,
      description: row.description,
      category: row.category === 'engine' ? engineCategory : row.category,
      hcl: row.hcl === 1,
      sensitive: row.sensitive === 1,
      'created-at': row.created_at,
    },
    relationships: {
      configurable: {
        data: { id: row.workspace_id, type: 'workspaces' },
        links: { related: `/api/v2/workspaces/${row.workspace_id}` },
      },
    },
    links: { self: `/api/v2/workspaces/${row.workspace_id}/vars/${row.id}` },
  };
}
