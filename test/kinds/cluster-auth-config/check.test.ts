import { describe, expect, it } from 'vitest';
import { clusterAuthConfig as kind } from '../../../src/kinds/cluster-auth-config/index.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare } from '../../support/services/cluster-auth/declare.ts';
import {
  caCert,
  ed25519Key,
  otherCurveKey,
  otherPublicKey,
  publicKey,
  rsaKey,
} from '../../support/kinds/cluster-auth-config/pem-samples.ts';
import { knownDialect } from '../../support/kinds/known-dialect.ts';

const others = {
  declared: () => undefined,
  target: { name: 'prod', service: 'cluster-auth' as const, url: 'https://secrets.test', dialect: 'neutral' },
  dialect: knownDialect('cluster-auth'),
};
const good: Spec = { clusterHost: 'https://k:6443', clusterCaCert: caCert };

function findings(spec: Spec, dialect = others.dialect, url = others.target.url) {
  const target = { ...others.target, url };
  const all =
    kind.check?.(declare(kind, 'config', { ...good, ...spec }), { ...others, target, dialect }) ?? [];
  return all.map(({ severity, code, path }) => [severity, code, path.join('.')].join(' ').trim());
}

const reported: readonly [title: string, spec: Spec, findings: string[]][] = [
  ['a host without a scheme', { clusterHost: 'k:6443' }, ['warning host-without-scheme clusterHost']],
  [
    'a reviewer JWT without a source',
    { tokenReviewerJwt: { version: 2 } },
    ['error reviewer-jwt-source tokenReviewerJwt'],
  ],
  [
    'a reviewer JWT with two sources',
    { tokenReviewerJwt: { env: 'A', file: 'b' } },
    ['error reviewer-jwt-source tokenReviewerJwt'],
  ],
  ['a CA certificate that is not PEM', { clusterCaCert: 'MIIB' }, ['error invalid-ca-cert clusterCaCert']],
  [
    'a truncated certificate',
    { clusterCaCert: caCert.slice(0, -30) },
    ['error invalid-ca-cert clusterCaCert'],
  ],
  ['a key that is not PEM', { pemKeys: [publicKey, 'ssh-rsa AAAA'] }, ['error invalid-pem-key pemKeys.1']],
  ['one key as a text that is not PEM', { pemKeys: 'key' }, ['error invalid-pem-key pemKeys']],
  ['two keys in one element', { pemKeys: publicKey + otherPublicKey }, ['warning pem-key-unused pemKeys']],
  [
    'no trust anchor without the local CA',
    { clusterCaCert: null, disableLocalCaJwt: true },
    ['error no-trust-anchor'],
  ],
  ['no trust anchor outside a pod', { clusterCaCert: '' }, ['warning no-ca-cert']],
  [
    'keys alone, which need a local CA file',
    { clusterCaCert: null, pemKeys: publicKey },
    ['warning no-ca-cert'],
  ],
];

const accepted: readonly [title: string, spec: Spec][] = [
  ['a CA certificate', {}],
  [
    'keys without the local CA',
    { clusterCaCert: null, pemKeys: [publicKey, rsaKey, caCert], disableLocalCaJwt: true },
  ],
  ['a reviewer JWT with one source', { tokenReviewerJwt: { env: 'A', version: 2 } }],
  ['a null reviewer JWT', { tokenReviewerJwt: null }],
  ['a certificate with line ends of another system', { clusterCaCert: caCert.replaceAll('\n', '\r\n') }],
];

