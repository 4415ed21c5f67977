/** A state version as the API shows it. Links to download or upload the state are for callers with the right. */
import type { WorkspacePermissions } from './permissions.ts';
import { type Resource, related } from '../kernel/documents.ts';
import type { Services } from '../kernel/services.ts';
import { signedLink, type StorageMethod } from '../kernel/signed-links.ts';
import { outputsOf } from './state-outputs.ts';
import type { StateVersionRow } from './state-version-record.ts';

interface StateVersionReader {
  /** `http://host:port` */
  readonly origin: string;
  /** By workspace id. */
  readonly permissions: ReadonlyMap<string, WorkspacePermissions>;
}

/** The documents of these state versions, in a fixed number of queries. */
export function stateVersionResources(
  services: Services,
  reader: StateVersionReader,
  rows: readonly StateVersionRow[],
): Resource[] {
  const outputs = outputsOf(
    services.database,
    rows.map((row) => row.id),
  );
  return rows.map((row) => ({
    id: row.id,
    type: 'state-versions',
    attributes: {
      'created-at': row.created_at,
      serial: row.serial,
      status: row.status,
      intermediate: row.intermediate === 1,
      lineage: row.lineage,
      md5: row.md5,
      size: row.state_size,
      'resources-processed': row.status === 'finalized',
      resources: JSON.parse(row.resources),
      ...links(services, reader, row),
    },
    relationships: {
      workspace: related('workspaces', row.workspace_id),
      run: related('runs', row.run_id),
      'created-by': related('users', row.created_by_id),
      outputs: {
        data: (outputs.get(row.id) ?? []).map(({ id }) => ({ id, type: 'state-version-outputs' })),
        links: { related: `/api/v2/state-versions/${row.id}/outputs` },
      },
    },
    links: { self: `/api/v2/state-versions/${row.id}` },
  }));
}

function links(
  services: Services,
  { origin, permissions }: StateVersionReader,
  row: StateVersionRow,
): Record<string, string | null> {
  const rights = permissions.get(row.workspace_id);
  const mayRead = rights?.['can-read-state-versions'] === true;
  const maySend = rights?.['can-create-state-versions'] === true;
  const link = (allowed: boolean, method: StorageMethod, file: string): string | null =>
    allowed ? signedLink(services, origin, { method, path: `/state-versions/${row.id}/${file}` }) : null;
  return {
    'hosted-state-download-url': link(mayRead && row.state_size !== null, 'GET', 'state'),
    'hosted-json-state-download-url': link(mayRead && row.has_json_state === 1, 'GET', 'json-state'),
    'hosted-state-upload-url': link(maySend && row.status === 'pending', 'PUT', 'state'),
    'hosted-json-state-upload-url': link(maySend && row.has_json_state === 0, 'PUT', 'json-state'),
  };
}
