/** What the audit trail learns of a configuration version. */
import { type EventCause, SERVICE_ITSELF } from '../audit-trails/record-event.ts';
import type { Services } from '../services.ts';

/**
 * Call it in the transaction of the change. What is sent to a signed link is no request of the API: it is told as one of
 * who made the version, and has no id.
 */
export function recordConfigurationEvent(
  services: Services,
  version: { readonly id: string; readonly organization_id: string },
  action: 'create' | 'show' | 'upload',
  cause: EventCause = { caller: SERVICE_ITSELF },
): void {
  services.recordEvent({
    organizationId: version.organization_id,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: version.id, type: 'configuration_version', action },
  });
}
