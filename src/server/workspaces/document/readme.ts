/** The README of a workspace's configuration, as the API shows it. Archives stay unread here, so it comes from the seed. */
import type { Resource } from '../../json-api/document.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

/** A workspace has at most one, and it changes with the workspace: they share their id. */
export function readmeId(record: Pick<WorkspaceRecord, 'id' | 'readme'>): string | null {
  return record.readme === null ? null : `readme-${record.id}`;
}

export function readmeResource(record: Pick<WorkspaceRecord, 'id' | 'readme'>): Resource[] {
  const id = readmeId(record);
  if (id === null) return [];
  return [{ id, type: 'workspace-readme', attributes: { 'raw-markdown': record.readme } }];
}
