/**
 * Finds offline what the service would refuse about a config, and settings, such as a host, that it accepts but that make every
 * login fail (wire/cluster-auth 1.6). No message repeats the host, which may hold a password.
 */
import { isJsonObject, type Path } from '../../model/json.ts';
import type { CheckContext, ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { type DesiredResource, isDeclaration } from '../../model/resource.ts';
import type { Dialect, PublicKeyRules } from '../../model/stack.ts';
import { certificateIn, certificateProblems, type PemBlock, pemBlocks, publicKeyIn } from './certificates.ts';
import type { ConfigSpec } from './schema.ts';

type ConfigRule = (spec: ConfigSpec, context: CheckContext) => readonly ResourceProblem[];

export function check(
  { spec, metadata }: DesiredResource<ConfigSpec>,
  context: CheckContext,
): readonly ResourceProblem[] {
  return isDeclaration({ metadata }) ? rules.flatMap((rule) => rule(spec, context)) : [];
}

const rules: readonly ConfigRule[] = [
  checkHost,
  checkJwtSource,
  checkCaCertPem,
  (spec, { dialect }) => checkIssuer(spec, dialect),
  (spec, { dialect }) => checkKeysPem(spec, dialect),
  checkCaGiven,
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

function checkJwtSource({ tokenReviewerJwt: jwt }: ConfigSpec): ResourceProblem[] {
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

/** With an empty issuer nothing is compared, unless the dialect has a default issuer (wire/cluster-auth 1.7). */
function checkIssuer(
  { disableIssValidation: disabled, issuer }: ConfigSpec,
  { defaultIssuer }: Dialect,
): ResourceProblem[] {
  if (disabled !== false || defaultIssuer !== undefined || (typeof issuer === 'string' && issuer !== ''))
    return [];
  const message =
    '"disableIssValidation" is false and "issuer" is empty: the service accepts JWTs of any issuer';
  return [
    finding('warning', 'blank-issuer', ['disableIssValidation'], {
      message,
      fix: 'set "issuer" to the issuer of the JWTs',
    }),
  ];
}

function checkCaCertPem({ clusterCaCert: cert }: ConfigSpec): ResourceProblem[] {
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
    '"clusterCaCert" contains no readable certificate: the service accepts it, but every login fails';
  return [finding('warning', 'unreadable-ca-cert', path, { message, fix })];
}

/** Each element is one key or certificate; what else it may contain depends on the dialect (wire/cluster-auth 2.2). */
function checkKeysPem(
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
  if (type === undefined) return refused('this element contains no readable public key or certificate');
  const { namedCurve = '' } = key?.asymmetricKeyDetails ?? {};
  if (type === 'ec' && !curves.has(namedCurve))
    return refused(
      `the service does not know the curve ${quoted(namedCurve)} of this key`,
      'give a key of P-256',
    );
  if (!rules.types.has(type))
    return refused(`${rules.refusal}: this one is of type ${quoted(type)}`, 'give an RSA or ECDSA key');
  return [...checkExtraKeys(first, more, { path, rules }), ...checkKeyType(type, path)];
}

/** The service uses the first key of an element; anything after it is ignored or refused. */
function checkExtraKeys(
  first: PemBlock,
  more: readonly PemBlock[],
  { path, rules }: { readonly path: Path; readonly rules: PublicKeyRules },
): ResourceProblem[] {
  const fix = 'put each key into its own element';
  if (rules.alone) {
    if (first.rest.trim() === '') return [];
    const message = 'unexpected trailing data after parsed PEM block';
    return [finding('error', 'invalid-pem-key', path, { message, fix })];
  }
  if (more.length === 0) return [];
  const message = `this element contains ${more.length + 1} keys; the service uses only the first`;
  return [finding('warning', 'pem-key-unused', path, { message, fix })];
}

/** A login accepts only RS and ES signatures, even where a config accepts other keys (wire/cluster-auth 3). */
function checkKeyType(type: string, path: Path): ResourceProblem[] {
  if (type === 'rsa' || type === 'ec') return [];
  const message = `the service accepts this key of type ${quoted(type)}, but refuses every JWT that such a key signed`;
  return [
    finding('warning', 'pem-key-unused', path, { message, fix: 'give the RSA or ECDSA key of the cluster' }),
  ];
}

/**
 * Outside a pod there is no local CA certificate (wire/cluster-auth 5.2, 1.1, 2.2). How a service treats a config without
 * any CA certificate depends on its dialect. The service behind `url: embedded` is never in a pod, so it refuses the write.
 */
function checkCaGiven(spec: ConfigSpec, { dialect: { withoutCa }, target }: CheckContext): ResourceProblem[] {
  const { clusterCaCert: cert, pemKeys: keys, disableLocalCaJwt: noLocal } = spec;
  if (typeof cert === 'string' && cert.trim() !== '') return [];
  const hasKeys = Array.isArray(keys) ? keys.length > 0 : typeof keys === 'string' && keys !== '';
  if (noLocal === true) return withoutLocalCa(hasKeys, withoutCa);
  const message = hasKeys
    ? '"clusterCaCert" is not set: outside a pod of the cluster the service finds no local CA file, and refuses the write'
    : 'outside a pod of the cluster either "clusterCaCert" or "pemKeys" must be set';
  const keysAreEnough = hasKeys && withoutCa !== 'refused';
  const fix = keysAreEnough ? 'set "clusterCaCert", or "disableLocalCaJwt: true"' : 'set "clusterCaCert"';
  // By the specification, keys alone are enough.
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
      '"clusterCaCert" is not set and "disableLocalCaJwt" is true: the service trusts the CAs of its own system, so every login fails unless one of them signed the certificate of the cluster';
    const fix = 'set "clusterCaCert", unless a public CA signed the certificate';
    return [finding('warning', 'no-ca-cert', [], { message, fix })];
  }
  if (hasKeys) return [];
  const message = 'one of "clusterCaCert" and "pemKeys" must be set when "disableLocalCaJwt" is true';
  return [finding('error', 'no-trust-anchor', [], { message, fix: 'set "clusterCaCert"' })];
}

// The lint of a config's host: the service accepts any text and puts it in front of `/apis/…` unchanged, so a wrong host shows
// only at the first login (wire/cluster-auth 1.6). No message repeats the host, which may hold a password.

interface Fault {
  readonly code: 'host-without-scheme' | 'unusable-host' | 'login-in-host';
  readonly isIn: (host: string) => boolean;
  readonly message: string;
}

/** The first fault that applies is reported. */
const faults: readonly Fault[] = [
  {
    code: 'unusable-host',
    isIn: (host) => /[\s\p{Cc}]/u.test(host),
    message: 'contains white space: the service accepts it, but every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /^https?:(?!\/\/)/i.test(host) && !/^https?:\d+$/i.test(host),
    message: 'has no "//" after its scheme: the service accepts it, but every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(host),
    message: 'is not an http(s) address: the service accepts it, but every login fails',
  },
  {
    code: 'host-without-scheme',
    isIn: (host) => !/^https?:\/\//i.test(host),
    message: 'has no scheme: real services accept it, but every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /[?#]/.test(host),
    message: 'has a query or fragment, so the path of the API is lost: every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => !/^https?:\/\/[^/\\]+(?:\/[^\\]*)?$/i.test(host) || !URL.canParse(host),
    message: 'names no valid host: the service accepts it, but every login fails',
  },
  {
    code: 'login-in-host',
    isIn: (host) => /^https?:\/\/[^/]*@/i.test(host),
    message:
      'contains a user name or password: the service does not use it, and everybody who reads the config sees it',
  },
];

function checkHost({ clusterHost: host }: ConfigSpec): ResourceProblem[] {
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

/** Suggests the address that was probably meant, unless that has a fault, too. */
function fixOf(host: string): string {
  const [, scheme = '', rest = ''] =
    /^(https?:(?!\d+$)|[a-z][a-z0-9+.-]*:(?=\/\/))?[/\\]*(.*)$/is.exec(host.trim()) ?? [];
  const address = rest.replace(/[?#].*$/s, '').replace(/^[^/]*@/, '');
  const meant = `${scheme.toLowerCase() === 'http:' ? 'http' : 'https'}://${address}`;
  return faults.some(({ isIn }) => isIn(meant))
    ? 'write the address of the API server, such as "https://10.0.0.1:6443"'
    : `write ${quoted(meant)}`;
}
