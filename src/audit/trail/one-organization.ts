/**
 * A trail is that of the organization whose token asks, and no path says which: so its events have to say that it is the right one.
 */
import { TrailError, type TrailEvent } from '../../model/audit-trail.ts';
import { quoted } from '../../model/quoted.ts';

/**
 * @param organization the opaque id that the events have to have (wire/audit-trails 2)
 * @throws TrailError for an event of another one
 */
export function refuseForeign({ organizationId }: TrailEvent, organization: string): void {
  if (organizationId === organization) return;
  throw new TrailError(
    `this is the audit trail of another organization: the target's has the id ${quoted(organization)}, and an event of ${quoted(organizationId)} came; check the target's "auditToken"`,
  );
}
