/** What the audit trail learns of a run. */
import type { ApiRequest } from '../json-api/endpoint.ts';
import type { Services } from '../services.ts';

/** Call it in the transaction of the change. */
export function recordRunEvent(
  services: Services,
  request: ApiRequest,
  run: { readonly id: string; readonly organization_id: string },
  action: 'create' | 'apply' | 'discard' | 'cancel',
): void {
  services.recordEvent({
    organizationId: run.organization_id,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: run.id, type: 'run', action },
  });
}
