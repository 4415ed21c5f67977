/**
 * What the audit trail learns of a workspace.
 * Invariant: one event a request for each workspace that it changes, written in the request's own transaction. A lock that
 * a run takes or gives back is told beside it.
 */
import type { EventCause } from '../../audit-trails/record-event.ts';
import type { Services } from '../../services.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

export type WorkspaceAction = 'create' | 'update' | 'destroy' | 'lock' | 'unlock' | 'force_unlock';

/** `meta` says what an update was about when it did not come through the update endpoint. */
export function recordWorkspaceEvent(
  services: Services,
  cause: EventCause,
  workspace: Pick<WorkspaceRecord, 'id' | 'organization_id'>,
  change: { readonly action: WorkspaceAction; readonly meta?: Readonly<Record<string, unknown>> },
): void {
  const { action, meta } = change;
  services.recordEvent({
    organizationId: workspace.organization_id,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: workspace.id, type: 'workspace', action },
    ...(meta === undefined ? {} : { meta }),
  });
}
