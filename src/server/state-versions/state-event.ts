/** What the audit trail learns of state versions. */
import { type EventCause, SERVICE_ITSELF } from '../audit-trails/record-event.ts';
import { callerById } from '../identity/caller.ts';
import type { Services } from '../services.ts';
import type { StateVersionRow } from './state-version-record.ts';

/** Call it in the transaction of the change, or of the reading. A list is told by the id of its workspace. */
export function recordStateEvent(
  services: Services,
  about: { readonly id: string; readonly organizationId: string },
  action: 'index' | 'show' | 'create' | 'upload',
  cause: EventCause,
): void {
  services.recordEvent({
    organizationId: about.organizationId,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: about.id, type: 'state_version', action },
  });
}

/** A file that was sent to a signed link. That is no request of the API: it is told as one of who made the version. */
export function recordUpload(services: Services, version: StateVersionRow): void {
  const workspace = services.database.get<{ organization_id: string }>(
    'SELECT organization_id FROM workspaces WHERE id = :id',
    { id: version.workspace_id },
  );
  const about = { id: version.id, organizationId: workspace?.organization_id ?? '' };
  const creator = callerById(services.database, version.created_by_id ?? '', services.now());
  recordStateEvent(services, about, 'upload', { caller: creator ?? SERVICE_ITSELF });
}
