/**
 * GET /account/details: who the caller's token stands for. An addition to the spec, which the real service has: with it a
 * client can tell a lock of its own (`locked-by`) from one of anyone else.
 * Invariant: a token that stands for no user, an organization's, has no account.
 */
import type { Resource } from '../../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../../json-api/endpoint.ts';
import { notFound } from '../../json-api/errors.ts';
import type { Services } from '../../services.ts';

export interface UserRow {
  id: string;
  username: string;
  email: string | null;
  is_service_account: number;
}

export function showAccount({ database }: Services, { caller }: ApiRequest): ApiAnswer {
  const user = database.get<UserRow>('SELECT * FROM users WHERE id = :id', { id: caller.userId });
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
