/**
 * Whether a JWT lets an account log in with a role (wire/cluster-auth 3): signature, claims, names, and last the cluster.
 * Invariant: each refusal is the original's, and the cluster is asked only about JWTs that passed all else.
 */
import type { Role } from '../role-fields.ts';
import { annotatedMetadata } from './alias-metadata.ts';
import { claimsProblem } from './jwt/check-claims.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { matchesPattern } from './match-pattern.ts';
import { matchNamespace } from './namespace-selector.ts';
import { parseJwt } from './jwt/parse-jwt.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { isConfirmedByTokenReview } from './review-token.ts';
import { aliasName, readServiceAccount, type ServiceAccount } from './jwt/service-account.ts';
import { verifySignature, type SignatureVerdict } from './jwt/verify-signature.ts';

/** What a JWT is checked against. */
interface AccountCheck {
  readonly role: Role;
  readonly access: ClusterAccess;
  readonly now: Date;
}

/** Who logs in, and under which name the service knows them. */
export interface CheckedAccount {
  readonly account: ServiceAccount;
  readonly alias: string;
  /** What the account's annotations say beside. */
  readonly annotated: Readonly<Record<string, string>>;
}

const DENIED: Refusal = { status: 403, text: 'permission denied' };

const SIGNATURE_REFUSALS: Readonly<Record<Exclude<SignatureVerdict, 'good'>, Refusal>> = {
  forged: DENIED,
  unexpected: refusal(
    403,
    'invalid algorithm (alg) header parameter: token signed with unexpected algorithm',
  ),
  unsigned: refusal(403, 'invalid algorithm (alg) header parameter: token must be signed'),
};

/** All checks of a JWT, in order. */
export async function checkAccount(jwt: string, check: AccountCheck): Promise<CheckedAccount | Refusal> {
  const { role, access, now } = check;
  const parsed = parseJwt(jwt, access.pemKeys.length > 0);
  if (parsed === undefined) return DENIED;
  const verdict = verifySignature(parsed, access.pemKeys, access.keyRules);
  if (verdict !== 'good') return SIGNATURE_REFUSALS[verdict];
  const expected = { issuer: access.issuer, audience: role.audience };
  const problem = claimsProblem(parsed.claims, expected, now.getTime());
  if (problem !== undefined) return refusal(403, problem);
  const read = readServiceAccount(parsed.claims, CLAIMS_ROOT);
  if (!read.ok) return refusal(500, read.problem);
  const account = read.value;
  if (!matchesPattern(role.bound_service_account_names, account.name))
    return refusal(403, 'service account name not authorized');
  const outside = await namespaceRefusal(account.namespace, check);
  if (outside !== undefined) return outside;
  const alias = aliasName(account, role.alias_name_source);
  if (!alias.ok) return refusal(500, alias.problem);
  const bearer = access.reviewer || jwt;
  const review = { jwt, account, audience: role.audience, bearer, path: REVIEW_PATH };
  if (!(await isConfirmedByTokenReview(access.api, review))) return DENIED;
  const prefix = access.annotationPrefix;
  if (prefix === undefined) return { account, alias: alias.value, annotated: {} };
  const annotated = await annotatedMetadata(access.api, { account, bearer, prefix });
  return isRefusal(annotated) ? annotated : { account, alias: alias.value, annotated: annotated.metadata };
}

/** What the cluster's own claims begin with; the cluster is the same, whatever the service is called. */
const CLAIMS_ROOT = 'kubernetes.io';

const REVIEW_PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

async function namespaceRefusal(
  namespace: string,
  { role, access }: AccountCheck,
): Promise<Refusal | undefined> {
  if (matchesPattern(role.bound_service_account_namespaces ?? [], namespace)) return undefined;
  const selector = role.bound_service_account_namespace_selector;
  const verdict =
    selector === ''
      ? { admitted: false }
      : await matchNamespace(access.api, { namespace, selector, bearer: access.reviewer });
  if (verdict.admitted) return undefined;
  const { because } = verdict;
  return refusal(403, `namespace not authorized${because === undefined ? '' : ` err=${because}`}`);
}

function refusal(status: number, text: string): Refusal {
  return { status, text };
}
