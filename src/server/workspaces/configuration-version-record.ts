/**
 * Configuration versions as the database stores them, and as the API shows them.
 * Invariant: a version from a repository has ingress attributes, such as its commit; a version that a client uploaded has none.
 */
import type { Database } from '../kernel/database.ts';
import type { Resource } from '../kernel/documents.ts';

/** The repository, commit and sender of a version, with the names of the document. Absent members are shown as null. */
export interface Ingress {
  readonly branch?: string;
  readonly 'commit-sha'?: string;
  readonly 'commit-message'?: string;
  readonly 'commit-url'?: string;
  readonly identifier?: string;
  readonly 'sender-username'?: string;
  readonly tag?: string;
  readonly 'is-pull-request'?: boolean;
  readonly 'pull-request-number'?: number;
}

export const CONFIGURATION_STATUSES = ['pending', 'uploaded', 'errored', 'archived'] as const;

export interface ConfigurationVersionRow {
  id: string;
  workspace_id: string;
  status: (typeof CONFIGURATION_STATUSES)[number];
  source: string;
  /** 1: only for plans; it never becomes the workspace's current version. */
  speculative: number;
  provisional: number;
  auto_queue_runs: number;
  error_message: string | null;
  ingress_id: string | null;
  /** JSON of `Ingress`. */
  ingress: string | null;
  created_by_id: string | null;
  created_at: string;
}

/** SQL over `w`: the id of the newest configuration that was uploaded and is not speculative. */
export const CURRENT_CONFIGURATION_VERSION = `(SELECT c.id FROM configuration_versions c
  WHERE c.workspace_id = w.id AND c.status = 'uploaded' AND c.speculative = 0
  ORDER BY c.created_at DESC, c.id DESC LIMIT 1)`;

export function configurationVersionById(
  database: Database,
  id: string,
): ConfigurationVersionRow | undefined {
  return configurationVersionsById(database, [id])[0];
}

export function configurationVersionsById(
  database: Database,
  ids: readonly string[],
): ConfigurationVersionRow[] {
  return database.byIds<ConfigurationVersionRow>('configuration_versions', ids);
}

/** `uploadUrl` is for callers who may upload the configuration, while it is pending. */
export function configurationVersionResource(
  row: ConfigurationVersionRow,
  uploadUrl: string | null = null,
): Resource {
  return {
    id: row.id,
    type: 'configuration-versions',
    attributes: {
      'auto-queue-runs': row.auto_queue_runs === 1,
      'created-at': row.created_at,
      error: row.status === 'errored' ? 'failed' : null,
      'error-message': row.error_message,
      provisional: row.provisional === 1,
      source: row.source,
      speculative: row.speculative === 1,
      status: row.status,
      'upload-url': uploadUrl,
    },
    relationships: {
      'ingress-attributes':
        row.ingress_id === null
          ? { data: null }
          : {
              data: { id: row.ingress_id, type: 'ingress-attributes' },
              links: { related: `/api/v2/configuration-versions/${row.id}/ingress-attributes` },
            },
    },
    links: { self: `/api/v2/configuration-versions/${row.id}` },
  };
}

/** The ingress attributes of a version; empty if it does not come from a repository. */
export function ingressResources(row: ConfigurationVersionRow): Resource[] {
  if (row.ingress_id === null || row.ingress === null) return [];
  const ingress = JSON.parse(row.ingress) as Ingress;
  return [
    {
      id: row.ingress_id,
      type: 'ingress-attributes',
      attributes: {
        branch: ingress.branch ?? null,
        'commit-sha': ingress['commit-sha'] ?? null,
        'commit-message': ingress['commit-message'] ?? null,
        'commit-url': ingress['commit-url'] ?? null,
        identifier: ingress.identifier ?? null,
        'sender-username': ingress['sender-username'] ?? null,
        tag: ingress.tag ?? null,
        'is-pull-request': ingress['is-pull-request'] ?? false,
        'pull-request-number': ingress['pull-request-number'] ?? null,
      },
      links: { self: `/api/v2/configuration-versions/${row.id}/ingress-attributes` },
    },
  ];
}
