/**
 * An event as it is answered.
 * Invariant: what only some kinds of events carry stands in `resource.meta`. Beside the standard members there is no room
 * for it: `version` and `resource` are names of both (wire/audit-trails 2 and 3.2).
 */
import type { WorkspacesDialect } from '../workspaces-dialects.ts';

export interface AuditEventRow {
  readonly id: string;
  readonly organization_id: string;
  readonly timestamp: string;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly actor_type: 'Client' | 'Impersonated' | 'System';
  readonly impersonator_id: string | null;
  readonly request_id: string | null;
  readonly resource_id: string;
  readonly resource_type: string;
  readonly resource_action: string;
  /** JSON. */
  readonly meta: string | null;
}

export function auditEventDocument(row: AuditEventRow, dialect: WorkspacesDialect): Record<string, unknown> {
  return {
    id: row.id,
    version: dialect.auditEventVersion,
    type: 'Resource',
    timestamp: row.timestamp,
    auth: {
      accessor_id: row.actor_id,
      description: row.actor_name,
      type: row.actor_type,
      impersonator_id: row.impersonator_id,
      organization_id: row.organization_id,
    },
    request: { id: row.request_id },
    resource: {
      id: row.resource_id,
      type: row.resource_type,
      action: row.resource_action,
      meta: metaOf(row, dialect),
    },
  };
}

/** Named as the dialect names it. */
function metaOf({ meta, resource_type }: AuditEventRow, { auditMetaNames }: WorkspacesDialect): unknown {
  if (meta === null) return null;
  const members = Object.entries(JSON.parse(meta) as Record<string, unknown>);
  const names = auditMetaNames[resource_type] ?? {};
  return Object.fromEntries(members.map(([name, value]) => [names[name] ?? name, value]));
}
