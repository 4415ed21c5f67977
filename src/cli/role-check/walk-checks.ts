/**
 * Makes the checks of a login in the order of the service, so that the first failed one is what the service would refuse it for
 * (wire/cluster-auth 3). The later ones are made, too: whoever repairs a role learns all at once.
 */
import type { LoginCheck } from '../../model/login-check.ts';
import {
  checkAddress,
  checkAlias,
  checkName,
  checkNamespace,
  checkPolicies,
  checkReview,
} from './check-account.ts';
import { checkAudience, checkIssuer, checkTimes, checkTypes } from './check-claims.ts';
import { registeredClaims } from './claim-names.ts';
import { failed, ofConfig, open, passed } from './finding.ts';
import type { KnownConfig, LoginRules } from './login-rules.ts';
import { type ParsedJwt, parseJwt } from './parse-jwt.ts';
import { readServiceAccount } from './service-account.ts';
import { checkSignature } from './verify-signature.ts';

interface LoginAttempt {
  readonly jwt: string;
  /** the address that the login comes from; undefined when it is not known */
  readonly from: string | undefined;
  /** milliseconds since 1970 */
  readonly now: number;
}

/** The checks from the address on. Those of the claims are left out when the text is no JWT. */
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