describe('Validating a config', () => {
  it.each(reported)('reports %s', (_, spec, expected) => expect(findings(spec)).toEqual(expected));
  it.each(accepted)('accepts %s', (_, spec) => expect(findings(spec)).toEqual([]));

  it('allows one name only', () => {
    expect(['config', 'Config', 'configs'].map((name) => kind.names.pattern.test(name))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('A config without a CA certificate that may not use the one of its pod', () => {
  const none: Spec = { clusterCaCert: null, disableLocalCaJwt: true };
  it.each([
    ['neutral', none, ['error no-trust-anchor']],
    ['neutral', { ...none, pemKeys: [publicKey] }, []],
    ['vault', none, ['warning no-ca-cert']],
    ['vault', { ...none, pemKeys: [publicKey] }, ['warning no-ca-cert']],
    ['openbao', none, ['error no-trust-anchor']],
    ['openbao', { ...none, pemKeys: [publicKey] }, ['error no-trust-anchor']],
    ['openbao', { ...none, clusterCaCert: '  ' }, ['error no-trust-anchor']],
  ])('is checked as %s checks it (case %#)', (dialect, spec, expected) => {
    expect(findings(spec, knownDialect('cluster-auth', dialect))).toEqual(expected);
  });

  it.each(['neutral', 'vault', 'openbao'])(
    'is a warning of %s while the service may use the one of its pod',
    (dialect) => {
      for (const pemKeys of [null, [publicKey]])
        expect(findings({ clusterCaCert: null, pemKeys }, knownDialect('cluster-auth', dialect))).toEqual([
          'warning no-ca-cert',
        ]);
    },
  );
});

describe('A config without a CA certificate, for the service behind "url: embedded"', () => {
  it.each([
    ['neutral', {}, ['error no-ca-cert']],
    ['neutral', { pemKeys: [publicKey] }, ['warning no-ca-cert']],
    ['vault', {}, ['error no-ca-cert']],
    ['vault', { pemKeys: [publicKey] }, ['error no-ca-cert']],
    ['openbao', { pemKeys: [publicKey] }, ['error no-ca-cert']],
    ['vault', { disableLocalCaJwt: true }, ['warning no-ca-cert']],
  ])('is checked like the service in the dialect %s checks it, with %o', (dialect, spec, expected) => {
    const found = findings(
      { clusterCaCert: null, ...spec },
      knownDialect('cluster-auth', dialect),
      'embedded',
    );
    expect(found).toEqual(expected);
  });
});

const garbage = ['-----BEGIN CERTIFICATE-----', 'AAAA', '-----END CERTIFICATE-----'].join('\n');

describe('A key that the service may not take', () => {
  it.each<[dialect: string, title: string, pemKeys: string[], findings: string[]]>([
    ['vault', 'an Ed25519 key', [ed25519Key], ['error invalid-pem-key pemKeys.0']],
    ['neutral', 'an Ed25519 key', [ed25519Key], ['error invalid-pem-key pemKeys.0']],
    ['openbao', 'an Ed25519 key, which no login can use', [ed25519Key], ['warning pem-key-unused pemKeys.0']],
    ['openbao', 'two keys in one element', [publicKey + rsaKey], ['error invalid-pem-key pemKeys.0']],
    ['openbao', 'text behind a key', [rsaKey, `${publicKey}# ours`], ['error invalid-pem-key pemKeys.1']],
    ['openbao', 'text before a key', [`# ours\n${publicKey}`], []],
    ['vault', 'two keys in one element', [publicKey + rsaKey], ['warning pem-key-unused pemKeys.0']],
    ['vault', 'text behind a key', [`${publicKey}# ours`], []],
    ...['neutral', 'vault', 'openbao'].flatMap((dialect): [string, string, string[], string[]][] => [
      [dialect, 'a block without a key', [garbage], ['error invalid-pem-key pemKeys.0']],
      [dialect, 'a certificate', [caCert], []],
      [dialect, 'a key of another curve', [otherCurveKey], ['error invalid-pem-key pemKeys.0']],
      [dialect, 'a key in the middle of a line', [`key: ${publicKey}`], ['error invalid-pem-key pemKeys.0']],
      [
        dialect,
        'a good key and a truncated one',
        [rsaKey, rsaKey.replace('MII', '')],
        ['error invalid-pem-key pemKeys.1'],
      ],
    ]),
  ])('is checked as %s checks it: %s', (dialect, _, pemKeys, expected) => {
    expect(findings({ pemKeys }, knownDialect('cluster-auth', dialect))).toEqual(expected);
  });
});

describe('A CA text that holds no certificate', () => {
  it.each<[title: string, clusterCaCert: string, findings: string[]]>([
    ['a block without a certificate', garbage, ['warning unreadable-ca-cert clusterCaCert']],
    ['a public key', publicKey, ['warning unreadable-ca-cert clusterCaCert']],
    ['a block that is not base64', garbage.replace('AAAA', 'AAAAA'), ['error invalid-ca-cert clusterCaCert']],
    ['a bundle with one readable certificate', `${garbage}\n${caCert}`, []],
  ])('is reported, because the service would accept it: %s', (_, clusterCaCert, expected) => {
    expect(findings({ clusterCaCert })).toEqual(expected);
  });
});
