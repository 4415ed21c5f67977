/** What the service would refuse about a config, found offline, and what it takes although no login can succeed then. */
import { isJsonObject } from '../../model/json/json.ts';
import type { ResourceProblem, CheckContext } from '../../model/kind/kind.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { Dialect } from '../../model/stack/target.ts';
import { pemBlocks } from './pem-blocks.ts';
import type { ConfigSpec } from './schema.ts';

type ConfigRule = (spec: ConfigSpec, dialect: Dialect) => readonly ResourceProblem[];

export function check(
  { spec, metadata }: DesiredResource<ConfigSpec>,
  { dialect }: CheckContext,
): readonly ResourceProblem[] {
  return metadata.remove === undefined ? rules.flatMap((rule) => rule(spec, dialect)) : [];
}

const rules: readonly ConfigRule[] = [
  hostHasScheme,
  jwtHasOneSource,
  caCertIsPem,
  keysArePem,
  trustHasAnAnchor,
];

function finding(
  severity: ResourceProblem['severity'],
  code: ResourceProblem['code'],
  path: ResourceProblem['path'],
  said: Pick<ResourceProblem, 'message' | 'fix'>,
): ResourceProblem {
  return { code, severity, path, ...said };
}

/** The service puts the value in front of `/apis/…` as it stands (wire/cluster-auth 1.6). */
function hostHasScheme({ clusterHost: host }: ConfigSpec): ResourceProblem[] {
  if (typeof host !== 'string' || host === '' || /^https?:\/\//i.test(host)) return [];
  const message = `"${host}" has no scheme: the service accepts it, and then every login fails`;
  return [
    finding('warning', 'host-without-scheme', ['clusterHost'], { message, fix: `write "https://${host}"` }),
  ];
}

function jwtHasOneSource({ tokenReviewerJwt: jwt }: ConfigSpec): ResourceProblem[] {
  if (!isJsonObject(jwt)) return [];
  const sources = (['env', 'file'] as const).filter((name) => jwt[name] !== undefined);
  if (sources.length === 1) return [];
  const message = `"tokenReviewerJwt" needs one source: "env" or "file"${sources.length === 0 ? '' : ', not both'}`;
  return [
    finding('error', 'reviewer-jwt-source', ['tokenReviewerJwt'], {
      message,
      fix: 'give either "env" or "file"',
    }),
  ];
}

function caCertIsPem({ clusterCaCert: cert }: ConfigSpec): ResourceProblem[] {
  if (typeof cert !== 'string' || cert.trim() === '') return [];
  const path = ['clusterCaCert'];
  const blocks = pemBlocks(cert);
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) return [privateKey(path)];
  if (blocks.length > 0) return [];
  const message = 'The provided CA PEM data contains no valid certificates';
  return [
    finding('error', 'invalid-ca-cert', path, {
      message,
      fix: 'give the whole text from "-----BEGIN CERTIFICATE-----" on',
    }),
  ];
}

function keysArePem({ pemKeys: keys }: ConfigSpec): ResourceProblem[] {
  const list = Array.isArray(keys) ? keys : typeof keys === 'string' && keys !== '' ? [keys] : [];
  return list.flatMap((key, index) => {
    const path = Array.isArray(keys) ? ['pemKeys', String(index)] : ['pemKeys'];
    const blocks = pemBlocks(String(key));
    if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) return [privateKey(path)];
    if (blocks.length === 0) {
      const message = 'data does not contain any valid RSA or ECDSA public keys';
      return [
        finding('error', 'invalid-pem-key', path, {
          message,
          fix: 'give the whole text from "-----BEGIN" on',
        }),
      ];
    }
    if (blocks.length === 1) return [];
    const message = `this element holds ${blocks.length} keys, of which the service uses the first`;
    return [
      finding('warning', 'pem-key-unused', path, { message, fix: 'make each key an element of its own' }),
    ];
  });
}

function privateKey(path: ResourceProblem['path']): ResourceProblem {
  const message = `"${path[0]}" holds a private key, which must not stand in a manifest`;
  return finding('error', 'private-key', path, {
    message,
    fix: 'give the public key or the certificate, and replace the key pair',
  });
}

/**
 * Outside a pod there is no local CA to fall back on (wire/cluster-auth 5.2, 1.1, 2.2); what a
 * service makes of a config without any is a row of its dialect.
 */
function trustHasAnAnchor(spec: ConfigSpec, { withoutCa }: Dialect): ResourceProblem[] {
  const { clusterCaCert: cert, pemKeys: keys, disableLocalCaJwt: noLocal } = spec;
  if (typeof cert === 'string' && cert.trim() !== '') return [];
  const hasKeys = Array.isArray(keys) ? keys.length > 0 : typeof keys === 'string' && keys !== '';
  if (noLocal === true) return withoutLocalCa(hasKeys, withoutCa);
  const message = hasKeys
    ? '"clusterCaCert" is not set: outside a cluster\'s pod the service reads a local CA file that is not there, and refuses the write'
    : 'outside a cluster\'s pod either "clusterCaCert" or "pemKeys" must be set';
  const isWayOut = hasKeys && withoutCa !== 'refused';
  const fix = isWayOut ? 'set "clusterCaCert", or "disableLocalCaJwt: true"' : 'set "clusterCaCert"';
  return [finding('warning', 'no-ca-cert', [], { message, fix })];
}

function withoutLocalCa(hasKeys: boolean, withoutCa: Dialect['withoutCa']): ResourceProblem[] {
  if (withoutCa === 'refused') {
    const message = '"clusterCaCert" must be given when "disableLocalCaJwt" is true';
    return [finding('error', 'no-trust-anchor', [], { message, fix: 'set "clusterCaCert"' })];
  }
  if (withoutCa === 'system') {
    const message =
      '"clusterCaCert" is not set and "disableLocalCaJwt" is true: the service trusts the authorities of its own system, and every login fails where none of them signed the certificate of the cluster';
    const fix = 'set "clusterCaCert", unless a public authority signed it';
    return [finding('warning', 'no-ca-cert', [], { message, fix })];
  }
  if (hasKeys) return [];
  const message = 'one of "clusterCaCert" and "pemKeys" must be set when "disableLocalCaJwt" is true';
  return [finding('error', 'no-trust-anchor', [], { message, fix: 'set "clusterCaCert"' })];
}
