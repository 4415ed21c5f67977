// The config of a mount: every write replaces all of it, it is checked before it is stored, and reads hide its credentials.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  dataOf,
  errorOf,
  type ServedMount,
  serveMount,
} from '../../support/server/cluster-auth/serve-mount.ts';

const CA = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
/** Self-signed, with an ECDSA key; valid for a hundred years. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfDCCASGgAwIBAgIUTfO3DMD7z2n1APH4njCYZ++RcFswCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHY2x1c3RlcjAgFw0yNjExMjAxMTEwNDVaGA8yMTI2MTAyNzEx
MTA0NVowEjEQMA4GA1UEAwwHY2x1c3RlcjBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABCTZ52LIeQ6Er2JJOCkXR9YHGhFZkTLjJXqKSQH/Op/LsK/HT7vulxSkCFg2
xH32KssnWHQSWFtS299yXh1nnuejUzBRMB0GA1UdDgQWBBTfAd0nrVpZ3VBN6M2w
pY+2dBUs+jAfBgNVHSMEGDAWgBTfAd0nrVpZ3VBN6M2wpY+2dBUs+jAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDx77xJECZgnJNK7ceQVFHll9Tz
q0gGmkcVW1vxnTEpvQIhAIGwB+jd0jOuQwDSuoVq+R3g4VWOXLF39bPzBKDVPuxH
-----END CERTIFICATE-----`;
const CONFIG = { cluster_host: 'https://cluster.example:6443', cluster_ca_cert: CA };

const pem = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();
const RSA = pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);
const EC = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
const ED25519 = pem(generateKeyPairSync('ed25519').publicKey);

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
});
afterAll(() => mount.close());

const write = (body: unknown) => mount.send('POST', 'cluster/config', body);
const read = async () => dataOf(await mount.send('GET', 'cluster/config'));

describe('reading', () => {
  it('answers 404 without an error text before the first write', async () => {
    expect(errorOf(await mount.send('GET', 'team/cluster/config'))).toEqual({ status: 404, errors: [] });
  });

  it('answers every field but the reviewer JWT, which shows as set', async () => {
    expect((await write({ ...CONFIG, token_reviewer_jwt: 'reviewer-secret' })).status).toBe(204);
    const reply = await mount.send('GET', 'cluster/config');
    expect(dataOf(reply)).toEqual({
      cluster_host: 'https://cluster.example:6443',
      cluster_ca_cert: CA,
      pem_keys: [],
      disable_local_ca_jwt: false,
      disable_iss_validation: true,
      issuer: '',
      token_reviewer_jwt_set: true,
    });
    expect(JSON.stringify(reply.body)).not.toContain('reviewer-secret');
  });
});

describe('replacing', () => {
  beforeEach(async () => {
    await write({
      ...CONFIG,
      pem_keys: [RSA],
      token_reviewer_jwt: 'reviewer-secret',
      issuer: 'https://issuer.example',
      disable_iss_validation: false,
      disable_local_ca_jwt: true,
    });
  });

  it('resets every field that is not sent to its default, including the reviewer JWT', async () => {
    expect(await read()).toMatchObject({ token_reviewer_jwt_set: true, issuer: 'https://issuer.example' });
    expect((await write({ cluster_host: 'h', cluster_ca_cert: CA })).status).toBe(204);
    expect(await read()).toEqual({
      cluster_host: 'h',
      cluster_ca_cert: CA,
      pem_keys: [],
      disable_local_ca_jwt: false,
      disable_iss_validation: true,
      issuer: '',
      token_reviewer_jwt_set: false,
    });
  });

  it('keeps the stored config, including the reviewer JWT, when a write is refused', async () => {
    const before = await read();
    expect((await write({ cluster_host: '' })).status).toBe(400);
    expect((await write({ ...CONFIG, pem_keys: ['no key'] })).status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it('unsets the reviewer JWT for an empty text and for null', async () => {
    for (const token_reviewer_jwt of ['', null]) {
      await write({ ...CONFIG, token_reviewer_jwt: 'x' });
      await write({ ...CONFIG, token_reviewer_jwt });
      expect(await read()).toMatchObject({ token_reviewer_jwt_set: false });
    }
  });

  it('ignores unknown fields without a warning', async () => {
    const reply = await write({ ...CONFIG, cluster_hots: 'x' });
    expect(reply).toMatchObject({ status: 204, body: undefined });
  });
});

describe('checking', () => {
  const refusal = async (body: unknown) => errorOf(await write(body));

  it('requires a host', async () => {
    const expected = { status: 400, errors: ['no host provided'] };
    expect(await refusal({ cluster_ca_cert: CA })).toEqual(expected);
    expect(await refusal({ cluster_host: '', cluster_ca_cert: 'no PEM' })).toEqual(expected);
    expect(await refusal(undefined)).toEqual(expected);
  });

  it('accepts a host, one with its port, and a URL, and stores each unchanged', async () => {
    for (const cluster_host of [
      'cluster.internal',
      'cluster.internal:6443',
      'https://cluster.internal/api/',
    ]) {
      expect((await write({ ...CONFIG, cluster_host })).status).toBe(204);
      expect(await read()).toMatchObject({ cluster_host });
    }
  });

  it('requires a PEM block in the CA certificate', async () => {
    expect(await refusal({ cluster_host: 'h', cluster_ca_cert: 'no PEM', pem_keys: ['no key'] })).toEqual({
      status: 400,
      errors: ['The provided CA PEM data contains no valid certificates'],
    });
  });

  it('requires RSA or ECDSA keys', async () => {
    const expected = { status: 400, errors: ['data does not contain any valid RSA or ECDSA public keys'] };
    expect(await refusal({ ...CONFIG, pem_keys: ['no key'] })).toEqual(expected);
    expect(await refusal({ ...CONFIG, pem_keys: [RSA, ''] })).toEqual(expected);
    expect(await refusal({ ...CONFIG, pem_keys: [ED25519] })).toEqual(expected);
  });

  it('accepts a certificate in place of its public key', async () => {
    expect((await write({ ...CONFIG, pem_keys: [CERTIFICATE, RSA, EC] })).status).toBe(204);
    expect((await read())['pem_keys']).toEqual([CERTIFICATE, RSA.trim(), EC.trim()]);
  });

  it('refuses a PEM block that is neither a key nor a certificate', async () => {
    expect(await refusal({ ...CONFIG, pem_keys: [CA] })).toEqual({
      status: 400,
      errors: ['x509: malformed certificate'],
    });
  });

  it('requires a CA certificate or keys, with any value of disable_local_ca_jwt', async () => {
    const expected = { status: 400, errors: ['one of pem_keys or cluster_ca_cert must be set'] };
    expect(await refusal({ cluster_host: 'h' })).toEqual(expected);
    expect(await refusal({ cluster_host: 'h', disable_local_ca_jwt: true })).toEqual(expected);
    expect((await write({ cluster_host: 'h', pem_keys: [EC] })).status).toBe(204);
    expect((await write({ cluster_host: 'h', cluster_ca_cert: CA })).status).toBe(204);
  });

  it('names the field that cannot be converted', async () => {
    const { status, errors } = await refusal({ ...CONFIG, disable_local_ca_jwt: 'yes' });
    expect(status).toBe(400);
    expect(errors[0]).toMatch(
      /^Field validation failed: error converting input for field "disable_local_ca_jwt": /,
    );
  });

  it('never repeats a reviewer JWT in an error', async () => {
    const { errors } = await refusal({ ...CONFIG, token_reviewer_jwt: ['reviewer-secret'] });
    expect(errors[0]).toMatch(
      /^Field validation failed: error converting input for field "token_reviewer_jwt": /,
    );
    expect(errors[0]).not.toContain('reviewer-secret');
  });
});

describe('coercion', () => {
  it('accepts one text as keys, which is split at commas and trimmed', async () => {
    expect((await write({ ...CONFIG, pem_keys: `${RSA},${EC}` })).status).toBe(204);
    expect((await read())['pem_keys']).toEqual([RSA.trim(), EC.trim()]);
  });

  it('keeps the CA certificate byte for byte', async () => {
    const cluster_ca_cert = `  \n${CA}\n\n`;
    await write({ ...CONFIG, cluster_ca_cert });
    expect((await read())['cluster_ca_cert']).toBe(cluster_ca_cert);
  });

  it('accepts several spellings of booleans', async () => {
    await write({ ...CONFIG, disable_local_ca_jwt: 'T', disable_iss_validation: 0 });
    expect(await read()).toMatchObject({ disable_local_ca_jwt: true, disable_iss_validation: false });
    await write({ ...CONFIG, disable_iss_validation: null });
    expect(await read()).toMatchObject({ disable_iss_validation: false });
  });
});
