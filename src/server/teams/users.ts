/**
 * GET /users/:user_id.
 * Invariant: a user is shown to who shares an organization with it; the account behind a team's or an organization's
 * token to who belongs to that organization. Locks and runs name their users.
 */
import { type ApiAnswer, type ApiRequest, ok } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { type UserRow, userResource } from '../workspaces/related/user.ts';

export function showUser({ database }: Services, { caller, params }: ApiRequest): ApiAnswer {
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
