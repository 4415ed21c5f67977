/**
 * A signer whose certificate was signed with SHA-1. It is only for tests: the key is public.
 * `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -sha1 -nodes -days 25000 -subj '/CN=test signer'`
 */
import { createPrivateKey } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';

export const sha1Certificate = `-----BEGIN CERTIFICATE-----
MIIBgDCCASigAwIBAgIUI85H6lBlIwVIPqHbMHEUwOmlOs0wCQYHKoZIzj0EATAW
MRQwEgYDVQQDDAt0ZXN0IHNpZ25lcjAgFw0yNjExMjIxMTU1NDBaGA8yMDk1MDUw
NDExNTU0MFowFjEUMBIGA1UEAwwLdGVzdCBzaWduZXIwWTATBgcqhkjOPQIBBggq
hkjOPQMBBwNCAATEwmJDmt36SQ17ScHSO0k1UhCj9NUlyYEooKAAXUTYC7vqUgUt
Ltr2xOYHpqIjv3NveNNLAkXq7HkRdrknK8k4o1MwUTAdBgNVHQ4EFgQUdsuXAq5S
+zN6e+4hnZJhbWooD7cwHwYDVR0jBBgwFoAUdsuXAq5S+zN6e+4hnZJhbWooD7cw
DwYDVR0TAQH/BAUwAwEB/zAJBgcqhkjOPQQBA0cAMEQCIENlWLGGckaOLjvhm8rU
aUiG1Y5oOs+QAER2LI4AmH+bAiB3ZXfc//EH5oScLlLeC6c4JK7M2EJb/n1fH4zQ
rJHxeA==
-----END CERTIFICATE-----
`;

const privateKey = createPrivateKey(`-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3qZoeei+hdEo3vPg
jG8TQcbnULHid5RBwVh4Hc+pxq2hRANCAATEwmJDmt36SQ17ScHSO0k1UhCj9NUl
yYEooKAAXUTYC7vqUgUtLtr2xOYHpqIjv3NveNNLAkXq7HkRdrknK8k4
-----END PRIVATE KEY-----
`);

/** A JWT of the signer. */
export function signBySha1Signer(claims: JWTPayload): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
}
