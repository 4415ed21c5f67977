import { afterEach, describe, expect, it } from 'vitest';
import { clusterAuthConfig as kind } from '../../../src/kinds/cluster-auth-config/index.ts';
import { declare, readRequest } from '../../support/services/cluster-auth/declare.ts';
import {
  type Canned,
  type Mount,
  openCannedMount,
  openEmbeddedMount,
} from '../../support/services/cluster-auth/open-mount.ts';
import { caCert } from '../../support/kinds/cluster-auth-config/pem-samples.ts';

let mount: Mount | undefined;
afterEach(async () => {
  await mount?.close();
  mount = undefined;
});

const config = declare(kind, 'config', { clusterHost: 'https://k' });
const four = {
  cluster_host: 'https://k',
  cluster_ca_cert: caCert,
  pem_keys: [],
  disable_local_ca_jwt: false,
};

async function answering(answer: Canned): Promise<Mount> {
  mount = await openCannedMount(() => answer);
  return mount;
}

describe('Reading the config of a mount', () => {
  it('returns every field, but of the reviewer JWT only whether one is stored', async () => {
    mount = await openEmbeddedMount();
    await mount.write('/auth/cluster/config', { ...four, token_reviewer_jwt: 'planted-secret' });
    const set = await kind.read(mount.session, readRequest([config]));
    expect(set.resources).toEqual([
      {
        address: config.address,
        spec: {
          clusterHost: 'https://k',
          clusterCaCert: caCert,
          pemKeys: [],
          disableLocalCaJwt: false,
          disableIssValidation: true,
          issuer: '',
        },
        evidence: {},
        facts: { reviewerJwtSet: true, repeated: {} },
      },
    ]);
    expect(set).toMatchObject({ total: 1, incomplete: [], invisible: ['tokenReviewerJwt'], notes: [] });
    expect(JSON.stringify(set)).not.toContain('planted-secret');
  });

  it('returns null for the reviewer JWT when the service reports that none is stored', async () => {
    mount = await openEmbeddedMount();
    await mount.write('/auth/cluster/config', four);
    const set = await kind.read(mount.session, readRequest([config]));
    expect(set.resources[0]).toMatchObject({
      spec: { tokenReviewerJwt: null },
      facts: { reviewerJwtSet: false },
    });
    expect(set.invisible).toEqual([]);
  });

  it('lists the fields that a service does not return', async () => {
    const { session } = await answering({ status: 200, body: { data: four } });
    const set = await kind.read(session, readRequest([config]));
    expect(set.resources[0]?.facts).toMatchObject({ reviewerJwtSet: null });
    expect(set.invisible).toEqual(['tokenReviewerJwt', 'disableIssValidation', 'issuer']);
  });

  it('finds no config on a mount that was never configured', async () => {
    mount = await openEmbeddedMount();
    expect(await kind.read(mount.session, readRequest([config]))).toMatchObject({
      resources: [],
      total: 0,
      incomplete: [],
    });
    expect(await kind.readOne(mount.session, config.address)).toBeUndefined();
  });

  it('sends no request when the stack has no config', async () => {
    mount = await openEmbeddedMount();
    expect(await kind.read(mount.session, readRequest([]))).toMatchObject({ resources: [], incomplete: [] });
    expect(mount.seen).toEqual([]);
  });

  it('names the mount when it does not exist', async () => {
    mount = await openEmbeddedMount({ mount: 'nowhere' });
    const { incomplete } = await kind.read(mount.session, readRequest([config]));
    expect(incomplete).toEqual([
      expect.stringMatching(/the mount "nowhere" of target "prod" does not exist.*no handler for route/),
    ]);
    await expect(kind.readOne(mount.session, config.address)).rejects.toThrow('the mount "nowhere"');
  });

  it('refuses a response that is not a config of this method, just before a write', async () => {
    for (const [data, says] of [
      [{ jwks_url: 'https://x' }, 'it has no "cluster_host"'],
      [{ ...four, pem_keys: [{ $secret: { env: 'X' } }] }, 'its "pem_keys" is not a list of texts'],
    ] as const) {
      const { session, close } = await answering({ status: 200, body: { data } });
      await expect(kind.readOne(session, config.address)).rejects.toThrow(says);
      await close();
    }
    mount = undefined;
  });

  it.each([
    [
      'is forbidden',
      { status: 403, body: { errors: ['permission denied'] } },
      'cannot be read with this token',
    ],
    ['is a proxy that answers 404', { status: 404, body: { message: 'no route' } }, 'does not exist'],
    ['is sealed', { status: 503, body: { errors: ['Vault is sealed'] } }, 'could not be read'],
    ['answers without data', { status: 200, body: {} }, 'without data'],
  ])('never takes a service for empty that %s', async (_, answer, says) => {
    const { session } = await answering(answer);
    const set = await kind.read(session, readRequest([config]));
    expect(set.resources).toEqual([]);
    expect(set.incomplete).toEqual([expect.stringContaining(says)]);
  });
});
