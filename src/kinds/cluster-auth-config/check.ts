/**
 * Finds offline what the service would refuse about a config, and settings, such as a host, that it accepts but that make every
 * login fail (wire/cluster-auth 1.6). No message repeats the host, which may hold a password.
 */
import { isJsonObject, type Path } from '../../model/json.ts';
import type { CheckContext, ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource } from '../../model/resource.ts';
import type { Dialect, PublicKeyRules } from '../../model/stack.ts';
import { certificateIn, certificateProblems, type PemBlock, pemBlocks, publicKeyIn } from './certificates.ts';
import type { ConfigSpec } from './schema.ts';

type ConfigRule = (spec: ConfigSpec, context: CheckContext) => readonly ResourceProblem[];

export function check(
  { spec, metadata }: DesiredResource<ConfigSpec>,
  context: CheckContext,
): readonly ResourceProblem[] {
  return metadata.remove === undefined ? rules.flatMap((rule) => rule(spec, context)) : [];
}

const rules: readonly ConfigRule[] = [
  hostProblems,
  jwtHasOneSource,
  caCertIsPem,
  (spec, { dialect }) => issuerIsNamed(spec, dialect),
  (spec, { dialect }) => keysArePem(spec, dialect),
  caIsGiven,
  certificateProblems,
];

