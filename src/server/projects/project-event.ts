/** What the audit trail learns of a project. */
import type { ApiRequest } from '../json-api/endpoint.ts';
import type { Services } from '../services.ts';

/**
 * Call it in the transaction of the change. `meta` says what an update was about when it did not come through the update
 * endpoint.
 */
export function recordProjectEvent(
  services: Services,
  request: ApiRequest,
  project: { readonly id: string; readonly organization_id: string },
  change: {
    readonly action: 'create' | 'update' | 'destroy';
    readonly meta?: Readonly<Record<string, unknown>>;
  },
): void {
  const { action, meta } = change;
  services.recordEvent({
    organizationId: project.organization_id,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: project.id, type: 'project', action },
    ...(meta === undefined ? {} : { meta }),
  });
}
