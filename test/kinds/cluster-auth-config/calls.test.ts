import { afterEach, describe, expect, it } from 'vitest';
import { clusterAuthConfig as kind } from '../../../src/kinds/cluster-auth-config/index.ts';
import { liveConfig } from '../../../src/kinds/cluster-auth-config/fields.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare, draftChange } from '../../support/services/cluster-auth/declare.ts';
import { type Mount, openEmbeddedMount } from '../../support/services/cluster-auth/open-mount.ts';
import { caCert, otherPublicKey, publicKey } from '../../support/kinds/cluster-auth-config/pem-samples.ts';

const host = 'https://k:6443';
const config = (more: Spec = {}) =>
  declare(kind, 'config', { clusterHost: host, clusterCaCert: caCert, ...more });

/** What the embedded service returns for the config that `config()` declares. */
const answered: JsonObject = {
  cluster_host: host,
  cluster_ca_cert: caCert,
  pem_keys: [],
  disable_local_ca_jwt: false,
  disable_iss_validation: true,
  issuer: '',
  token_reviewer_jwt_set: false,
};
const live = (more: JsonObject = {}) => liveConfig(config().address, { ...answered, ...more });
const stored = { token_reviewer_jwt_set: true };
const record = (fields: Spec): LedgerRecord => ({ origin: 'created', fields });
const version = (number: number) => ({ tokenReviewerJwt: { set: true, version: number } });

function plan(declared: Spec, was?: JsonObject, recorded?: Spec) {
  const about = recorded === undefined ? {} : { record: record(recorded) };
  const { change, context, problems, notes } = draftChange(
    kind,
    config(declared),
    was === undefined ? undefined : live(was),
    about,
  );
  const paths = change.fields.map(({ path }) => path.join('.'));
  return { change, problems, notes, paths, planned: kind.calls(change, context) };
}

describe('The call of a config', () => {
  it('carries every field, with the defaults of undeclared fields, and the JWT as a reference', () => {
    const { planned } = plan({ tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 3 } });
    expect(planned.calls).toEqual([
      {
        id: 'ClusterAuthConfig/prod/config#create',
        target: 'prod',
        method: 'POST',
        permission: 'update',
        path: ['auth', 'cluster', 'config'],
        body: {
          cluster_host: host,
          cluster_ca_cert: caCert,
          token_reviewer_jwt: { $secret: { env: 'REVIEWER_JWT' } },
          pem_keys: [],
          disable_local_ca_jwt: false,
          disable_iss_validation: true,
          issuer: '',
        },
        order: 0,
        needs: [],
        success: [200, 204],
        repeatable: true,
        description: 'replaces the whole config',
      },
    ]);
  });

  it('sends the JWT again with a change of any other field', () => {
    const declared = { issuer: 'me', tokenReviewerJwt: { file: '/jwt' } };
    const last = { tokenReviewerJwt: { set: true, version: 1, file: '/jwt' } };
    const { planned, paths } = plan(declared, stored, last);
    expect(paths).toEqual(['issuer']);
    const former = plan(declared, stored, version(1));
    expect(former.paths, 'a record that tells no source').toEqual(['tokenReviewerJwt', 'issuer']);
    expect(former.planned.calls).toEqual(planned.calls);
    expect(planned.calls[0]?.body).toMatchObject({
      issuer: 'me',
      token_reviewer_jwt: { $secret: { file: '/jwt' } },
    });
    expect(planned.preconditions).toEqual(['reviewerJwtSet', 'repeated']);
  });

  it('ends the certificate with a newline, because the service requires it on every line', () => {
    const { planned } = plan({ clusterCaCert: caCert.trim() });
    expect(planned.calls[0]?.body).toHaveProperty('cluster_ca_cert', caCert);
  });

  it('repeats the one setting of the service that manifests cannot declare', () => {
    const { planned } = plan({ issuer: 'me' }, { use_annotations_as_alias_metadata: true });
    expect(planned.calls[0]?.body).toHaveProperty('use_annotations_as_alias_metadata', true);
  });

  it('does not exist when nothing differs, or when the config is released', () => {
    expect(plan({}, {}).planned.calls).toEqual([]);
    const { change, context } = draftChange(kind, config({ issuer: 'me' }), live());
    expect(kind.calls({ ...change, action: 'release' }, context).calls).toEqual([]);
  });
});

