/** JWTs of service accounts, as a cluster issues them: real signatures of keys that were made for the test. */
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';

export interface Issuer {
  /** the public key, as `pemKeys` of a config has it */
  readonly publicKey: string;
  /** a JWT of the account `app` in the namespace `payments`, valid for an hour; `claims` replaces some of its claims */
  issue(claims?: Readonly<Record<string, unknown>>): Promise<string>;
}

export async function openIssuer(algorithm = 'ES256'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return {
    publicKey: await exportSPKI(publicKey),
    issue: (claims = {}) =>
      new SignJWT({ ...accountClaims(), ...claims }).setProtectedHeader({ alg: algorithm }).sign(privateKey),
  };
}

export function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** The claims of a projected JWT. */
export function accountClaims(account = 'app', namespace = 'payments'): Record<string, unknown> {
  return {
    iss: 'https://cluster.internal',
    sub: `system:serviceaccount:${namespace}:${account}`,
    aud: ['vault'],
    iat: secondsFromNow(-60),
    nbf: secondsFromNow(-60),
    exp: secondsFromNow(3600),
    'kubernetes.io': {
      namespace,
      serviceaccount: { name: account, uid: '5b1d2f0e-6c41-4c9d-8f35-0a9b6f7c1d22' },
    },
  };
}
