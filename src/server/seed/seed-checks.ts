/** Checks of a seed, key by key like seed.ts: workspaces and their records, mounts, policies and tokens. */
import { canonicalBlocks } from '../cluster-auth/address-blocks.ts';
import { parseDuration } from '../cluster-auth/durations.ts';
import { CAPABILITIES, DEFAULT_POLICY, ROOT_POLICY, tokenPolicies } from '../cluster-auth/policy-rules.ts';
import { NAME_LIMIT, TEXT_LIMIT } from '../kernel/request-body.ts';
import {
  anything,
  type Check,
  count,
  flag,
  listOf,
  mapOf,
  object,
  oneOf,
  shortText,
  text,
  time,
} from '../kernel/shape-checks.ts';
import { CONFIGURATION_STATUSES } from '../workspaces/configuration-version-record.ts';
import { normalTagName, TAG_NAME_RULE } from '../workspaces/flat-tags.ts';
import { RUN_STATUSES } from '../workspaces/run-record.ts';
import { keyProblems, valueProblems } from '../workspaces/tag-bindings.ts';
import { VARIABLE_CATEGORIES } from '../workspaces/variables.ts';
import type { Seed, ServiceTokenSeed } from './seed.ts';
import { secondsOf } from './seeding.ts';

export const tagBindings: Check = (value, path, problems) => {
  mapOf((item, at, found) => {
    for (const detail of valueProblems(item)) found.push(`${at}: ${detail}`);
  })(value, path, problems);
  for (const key of Object.keys(Object(value))) {
    for (const detail of keyProblems(key)) problems.push(`${path}.${key}: ${detail}`);
  }
};

const tagName: Check = (value, path, problems) => {
  if (normalTagName(value) === undefined) problems.push(`${path}: ${TAG_NAME_RULE}`);
};

const workspaceName: Check = (value, path, problems) => {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-]+$/.test(value)) {
    problems.push(`${path} must be made of letters, numbers, - and _`);
  } else if (value.length > NAME_LIMIT) {
    problems.push(`${path} has at most ${NAME_LIMIT} characters`);
  }
};

const run = object(
  {
    status: oneOf(...RUN_STATUSES),
    id: text,
    'plan-duration': count,
    'apply-duration': count,
    'failed-policy-check': flag,
    message: text,
    'is-destroy': flag,
    'plan-only': flag,
    'configuration-version': text,
    'resource-additions': count,
    'resource-changes': count,
    'resource-destructions': count,
  },
  ['status'],
);

const stateVersion = object({
  id: text,
  serial: count,
  lineage: text,
  status: oneOf('pending', 'finalized'),
  intermediate: flag,
  'resource-count': count,
  outputs: listOf(object({ name: text, value: anything, sensitive: flag }, ['name', 'value'])),
});

const configurationVersion = object({
  id: text,
  status: oneOf(...CONFIGURATION_STATUSES),
  source: text,
  speculative: flag,
  'error-message': text,
  'ingress-attributes': object({
    branch: text,
    'commit-sha': text,
    'commit-message': text,
    'commit-url': text,
    identifier: text,
    'sender-username': text,
    tag: text,
    'is-pull-request': flag,
    'pull-request-number': count,
  }),
});

const variable = object(
  {
    key: text,
    id: text,
    value: anyText,
    description: text,
    category: oneOf(...VARIABLE_CATEGORIES),
    hcl: flag,
    sensitive: flag,
  },
  ['key'],
);

export const workspace = object(
  {
    name: workspaceName,
    id: text,
    project: text,
    'resource-count': count,
    'intermediate-state-version': oneOf('pending', 'finalized'),
    'state-versions': listOf(stateVersion),
    'configuration-versions': listOf(configurationVersion),
    runs: listOf(run),
    'locked-by-run': text,
    tags: listOf(tagName),
    'tag-bindings': tagBindings,
    'global-remote-state': flag,
    'source-name': shortText(TEXT_LIMIT),
    vars: listOf(variable),
    'assessment-results': listOf(object({ id: text, drifted: flag, succeeded: flag, 'error-message': text })),
    readme: text,
    'auto-destroy-status': text,
  },
  ['name'],
);

/** The value of a variable may be empty. */
function anyText(value: unknown, path: string, problems: string[]): void {
  if (typeof value !== 'string') problems.push(`${path} must be a text`);
}

// What a seed may say of the secrets service: mounts, policies and tokens, key by key, and what does not go together.
// Invariant: what requests could never make, no seed makes either.

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
