// Whether one of the config's keys has signed a JWT, with real keys of each algorithm (wire/cluster-auth 3).
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { checkedConfig, type KnownConfig } from '../../../src/commands/role-check/rules.ts';
import { checkSignature, parseJwt } from '../../../src/commands/role-check/parse-jwt.ts';
import { openIssuer } from '../../support/cli/account-jwt.ts';
import { sha1Signed } from '../../support/cli/sha1-signed.ts';
import { localhost } from '../../support/http/certificates.ts';

function withKeys(...pemKeys: string[]): KnownConfig {
  return { is: 'known', config: checkedConfig({ clusterHost: 'https://c', pemKeys }, {}) };
}

async function verify(text: string, config: KnownConfig) {
  const jwt = parseJwt(text);
  if ('problem' in jwt) throw new Error('the test needs a JWT');
  return checkSignature(jwt, config);
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a signature', () => {
  it.each(['RS256', 'RS512', 'ES256', 'ES384', 'ES512'])('of %s is verified', async (algorithm) => {
    const { publicKey, issue } = await openIssuer(algorithm);
    const { publicKey: another } = await openIssuer(algorithm);
    const jwt = await issue();
    expect(await verify(jwt, withKeys(another, publicKey))).toMatchObject({ result: 'passed' });
    expect(await verify(jwt, withKeys(another))).toMatchObject({
      result: 'failed',
      field: { of: 'config', name: 'pemKeys' },
    });
  });

  it.each(['PS256', 'EdDSA'])('of %s is refused, with keys and without', async (algorithm) => {
    const { publicKey, issue } = await openIssuer(algorithm);
    const jwt = await issue();
    expect(await verify(jwt, withKeys(publicKey))).toMatchObject({ result: 'failed' });
    expect(await verify(jwt, withKeys())).toMatchObject({ result: 'failed' });
  });

  it('cannot be forged with the public key as a shared secret', async () => {
    const { publicKey } = await openIssuer('RS256');
    const head = `${part({ alg: 'HS256' })}.${part({})}`;
    const forged = `${head}.${createHmac('sha256', publicKey).update(head).digest('base64url')}`;
    expect(await verify(forged, withKeys(publicKey))).toMatchObject({ result: 'failed' });
  });

  it('is required', async () => {
    expect(await verify(`${part({ alg: 'none' })}.${part({})}.`, withKeys())).toMatchObject({
      result: 'failed',
    });
    expect(await verify(`${part({ alg: 'ES256' })}.${part({})}.`, withKeys())).toMatchObject({
      message: 'the JWT has no signature',
    });
  });

  it('is invalid after a change of the claims', async () => {
    const { publicKey, issue } = await openIssuer();
    const [header, , signature] = (await issue()).split('.');
    const changed = `${header}.${part({ sub: 'system:serviceaccount:payments:admin' })}.${signature}`;
    expect(await verify(changed, withKeys(publicKey))).toMatchObject({ result: 'failed' });
    expect(await verify(changed, withKeys())).toMatchObject({ result: 'open' });
  });

  it('is refused if its algorithm needs another type of key', async () => {
    const [small, large] = await Promise.all([openIssuer('ES256'), openIssuer('ES384')]);
    expect(await verify(await small.issue(), withKeys(large.publicKey))).toMatchObject({ result: 'failed' });
  });

  it('is verified with the key of a certificate', async () => {
    const key = await importPKCS8(localhost.key, 'ES256');
    const jwt = await new SignJWT({}).setProtectedHeader({ alg: 'ES256' }).sign(key);
    expect(await verify(jwt, withKeys(localhost.cert))).toMatchObject({ result: 'passed' });
  });

  it('is left to the service if the certificate of its key was signed with SHA-1', async () => {
    const key = await importPKCS8(sha1Signed.key, 'ES256');
    const jwt = await new SignJWT({}).setProtectedHeader({ alg: 'ES256' }).sign(key);
    const { result, message } = await verify(jwt, withKeys(localhost.cert, sha1Signed.cert));
    expect(result).toBe('open');
    expect(message).toContain('SHA-1');
  });

  it('is left to the service if a key cannot be used here', async () => {
    const { issue } = await openIssuer('RS256');
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 512 });
    const short = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(await verify(await issue(), withKeys(short))).toMatchObject({ result: 'open' });
    expect(await verify(await issue(), withKeys('no PEM'))).toMatchObject({ result: 'open' });
  });
});