function finding(
  severity: ResourceProblem['severity'],
  code: ResourceProblem['code'],
  path: ResourceProblem['path'],
  text: Pick<ResourceProblem, 'message' | 'fix'>,
): ResourceProblem {
  return { code, severity, path, ...text };
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

/** An empty issuer compares nothing, where the dialect has no default that is compared (wire/cluster-auth 1.7). */
function issuerIsNamed(
  { disableIssValidation: disabled, issuer }: ConfigSpec,
  { defaultIssuer }: Dialect,
): ResourceProblem[] {
  if (disabled !== false || defaultIssuer !== undefined || (typeof issuer === 'string' && issuer !== ''))
    return [];
  const message =
    '"disableIssValidation" is false and "issuer" is empty: the service compares no issuer, and accepts JWTs of any';
  return [
    finding('warning', 'blank-issuer', ['disableIssValidation'], {
      message,
      fix: 'set "issuer" to that of the JWTs',
    }),
  ];
}

function caCertIsPem({ clusterCaCert: cert }: ConfigSpec): ResourceProblem[] {
  if (typeof cert !== 'string' || cert.trim() === '') return [];
  const path = ['clusterCaCert'];
  const blocks = pemBlocks(cert);
  const fix = 'give the whole text from "-----BEGIN CERTIFICATE-----" on';
  if (blocks.every(({ bytes }) => bytes === undefined)) {
    const message = 'The provided CA PEM data contains no valid certificates';
    return [finding('error', 'invalid-ca-cert', path, { message, fix })];
  }
  if (blocks.some((block) => certificateIn(block) !== undefined)) return [];
  const message =
    '"clusterCaCert" holds nothing that can be read as a certificate: the service takes it, and then every login fails';
  return [finding('warning', 'unreadable-ca-cert', path, { message, fix })];
}

/** Each element is one key or certificate; what else may stand in it depends on the dialect (wire/cluster-auth 2.2). */
function keysArePem(
  { pemKeys: keys }: ConfigSpec,
  { publicKeys: rules = specifiedKeys }: Dialect,
): ResourceProblem[] {
  const list = Array.isArray(keys) ? keys : typeof keys === 'string' && keys !== '' ? [keys] : [];
  return list.flatMap((key, index) =>
    keyProblems(String(key), Array.isArray(keys) ? ['pemKeys', String(index)] : ['pemKeys'], rules),
  );
}

const specifiedKeys: PublicKeyRules = {
  types: new Set(['rsa', 'ec']),
  alone: false,
  refusal: 'data does not contain any valid RSA or ECDSA public keys',
};

/** The curves that services know, P-224 to P-521 (wire/cluster-auth 2.2). */
const curves: ReadonlySet<string> = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']);

function keyProblems(element: string, path: Path, rules: PublicKeyRules): ResourceProblem[] {
  const blocks = pemBlocks(element);
  const [first, ...more] = blocks.filter(({ bytes }) => bytes !== undefined);
  const refused = (message: string, fix = 'give the whole text from "-----BEGIN" on') => [
    finding('error', 'invalid-pem-key', path, { message, fix }),
  ];
  if (first === undefined) return refused(rules.refusal);
  const key = publicKeyIn(first);
  const type = key?.asymmetricKeyType;
  if (type === undefined)
    return refused('this element holds nothing that can be read as a public key or a certificate');
  const { namedCurve = '' } = key?.asymmetricKeyDetails ?? {};
  if (type === 'ec' && !curves.has(namedCurve))
    return refused(
      `the service does not know the curve ${quoted(namedCurve)} of this key`,
      'give a key of P-256',
    );
  if (!rules.types.has(type))
    return refused(`${rules.refusal}: this one is of type ${quoted(type)}`, 'give an RSA or ECDSA key');
  return [...besideKey(first, more, { path, rules }), ...unusableKey(type, path)];
}

/** The service uses the first key of an element; what stands behind it is ignored or refused. */
function besideKey(
  first: PemBlock,
  more: readonly PemBlock[],
  { path, rules }: { readonly path: Path; readonly rules: PublicKeyRules },
): ResourceProblem[] {
  const fix = 'make each key an element of its own';
  if (rules.alone) {
    if (first.rest.trim() === '') return [];
    const message = 'unexpected trailing data after parsed PEM block';
    return [finding('error', 'invalid-pem-key', path, { message, fix })];
  }
  if (more.length === 0) return [];
  const message = `this element holds ${more.length + 1} keys, of which the service uses the first`;
  return [finding('warning', 'pem-key-unused', path, { message, fix })];
}

/** A login accepts RS and ES signatures only, also where a config takes other keys (wire/cluster-auth 3). */
function unusableKey(type: string, path: Path): ResourceProblem[] {
  if (type === 'rsa' || type === 'ec') return [];
  const message = `the service takes this key of type ${quoted(type)}, and refuses every JWT that is signed with one`;
  return [
    finding('warning', 'pem-key-unused', path, { message, fix: 'give the RSA or ECDSA key of the cluster' }),
  ];
}

/**
 * Outside a pod there is no local CA certificate (wire/cluster-auth 5.2, 1.1, 2.2). How a service treats a config without
 * any CA certificate depends on its dialect. The service behind `url: embedded` is never in a pod, so it refuses the write.
 */
function caIsGiven(spec: ConfigSpec, { dialect: { withoutCa }, target }: CheckContext): ResourceProblem[] {
  const { clusterCaCert: cert, pemKeys: keys, disableLocalCaJwt: noLocal } = spec;
  if (typeof cert === 'string' && cert.trim() !== '') return [];
  const hasKeys = Array.isArray(keys) ? keys.length > 0 : typeof keys === 'string' && keys !== '';
  if (noLocal === true) return withoutLocalCa(hasKeys, withoutCa);
  const message = hasKeys
    ? '"clusterCaCert" is not set: outside a cluster\'s pod the service reads a local CA file that is not there, and refuses the write'
    : 'outside a cluster\'s pod either "clusterCaCert" or "pemKeys" must be set';
  const isWayOut = hasKeys && withoutCa !== 'refused';
  const fix = isWayOut ? 'set "clusterCaCert", or "disableLocalCaJwt: true"' : 'set "clusterCaCert"';
  // As specified, keys alone are enough for it.
  const isRefused = target.url === 'embedded' && !(hasKeys && withoutCa === undefined);
  if (!isRefused) return [finding('warning', 'no-ca-cert', [], { message, fix })];
  const inPod = 'for a "trueup serve --in-pod" write its address as the "url" of the target';
  return [finding('error', 'no-ca-cert', [], { message, fix: `${fix}; ${inPod}` })];
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

// The lint of a config's host: the service takes any text and puts it in front of `/apis/…` as it stands, so what leads to no
// API server is seen at the first login only (wire/cluster-auth 1.6). No message repeats the host, which may hold a password.

interface Fault {
  readonly code: 'host-without-scheme' | 'unusable-host' | 'login-in-host';
  readonly isIn: (host: string) => boolean;
  readonly message: string;
}

/** The first that holds is told; a host without any is sound. */
const faults: readonly Fault[] = [
  {
    code: 'unusable-host',
    isIn: (host) => /[\s\p{Cc}]/u.test(host),
    message: 'has white space in it: the service accepts it, and then every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /^https?:(?!\/\/)/i.test(host) && !/^https?:\d+$/i.test(host),
    message: 'has no "//" behind its scheme: the service accepts it, and then every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(host),
    message: 'is no http(s) address: the service accepts it, and then every login fails',
  },
  {
    code: 'host-without-scheme',
    isIn: (host) => !/^https?:\/\//i.test(host),
    message: 'has no scheme: the service accepts it, and then every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /[?#]/.test(host),
    message: 'has a query or fragment, which swallows the path of the API: every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => !/^https?:\/\/[^/\\]+(?:\/[^\\]*)?$/i.test(host) || !URL.canParse(host),
    message: 'names no host that can be reached: the service accepts it, and then every login fails',
  },
  {
    code: 'login-in-host',
    isIn: (host) => /^https?:\/\/[^/]*@/i.test(host),
    message:
      'holds a user name or password: no login of the service uses it, and all who read the config see it',
  },
];

function hostProblems({ clusterHost: host }: ConfigSpec): ResourceProblem[] {
  if (typeof host !== 'string' || host === '') return [];
  const fault = faults.find(({ isIn }) => isIn(host));
  if (fault === undefined) return [];
  const { code, message } = fault;
  return [
    {
      code,
      severity: 'warning',
      path: ['clusterHost'],
      message: `"clusterHost" ${message}`,
      fix: fixOf(host),
    },
  ];
}

/** What was probably meant, if that is sound. */
function fixOf(host: string): string {
  const [, scheme = '', rest = ''] =
    /^(https?:(?!\d+$)|[a-z][a-z0-9+.-]*:(?=\/\/))?[/\\]*(.*)$/is.exec(host.trim()) ?? [];
  const address = rest.replace(/[?#].*$/s, '').replace(/^[^/]*@/, '');
  const meant = `${scheme.toLowerCase() === 'http:' ? 'http' : 'https'}://${address}`;
  return faults.some(({ isIn }) => isIn(meant))
    ? 'write the address of the API server, such as "https://10.0.0.1:6443"'
    : `write ${quoted(meant)}`;
}
