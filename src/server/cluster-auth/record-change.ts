/**
 * The audit events of a mount's config and roles.
 * The specifications show no events of this method, and mounts belong to no organization: a change is told to every
 * organization of the service, as `cluster_auth_config` or `cluster_auth_role` with create, update or destroy.
 * Invariant: called inside the transaction of the change; an event names what changed, never a value of it.
 */
import type { MountCall } from './mount-call.ts';

/** Adds the event of one change to the trail of each organization. `resource.id` is the path under `/v1`. */
export function recordChange(call: MountCall, action: 'create' | 'update' | 'destroy'): void {
  const isRole = call.roleName !== '';
  const id = `auth/${call.mount}/${isRole ? `role/${call.roleName}` : 'config'}`;
  const organizations = call.services.database.all<{ id: string }>(
    'SELECT id FROM organizations ORDER BY id',
  );
  for (const organization of organizations) {
    call.services.recordEvent({
      organizationId: organization.id,
      actor: { userId: call.identity.accessor, username: call.identity.displayName },
      requestId: call.requestId,
      resource: { id, type: isRole ? 'cluster_auth_role' : 'cluster_auth_config', action },
      meta: { mount: call.mount },
    });
  }
}