describe('The plan of a config', () => {
  it('resets an undeclared field to its default, and shows that', () => {
    const { change } = plan({}, { pem_keys: [publicKey], issuer: 'me' });
    expect(change.fields).toMatchObject([
      { path: ['pemKeys'], after: [], origin: 'default' },
      { path: ['issuer'], before: 'me', after: '', origin: 'default' },
    ]);
  });

  it('finds no difference in line ends, in the order of keys, or between one key and a list of one', () => {
    const keys = [otherPublicKey.trim(), publicKey.trim()];
    expect(plan({ pemKeys: [publicKey, otherPublicKey] }, { pem_keys: keys }).paths).toEqual([]);
    expect(plan({ pemKeys: publicKey }, { pem_keys: [publicKey.trim()] }).paths).toEqual([]);
    expect(plan({ clusterCaCert: caCert.replaceAll('\n', '\r\n') }, {}).paths).toEqual([]);
  });

  it('takes an unreported field as its default if undeclared, and compares it with the ledger otherwise', () => {
    const { issuer: _, disable_iss_validation: __, ...four } = answered;
    const was = liveConfig(config().address, four);
    expect(draftChange(kind, config(), was).change.fields).toEqual([]);
    const about = { record: record({ issuer: 'me' }) };
    expect(draftChange(kind, config({ issuer: 'me' }), was, about).change.fields).toEqual([]);
    expect(draftChange(kind, config({ issuer: 'you' }), was, about).change.fields).toMatchObject([
      { path: ['issuer'], after: 'you' },
    ]);
    expect(draftChange(kind, config(), was, about).change.fields).toMatchObject([
      { path: ['issuer'], after: '' },
    ]);
  });
});

