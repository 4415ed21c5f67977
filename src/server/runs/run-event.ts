/** What the audit trail learns of a run. */
import { type EventCause, SERVICE_ITSELF } from '../audit-trails/record-event.ts';
import type { Services } from '../services.ts';

/** `plan` is a run's turn, which comes by itself (wire/audit-trails 3.3). */
type RunAction = 'create' | 'plan' | 'apply' | 'discard' | 'cancel';

/** Call it in the transaction of the change. Without a cause the service did it by itself. */
export function recordRunEvent(
  services: Services,
  run: { readonly id: string; readonly organization_id: string },
  action: RunAction,
  cause: EventCause = { caller: SERVICE_ITSELF },
): void {
  services.recordEvent({
    organizationId: run.organization_id,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: run.id, type: 'run', action },
  });
}
