/**
 * `POST login`: from a role and a JWT to a token, in the real order of checks (wire/cluster-auth 3).
 * Invariants: the first check that fails decides, and its text says no more than the original's; nothing is written
 * before the cluster has vouched for the account; what was read before the cluster was asked is not trusted after it: the
 * mount must still be there, and where the role or the config has changed meanwhile, all is checked anew.
 */
import { type SecretsAnswer, answerAuth, answerError } from '../answer.ts';
import { mountOfId } from '../mounts.ts';
import type { Role } from '../role-fields.ts';
import { storedRole } from '../role.ts';
import { admitsAddress } from '../values/admits-address.ts';
import { asText, readFields } from '../values/field-coercion.ts';
import { storedText } from '../values/json-values.ts';
import { checkAccount } from './check-account.ts';
import { giveToken } from './give-token.ts';
import { type ClusterAccess, loadClusterAccess } from './cluster-access.ts';
import type { LoginCall } from './login-call.ts';
import { isRefusal } from './refusal.ts';

const FIELDS = { role: asText, jwt: asText } as const;

const DENIED = answerError(403, 'permission denied');

/** Logs in: 200 with `auth`, or the refusal. */
export async function logIn(call: LoginCall): Promise<SecretsAnswer> {
  const sent = readFields(FIELDS, call.body);
  if (!sent.ok) return answerError(400, `Field validation failed: ${sent.problem}`);
  const { role: roleName = '', jwt = '' } = sent.value;
  if (roleName === '') return answerError(400, 'missing role');
  if (jwt === '') return answerError(400, 'missing jwt');
  for (let checks = 0; checks < MOST_CHECKS; checks += 1) {
    const answer = await logInOnce(call, roleName, jwt);
    if (answer !== 'changed') return answer;
  }
  return DENIED;
}

/** A role that changes during each of so many checks is nobody's to log in with. */
const MOST_CHECKS = 2;

type Answer = SecretsAnswer | 'changed';

async function logInOnce(call: LoginCall, roleName: string, jwt: string): Promise<Answer> {
  const role = storedRole(call.services.database, call.mount.id, roleName);
  if (role === undefined) return answerError(400, `invalid role name ${JSON.stringify(roleName)}`);
  if (!role.ok) return answerError(500, role.problem);
  const { token_bound_cidrs: blocks } = role.value;
  if (blocks.length > 0 && !admitsAddress(blocks, call.address)) return DENIED;
  return logInAs(call, { roleName, role: role.value, jwt });
}

/** What is logged in with: the role, as it is stored and as the request wrote it, and the JWT. */
interface Attempt {
  readonly roleName: string;
  readonly role: Role;
  readonly jwt: string;
}

async function logInAs(call: LoginCall, { roleName, role, jwt }: Attempt): Promise<Answer> {
  const access = loadClusterAccess(call.services, call.mount.id);
  if (!access.ok) return answerError(500, access.problem);
  const checked = await checkAccount(jwt, { role, access: access.value, now: call.services.now() });
  if (isRefusal(checked)) return answerError(checked.status, checked.text);
  return call.services.database.transaction((): Answer => {
    const isMounted = mountOfId(call.services.database, call.mount.id) !== undefined;
    if (isMounted && !stillHolds(call, { roleName, role }, access.value)) return 'changed';
    const given = giveToken(call, { role, roleName, ...checked });
    return 'refused' in given ? given.refused : answerAuth(given.auth, given.warnings);
  });
}

/** Whether role and config are still those that were checked. */
function stillHolds(
  { services, mount }: LoginCall,
  { roleName, role }: Omit<Attempt, 'jwt'>,
  access: ClusterAccess,
): boolean {
  const now = [storedRole(services.database, mount.id, roleName), loadClusterAccess(services, mount.id)];
  const checked = [role, access].map((value) => ({ ok: true, value }));
  return storedText(now) === storedText(checked);
}