describe('The reviewer JWT', () => {
  const source: Spec = { tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 2 } };

  it('is written when the service reports none, even if the ledger has a record of one', () => {
    const { change } = plan(source, {}, version(2));
    expect(change.fields).toMatchObject([
      { path: ['tokenReviewerJwt'], before: null, after: { set: true, version: 2 } },
    ]);
  });

  it('is written when its version differs from the one last applied, and only then', () => {
    expect(plan(source, stored, version(2)).paths).toEqual([]);
    expect(plan(source, stored, version(1)).change.fields).toMatchObject([
      { before: { set: true, version: 1 }, after: { set: true, version: 2 }, shape: 'secret' },
    ]);
  });

  it('is written when its source differs from the one last applied, unless an old record has no source', () => {
    const last = (more: object) => ({ tokenReviewerJwt: { set: true, version: 2, ...more } });
    expect(plan(source, stored, last({ env: 'REVIEWER_JWT' })).paths).toEqual([]);
    expect(plan(source, stored, last({})).paths).toEqual([]);
    for (const other of [{ env: 'OTHER' }, { file: 'REVIEWER_JWT' }]) {
      const { change, planned } = plan(source, stored, last(other));
      expect(change.fields).toMatchObject([
        { before: { ...other, version: 2 }, after: { env: 'REVIEWER_JWT', version: 2 } },
      ]);
      expect(planned.calls[0]?.body).toMatchObject({
        token_reviewer_jwt: { $secret: { env: 'REVIEWER_JWT' } },
      });
    }
  });

  it('is written when this stack did not write the stored one', () => {
    const { change } = plan(source, stored);
    expect(change.fields).toMatchObject([
      { path: ['tokenReviewerJwt'], unknown: expect.stringContaining('did not write') },
    ]);
    expect(change.fields[0]).not.toHaveProperty('before');
  });

  it('is removed by null, but only if one may be stored', () => {
    expect(plan({ tokenReviewerJwt: null }, {}).paths).toEqual([]);
    const { planned, paths, problems } = plan({ tokenReviewerJwt: null }, stored, version(1));
    expect([paths, problems]).toEqual([['tokenReviewerJwt'], []]);
    expect(planned.calls[0]?.body).toHaveProperty('token_reviewer_jwt', '');
  });

  it('is compared with the ledger if the service does not report whether one is stored', () => {
    const { token_reviewer_jwt_set: _, ...silent } = answered;
    const was = liveConfig(config().address, silent);
    const differing = (declared: Spec, recorded: Spec) =>
      draftChange(kind, config(declared), was, { record: record(recorded) }).change.fields.length;
    expect(differing(source, version(2))).toBe(0);
    expect(differing(source, version(1))).toBe(1);
    const moved = { tokenReviewerJwt: { set: true, version: 2, env: 'OTHER' } };
    expect(differing(source, moved)).toBe(1);
    expect(differing({ tokenReviewerJwt: null }, { tokenReviewerJwt: null })).toBe(0);
    expect(differing({ tokenReviewerJwt: null }, version(1))).toBe(1);
  });

  it('stays when nothing is written, and the plan reports that', () => {
    const { planned, problems, notes } = plan({}, stored, version(1));
    expect([planned.calls, problems]).toEqual([[], []]);
    expect(notes).toEqual([expect.stringContaining('a reviewer JWT is stored')]);
  });

  it.each([
    ['is stored', stored],
    ['may be stored', { token_reviewer_jwt_set: null }],
  ])('refuses a write that would remove it when one %s', (_, flag) => {
    const { planned, problems } = plan({ issuer: 'me' }, flag);
    expect(problems).toEqual(['reviewer-jwt-would-be-wiped']);
    expect(planned.calls).toEqual([]);
  });

  it('is not in the plan, only its source, which is approved and read', () => {
    const { change, planned } = plan(source, stored);
    expect(change.fields).toMatchObject([{ after: { set: true, version: 2, env: 'REVIEWER_JWT' } }]);
    expect(JSON.stringify(planned)).toContain('{"$secret":{"env":"REVIEWER_JWT"}}');
  });
});

describe('Against the embedded service, a config', () => {
  let mount: Mount | undefined;
  afterEach(async () => {
    await mount?.close();
  });

  it('has no difference after it was applied, in both directions', async () => {
    const at = await openEmbeddedMount();
    mount = at;
    let recorded: LedgerRecord | undefined;
    const apply = async (declared: Spec) => {
      const was = await kind.readOne(at.session, config().address);
      const about = recorded === undefined ? {} : { record: recorded };
      const { change, context } = draftChange(kind, config(declared), was, about);
      for (const call of kind.calls(change, context).calls) {
        expect(call.success).toContain((await at.send(call, { REVIEWER_JWT: 'a.b.c' })).status);
      }
      recorded = record(context.desired);
      const is = await kind.readOne(at.session, config().address);
      return draftChange(kind, config(declared), is, { record: recorded }).change.fields;
    };
    const specs: Spec[] = [
      {},
      {
        tokenReviewerJwt: { env: 'REVIEWER_JWT' },
        pemKeys: publicKey,
        issuer: 'me',
        disableIssValidation: false,
      },
      { tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 2 }, pemKeys: [otherPublicKey, publicKey] },
      { tokenReviewerJwt: null, clusterCaCert: null, pemKeys: [publicKey], disableLocalCaJwt: true },
    ];
    for (const spec of [...specs, ...specs.toReversed().slice(1, -1), { tokenReviewerJwt: null }]) {
      expect(await apply(spec)).toEqual([]);
    }
  });
});
