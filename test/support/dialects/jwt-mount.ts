/**
 * A mount of the method `jwt`, only for logins: it reads the keys of its issuer over HTTP and checks a JWT against a role.
 * Written from wire/cluster-auth 3.1 alone.
 */
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { Refusal } from './role-record.ts';

export interface JwtRole {
  readonly bound_audiences: readonly string[];
  readonly bound_subject?: string;
  readonly bound_claims?: Readonly<Record<string, string | readonly string[]>>;
  readonly user_claim: string;
}

export interface JwtMount {
  /** also the required `iss` of a JWT */
  readonly oidc_discovery_url: string;
  readonly roles: Readonly<Record<string, JwtRole>>;
}

/** @throws Refusal */
export async function admitJwt(
  { oidc_discovery_url: issuer, roles }: JwtMount,
  role: unknown,
  jwt: unknown,
): Promise<void> {
  const found = roles[String(role)];
  if (found === undefined) throw new Refusal(400, `role "${String(role)}" could not be found`);
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { jwks_uri: keys } = (await response.json()) as { jwks_uri: string };
  const { payload } = await jwtVerify(String(jwt), createRemoteJWKSet(new URL(keys)), {
    issuer,
    audience: [...found.bound_audiences],
    requiredClaims: ['exp'],
  }).catch((error: Error) => {
    throw new Refusal(400, `error validating token: ${error.message}`);
  });
  checkClaims(found, payload);
}

function checkClaims(
  { bound_subject: subject, bound_claims: claims = {}, ...role }: JwtRole,
  jwt: JWTPayload,
) {
  if (subject !== undefined && jwt.sub !== subject)
    throw new Refusal(400, 'error validating claims: sub claim does not match bound subject');
  for (const [name, values] of Object.entries(claims))
    if (![values].flat().includes(String(jwt[name])))
      throw new Refusal(
        400,
        `error validating claims: claim "${name}" does not match any associated bound claim values`,
      );
  if (typeof jwt[role.user_claim] !== 'string')
    throw new Refusal(400, `claim "${role.user_claim}" not found in token`);
}
