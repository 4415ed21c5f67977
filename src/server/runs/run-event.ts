/** What the audit trail learns of a run. */
import type { Caller } from '../identity/caller.ts';
import type { Services } from '../services.ts';

/** Call it in the transaction of the change. What is sent to a signed link is no request of the API: it has no id here. */
export function recordRunEvent(
  services: Services,
  { caller, requestId }: { readonly caller: Caller; readonly requestId?: string },
  run: { readonly id: string; readonly organization_id: string },
  action: 'create' | 'apply' | 'discard' | 'cancel',
): void {
  services.recordEvent({
    organizationId: run.organization_id,
    actor: caller,
    ...(requestId === undefined ? {} : { requestId }),
    resource: { id: run.id, type: 'run', action },
  });
}
