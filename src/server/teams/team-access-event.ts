/** What the audit trail learns when a team's access to a workspace or a project changes (wire/audit-trails 3.2). */
import { grantedBy } from '../identity/workspace-permissions.ts';
import type { ApiRequest } from '../json-api/endpoint.ts';
import type { Services } from '../services.ts';
import type { AccessKind, AccessRow } from './team-access.ts';
import { teamsById } from './team-record.ts';

interface AccessChange {
  readonly kind: AccessKind;
  /** As it is now; as it was, where it is gone. */
  readonly row: AccessRow;
  readonly organizationId: string;
  readonly action: 'add_team' | 'update_team_permissions' | 'remove_team';
}

/** The event is one of the workspace or the project. Call it in the transaction of the change. */
export function recordAccessEvent(services: Services, request: ApiRequest, change: AccessChange): void {
  const { kind, row, organizationId, action } = change;
  const [team] = teamsById(services.database, [row.team_id]);
  services.recordEvent({
    organizationId,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: row.thing_id, type: kind, action },
    meta: {
      team: team?.name ?? row.team_id,
      ...(action === 'remove_team' ? {} : { permissions: grantedText(row) }),
    },
  });
}

/** A level as it is called; a custom access as the permissions that it grants, by name. */
export function grantedText({ access, custom_permissions: custom }: AccessRow): string {
  return access === 'custom' ? [...new Set(grantedBy(access, custom))].toSorted().join(', ') : access;
}
