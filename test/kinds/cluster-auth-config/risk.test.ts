import { describe, expect, it } from 'vitest';
import { risk } from '../../../src/kinds/cluster-auth-config/risk.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { caCert, otherPublicKey, publicKey } from '../../support/kinds/cluster-auth-config/pem-samples.ts';

const base: Spec = { clusterHost: 'https://k', clusterCaCert: caCert };
const verified: Spec = { disableIssValidation: false };
const effects = (before: Spec, after: Spec, dialect = {}) =>
  risk({ ...base, ...before }, { ...base, ...after }, dialect).map(
    ({ path, effect }) => `${effect} ${path.join('.')}`,
  );

describe('The risk of changing a config', () => {
  it.each<[string, Spec, Spec, string[]]>([
    ['another cluster', {}, { clusterHost: 'https://other' }, ['widens clusterHost']],
    ['another CA', {}, { clusterCaCert: null }, ['widens clusterCaCert']],
    ['one more key', { pemKeys: publicKey }, { pemKeys: [publicKey, otherPublicKey] }, ['widens pemKeys']],
    ['one key less', { pemKeys: [publicKey, otherPublicKey] }, { pemKeys: publicKey }, ['narrows pemKeys']],
    [
      'an exchanged key',
      { pemKeys: publicKey },
      { pemKeys: otherPublicKey },
      ['widens pemKeys', 'narrows pemKeys'],
    ],
    ['the first key', {}, { pemKeys: publicKey }, ['narrows pemKeys']],
    ['the last key removed', { pemKeys: publicKey }, {}, ['widens pemKeys']],
    ['the local fallback turned off', {}, { disableLocalCaJwt: true }, ['narrows disableLocalCaJwt']],
    [
      'issuers no longer verified',
      { ...verified, issuer: 'a' },
      { issuer: 'a' },
      ['widens disableIssValidation'],
    ],
    ['issuers verified', { issuer: 'a' }, { ...verified, issuer: 'a' }, ['narrows disableIssValidation']],
    ['a verification without an issuer to compare', {}, verified, []],
    ['the first issuer that is verified', verified, { ...verified, issuer: 'b' }, ['narrows issuer']],
    ['a removed issuer', { ...verified, issuer: 'a' }, verified, ['widens issuer']],
    [
      'another verified issuer',
      { ...verified, issuer: 'a' },
      { ...verified, issuer: 'b' },
      ['widens issuer'],
    ],
    ['an issuer that is not verified', {}, { issuer: 'b' }, []],
    ['the same key spelt differently', { pemKeys: publicKey }, { pemKeys: [publicKey.trim()] }, []],
  ])('reports %s', (_, before, after, expected) => expect(effects(before, after)).toEqual(expected));

  it('reports an undeclared issuer if the dialect has a default for it', () => {
    const dialect = { defaultIssuer: 'cluster/serviceaccount' };
    expect(effects(verified, {}, dialect)).toEqual(['widens disableIssValidation']);
    expect(effects({}, verified, dialect)).toEqual(['narrows disableIssValidation']);
    expect(effects({ ...verified, issuer: 'a' }, verified, dialect)).toEqual(['widens issuer']);
    expect(effects({ ...verified, issuer: dialect.defaultIssuer }, verified, dialect)).toEqual([]);
  });

  it('is empty for a new config', () => {
    expect(risk(undefined, base, {})).toEqual([]);
  });
});
