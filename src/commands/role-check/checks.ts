/**
 * Makes the checks of a login in the order of the service, so that the first failed check is the one that the service would
 * report. Later checks are made too. Also checks whether the role admits the service account, and whether the cluster can
 * confirm it. Source: wire/cluster-auth 3.
 */
import { admitsAll } from '../../kinds/cluster-auth-role/describe-access.ts';
import { NAMES, NAMESPACES } from '../../kinds/cluster-auth-role/fields.ts';
import {
  containsBlock,
  isAddressBlock,
  selectsEverything,
} from '../../kinds/cluster-auth-role/login-conditions.ts';
import type { LoginCheck } from '../../model/login-check.ts';
import { quoted } from '../../model/quoted.ts';
import {
  checkAudience,
  checkIssuer,
  checkTimes,
  checkTypes,
  readServiceAccount,
  registeredClaims,
  type ServiceAccount,
} from './claims.ts';
import { checkSignature, type ParsedJwt, parseJwt } from './parse-jwt.ts';
import { failed, ofConfig, ofRole, open, passed, shown, shownList } from './results.ts';
import type { CheckedRole, KnownConfig, LoginRules } from './rules.ts';

interface LoginAttempt {
  readonly jwt: string;
  /** the address that the login comes from; undefined when it is not known */
  readonly from: string | undefined;
  /** milliseconds since 1970 */
  readonly now: number;
}

/** All checks after that of the role, beginning with the address. Without the checks of claims if the text is not a JWT. */
export function walkChecks(attempt: LoginAttempt, rules: LoginRules): LoginCheck[] {
  const jwt = parseJwt(attempt.jwt);
  const before = [
    checkAddress(rules.role, attempt.from),
    checkConfig(rules.config),
    checkForm(jwt, rules.config),
  ];
  if ('problem' in jwt) return before;
  const claims = registeredClaims(jwt.claims);
  return [
    ...before,
    checkSignature(jwt, rules.config),
    checkTypes(claims),
    checkIssuer(claims, rules.config),
    checkAudience(claims, rules.role.audience),
    checkTimes(claims, attempt.now),
    ...checkAccount(jwt, rules),
    checkPolicies(rules.role),
  ];
}

function checkConfig(known: KnownConfig): LoginCheck {
  if (known.is === 'none')
    return failed(
      'config',
      'the mount has no config',
      'declare a ClusterAuthConfig for the target, and apply it',
    );
  if (known.is === 'undeclared')
    return open(
      'config',
      'the stack declares no config for the target: "--against live" reads the one in effect',
    );
  const { hasCaCert, usesPodFiles } = known.config;
  if (hasCaCert || !usesPodFiles) return passed('config', 'the mount has a config');
  return open(
    'config',
    '"clusterCaCert" is not set: only a service inside a pod of the cluster has one then',
  );
}

function checkForm(jwt: ReturnType<typeof parseJwt>, known: KnownConfig): LoginCheck {
  if ('problem' in jwt) {
    const fix = 'give the file of the JWT itself, such as the one that a pod has for its service account';
    return failed('jwt', jwt.problem, fix);
  }
  if (!jwt.needsKeys) return passed('jwt', 'the text is a JWT');
  const form = 'the JWT has white space, padding, or the form of JSON';
  if (known.is !== 'known') return open('jwt', `${form}: only a config with "pemKeys" accepts that`);
  if (known.config.pemKeys.length > 0)
    return passed('jwt', 'the text is a JWT in a form that "pemKeys" allow');
  const fix = 'use the JWT as the cluster issued it, without a line end';
  return failed('jwt', `${form}, and only a config with "pemKeys" accepts that`, fix, ofConfig('pemKeys'));
}

function checkAccount({ claims }: ParsedJwt, rules: LoginRules): LoginCheck[] {
  const read = readServiceAccount(claims);
  if ('problem' in read) {
    const fix = 'use a JWT that the cluster itself issued for a service account';
    return [failed('account', read.problem, fix)];
  }
  const { account } = read;
  return [
    passed('account', 'the claims of the account have the types that they must have'),
    checkName(account, rules.role),
    checkNamespace(account, rules),
    checkAlias(account, rules.role),
    checkReview(account, rules.config),
  ];
}

// Checks whether a role admits a service account, and whether the cluster can confirm it. Pure. Source: wire/cluster-auth 3.

/** @param from the address that the login comes from; undefined when it is not known */
export function checkAddress({ boundBlocks }: CheckedRole, from: string | undefined): LoginCheck {
  if (boundBlocks.length === 0) return passed('address', 'the role admits any address');
  const admitting = boundBlocks.filter(isAddressBlock);
  if (admitting.length === 0) {
    const message =
      'the role admits no address: "tokenBoundCidrs" holds only what the service takes for paths of sockets';
    const fix = 'write the CIDR blocks of the clients into "tokenBoundCidrs" of the role';
    return failed('address', message, fix, ofRole('tokenBoundCidrs'));
  }
  const blocks = shownList(admitting);
  if (from === undefined)
    return open('address', `the role admits only ${blocks}: give the address of the client with --from`);
  if (admitting.some((block) => containsBlock(block, from)))
    return passed('address', `${shown(from)} is in ${blocks}`);
  const fix = `add a block with ${shown(from)} to "tokenBoundCidrs" of the role`;
  return failed('address', `${shown(from)} is not in ${blocks}`, fix, ofRole('tokenBoundCidrs'));
}

