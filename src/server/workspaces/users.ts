/**
 * GET /account/details and GET /users/:user_id. The first is an addition to the specification: with it, a client recognizes its own
 * lock (`locked-by`). The token of an organization has no user.
 */
import { notFound, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../kernel/endpoint.ts';

export interface UserRow {
  id: string;
  username: string;
  email: string | null;
  is_service_account: number;
}

export function showAccount({ services: { database }, caller }: ApiRequest): ApiAnswer {
  const user = database.byId<UserRow>('users', caller.userId);
  const isOrganization = caller.actsAs.type === 'users' && user?.is_service_account === 1;
  if (user === undefined || isOrganization) throw notFound('Account');
  return ok({ data: userResource(user) });
}

export function userResource({ id, username, email, is_service_account }: UserRow): Resource {
  return {
    id,
    type: 'users',
    attributes: { username, email, 'is-service-account': is_service_account === 1 },
  };
}

// GET /users/:user_id.
// Invariant: a user is visible to users of the same organization, and the service account of a team or an organization to members
// of that organization, because locks and runs name their users.

export function showUser({ services: { database }, caller, params }: ApiRequest): ApiAnswer {
  const user = database.get<UserRow>(
    `SELECT u.* FROM users u WHERE u.id = :id AND (u.id = :caller OR EXISTS (
       SELECT 1 FROM (
         SELECT organization_id FROM organization_memberships WHERE user_id = u.id
         UNION SELECT t.organization_id FROM team_memberships m JOIN teams t ON t.id = m.team_id WHERE m.user_id = u.id
         UNION SELECT organization_id FROM api_tokens WHERE user_id = u.id
         UNION SELECT t.organization_id FROM api_tokens a JOIN teams t ON t.id = a.team_id WHERE a.user_id = u.id)
       WHERE organization_id IN (SELECT value FROM json_each(:organizations))))`,
    {
      id: params['user_id'] ?? '',
      caller: caller.userId,
      organizations: JSON.stringify([...caller.organizations.keys()]),
    },
  );
  if (user === undefined) throw notFound('User');
  return ok({ data: userResource(user) });
}
