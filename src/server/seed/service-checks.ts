/**
 * What a seed may say of the secrets service: mounts, policies and tokens, key by key, and what does not go together.
 * Invariant: what requests could never make, no seed makes either.
 */
import { canonicalBlocks } from '../cluster-auth/values/address-blocks.ts';
import { parseDuration } from '../cluster-auth/values/durations.ts';
import { DEFAULT_POLICY } from '../identity/built-in-policies.ts';
import { CAPABILITIES, ROOT_POLICY } from '../identity/service-policies.ts';
import { tokenPolicies } from '../service-tokens/token-policies.ts';
import { secondsOf } from './seed-context.ts';
import { type Check, count, flag, listOf, mapOf, object, oneOf, text, time } from './seed-reader.ts';
import type { Seed, ServiceTokenSeed } from './seed.ts';

/** Where tokens themselves are served, below `auth/` like a mount. */
const TOKEN_STORE = 'token';

/** A path below `auth/` that a request can name: no `..` and no `//` gets there (wire/cluster-auth 2.1). */
export const mount: Check = (value, path, problems) => {
  const isPath =
    typeof value === 'string' && value.split('/').every((name) => !['', '.', '..'].includes(name));
  if (!isPath) problems.push(`${path} must be a path: names with one slash between them`);
};

const duration: Check = (value, path, problems) => {
  const isWritten = ['string', 'number'].includes(typeof value) && value !== '';
  const seconds = isWritten ? parseDuration(String(value)) : undefined;
  if (seconds === undefined || seconds < 0) {
    problems.push(`${path} must be a duration: seconds, or a text such as 90m, 1h30m or 7d`);
  }
};

const addressBlocks: Check = (value, path, problems) => {
  listOf((block, at, found) => {
    const blocks = canonicalBlocks([String(block)]);
    // what is taken for the path of a socket, and quoted, admits nobody
    const isBlock = typeof block === 'string' && blocks.ok && !blocks.value[0]?.startsWith('"');
    if (!isBlock) found.push(`${at} must be an address or a block of addresses`);
  })(value, path, problems);
};

const policyName: Check = (value, path, problems) => {
  text(value, path, problems);
  if (typeof value === 'string' && value.toLowerCase() === ROOT_POLICY)
    problems.push(`${path} must not be ${ROOT_POLICY}, which may do everything and cannot be written`);
};

export const policy = object(
  {
    name: policyName,
    rules: listOf(
      object({ path: text, capabilities: listOf(oneOf(...CAPABILITIES)) }, ['path', 'capabilities']),
    ),
  },
  ['name', 'rules'],
);

export const serviceToken = object(
  {
    token: text,
    name: text,
    policies: listOf(text),
    type: oneOf('service', 'batch'),
    ttl: duration,
    'expires-at': time,
    period: duration,
    'explicit-max-ttl': duration,
    'num-uses': count,
    'bound-cidrs': addressBlocks,
    renewable: flag,
    meta: mapOf(text),
  },
  ['token', 'policies'],
);

/** What shapes cannot see: mounts in each other's way, policies that are not there, tokens that no request could make. */
export function serviceProblems(given: Seed): string[] {
  return [
    ...mountProblems(given.mounts ?? []),
    ...(given['service-tokens'] ?? []).flatMap((token, index) => [
      ...danglingPolicies(given, token).map(
        (name) => `service-tokens[${index}] names the policy "${name}", which is not among policies`,
      ),
      ...tokenProblems(token).map((problem) => `service-tokens[${index}].${problem}`),
    ]),
  ];
}

function mountProblems(mounts: readonly string[]): string[] {
  return mounts.flatMap((path, index) => {
    const taken = [TOKEN_STORE, ...mounts.slice(0, index)].find(
      (other) => `${path}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${path}/`),
    );
    return taken === undefined ? [] : [`mounts[${index}] is in the way of what is at "${taken}"`];
  });
}

function danglingPolicies({ policies = [] }: Seed, token: ServiceTokenSeed): string[] {
  const known = new Set([ROOT_POLICY, DEFAULT_POLICY, ...policies.map(({ name }) => name.toLowerCase())]);
  return tokenPolicies(token.policies, false).filter((name) => !known.has(name));
}

function tokenProblems(token: ServiceTokenSeed): string[] {
  const isBatch = token.type === 'batch';
  const longest = secondsOf(token['explicit-max-ttl']);
  const isTooLong = longest > 0 && secondsOf(token.ttl) > longest;
  return [
    ...(isBatch && secondsOf(token.period) > 0 ? ['period is nothing for a batch token'] : []),
    ...(isBatch && (token['num-uses'] ?? 0) > 0 ? ['num-uses is nothing for a batch token'] : []),
    ...(isBatch && token.renewable === true ? ['renewable is nothing for a batch token'] : []),
    ...(token.ttl !== undefined && token['expires-at'] !== undefined
      ? ['ttl and expires-at both say when it ends: leave one out']
      : []),
    ...(isTooLong ? ['ttl is longer than explicit-max-ttl'] : []),
  ];
}