export function checkName({ name }: ServiceAccount, { names }: CheckedRole): LoginCheck {
  const admitting = names.find((pattern) => matchesPattern(pattern, name));
  if (admitting !== undefined) return passed('name', admitted(`service account ${shown(name)}`, admitting));
  const account = name === '' ? 'the JWT names no service account' : `the service account is ${shown(name)}`;
  const fix =
    name === ''
      ? 'use the JWT of a service account'
      : `add ${shown(name)} to "boundServiceAccountNames" of the role, or log in as an account that it admits`;
  const field = name === '' ? undefined : ofRole(NAMES);
  return failed('name', `${account}, and the role admits ${shownList(names)}`, fix, field);
}

export function checkNamespace(
  { namespace }: ServiceAccount,
  { role: { namespaces, selector }, config }: LoginRules,
): LoginCheck {
  const admitting = namespaces.find((pattern) => matchesPattern(pattern, namespace));
  if (admitting !== undefined)
    return passed('namespace', admitted(`namespace ${shown(namespace)}`, admitting));
  if (selector !== '') return checkSelector(namespace, selector, config);
  const found = namespace === '' ? 'the JWT names no namespace' : `the namespace is ${shown(namespace)}`;
  const fix =
    namespace === ''
      ? 'use the JWT of a service account'
      : `add ${shown(namespace)} to "boundServiceAccountNamespaces" of the role`;
  const field = namespace === '' ? undefined : ofRole(NAMESPACES);
  return failed('namespace', `${found}, and the role admits ${shownList(namespaces)}`, fix, field);
}

/** The service reads the labels of the namespace only with the reviewer JWT, or else with the JWT of its pod. */
function checkSelector(namespace: string, selector: string, known: KnownConfig): LoginCheck {
  if (known.is === 'known' && known.config.hasReviewerJwt === false && !known.config.usesPodFiles) {
    const message = `namespace ${shown(namespace)} is not listed, and the service has no JWT to ask the cluster for its labels with`;
    const fix = `set "tokenReviewerJwt" of the config, or add ${shown(namespace)} to "boundServiceAccountNamespaces" of the role`;
    return failed('namespace', message, fix, ofConfig('tokenReviewerJwt'));
  }
  const wanted = selectsEverything(selector) ? 'every namespace matches' : `must match ${selector}`;
  return open(
    'namespace',
    `only the cluster knows the labels of ${shown(namespace)}, and the selector decides: ${wanted}`,
  );
}

/** Checks the alias, which is the name of the identity in the service. */
export function checkAlias(account: ServiceAccount, { aliasSource }: CheckedRole): LoginCheck {
  const { name, namespace, uid } = account;
  if (aliasSource !== 'serviceaccount_name') {
    if (uid !== '') return passed('alias', 'the identity is named by the UID');
    const fix = 'use the JWT of a service account, which holds the UID';
    return failed('alias', 'the JWT has no UID of the account, which "aliasNameSource" asks for', fix);
  }
  if (namespace !== '' && name !== '')
    return passed('alias', `the identity is named ${shown(`${namespace}/${name}`)}`);
  const fix = 'use the JWT of a service account, or set "aliasNameSource: serviceaccount_uid" of the role';
  return failed(
    'alias',
    'the JWT lacks the namespace or name, which "aliasNameSource" asks for',
    fix,
    ofRole('aliasNameSource'),
  );
}

/** The service asks the cluster last, and the answer must have the name, namespace and UID of the JWT. */
export function checkReview(account: ServiceAccount, known: KnownConfig): LoginCheck {
  const missing = (['name', 'namespace', 'uid'] as const).filter((member) => account[member] === '');
  if (missing.length > 0) {
    const message = `the cluster cannot confirm the account: the JWT has no ${missing.join(', no ')}`;
    return failed('review', message, 'use the JWT of a service account');
  }
  const host = known.is === 'known' ? known.config.host : undefined;
  if (host !== undefined && !/^https?:\/\//i.test(host)) {
    const message = `${shown(host)} has no scheme, so the service cannot ask the cluster`;
    const fix = `set "clusterHost" of the config to ${quoted(`https://${host}`)}`;
    return failed('review', message, fix, ofConfig('clusterHost'));
  }
  const annotations =
    known.is === 'known' && known.config.usesAnnotations
      ? ', and to return its annotations, which become metadata of the identity'
      : '';
  return open(
    'review',
    `the cluster${host === undefined ? '' : ` at ${shown(host)}`} has to confirm the account${annotations}`,
  );
}

export function checkPolicies({ refusedPolicy: refused }: CheckedRole): LoginCheck {
  if (refused === undefined) return passed('policies', 'a token may have the policies of the role');
  const message = `the role has the policy ${shown(refused.policy)}, and ${refused.why}`;
  const fix = `take ${shown(refused.policy)} out of "tokenPolicies" of the role`;
  return failed('policies', message, fix, ofRole('tokenPolicies'));
}

function admitted(what: string, pattern: string): string {
  return `${what} is admitted${admitsAll(pattern) ? ', as any is' : ` by ${shown(pattern)}`}`;
}

/** `*` matches any text and is the only wildcard; case counts (wire/cluster-auth 1.8). */
function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
