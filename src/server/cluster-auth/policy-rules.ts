/**
 * The rules of policies: which capabilities a token has on which paths, which policies a token gets, and what it may give to a
 * child. Without a rule, access is denied. Only the rules of the most precise path count; they are added up, and `deny` among them
 * denies everything. The policy `root` may do everything.
 */
import { joinedParameters, type ParameterRules, permitsParameters } from '../kernel/parameter-rules.ts';
import {
  asBoolean,
  asDuration,
  asInteger,
  asList,
  asPairs,
  asText,
  type SentFields,
} from './field-coercion.ts';
import type { ServiceToken } from './token-record.ts';

/** `scan` exists only in some dialects. */
export const CAPABILITIES = [
  'create',
  'read',
  'update',
  'delete',
  'list',
  'patch',
  'sudo',
  'scan',
  'deny',
] as const;
export type PolicyCapability = (typeof CAPABILITIES)[number];

/** `path` has no leading slash and no `v1/`. In it, `+` matches one whole segment, and a trailing `*` any rest. */
export interface PolicyRule extends ParameterRules {
  readonly path: string;
  readonly capabilities: readonly PolicyCapability[];
}

export const ROOT_POLICY = 'root';

type Granted = ReadonlySet<PolicyCapability>;

/** What is granted on a path, and with which parameters. */
export interface Permission {
  readonly granted: Granted;
  readonly parameters: ParameterRules;
}

/** The parameters of a request. */
type Parameters = Readonly<Record<string, unknown>>;

/** The permissions of a token, compiled once and queried for each path. */
interface AccessRules {
  /** The merged permissions, by path as written in the policies. */
  readonly byPath: ReadonlyMap<string, Permission>;
  /** Whether `capability` may be used on `path` (`auth/cluster/role/web`), with these parameters. */
  allows(capability: PolicyCapability, path: string, parameters?: Parameters): boolean;
  /** All capabilities on a path. If it ends with a slash, a rule whose path lacks the slash applies, too, as for lists. */
  grantedOn(path: string): Granted;
  /** Whether anything is granted on a path with a slash at its end, or below it. */
  grantsBelow(path: string): boolean;
}

/** A path with wildcards. */
interface Pattern {
  /** Without the `*` at its end. */
  readonly text: string;
  readonly segments: readonly string[];
  /** Whether it ends with `*`. */
  readonly isPrefix: boolean;
  readonly firstWildcard: number;
  /** How many segments are `+`. */
  readonly wildcards: number;
  readonly permission: Permission;
}

const NOTHING: Permission = { granted: new Set(), parameters: {} };

/** Capabilities that ignore parameters. */
const WITHOUT_PARAMETERS: readonly PolicyCapability[] = ['delete', 'list', 'scan', 'sudo'];

/** Merges the rules of all policies of a token (wire/cluster-auth 2.9). */
export function accessRules(rules: readonly PolicyRule[]): AccessRules {
  const byPath = permissionsByPath(rules);
  const patterns = [...byPath]
    .map(([path, permission]) => patternOf(path, permission))
    .filter(({ isPrefix, wildcards }) => isPrefix || wildcards > 0)
    .toSorted(morePreciseFirst);
  const fitting = (path: string) => {
    const segments = path.split('/');
    return patterns.find((pattern) => fits(pattern, path, segments))?.permission;
  };
  const onItem = (path: string) => byPath.get(path) ?? fitting(path) ?? NOTHING;
  // The path is tried with its slash first: a rule with a wildcard after the slash matches the empty rest, and is more precise.
  const onList = (path: string) => {
    const bare = path.replace(/\/$/, '');
    return byPath.get(path) ?? byPath.get(bare) ?? fitting(path) ?? fitting(bare) ?? NOTHING;
  };
  const grantsOn = (path: string) => isGrant(onList(path));
  return {
    byPath,
    allows: (capability, path, parameters = {}) => {
      const isList = capability === 'list' || capability === 'scan';
      const permission = isList ? onList(path) : onItem(path);
      if (!permission.granted.has(capability)) return false;
      return WITHOUT_PARAMETERS.includes(capability) || permitsParameters(permission.parameters, parameters);
    },
    grantedOn: (path) => onList(path).granted,
    grantsBelow: (path) =>
      grantsOn(path) ||
      [...byPath].some(([written, permission]) => isGrant(permission) && written.startsWith(path)) ||
      patterns.some((pattern) => isGrant(pattern.permission) && reaches(pattern, path)),
  };
}

function isGrant({ granted }: Permission): boolean {
  return granted.size > 0 && !granted.has('deny');
}

/** Merges the rules by path: if several policies of a token have the same path, their capabilities add up. */
function permissionsByPath(rules: readonly PolicyRule[]): Map<string, Permission> {
  const byPath = new Map<string, Permission>();
  for (const { path, capabilities, ...parameters } of rules) {
    const known = byPath.get(path) ?? NOTHING;
    const granted = new Set([...known.granted, ...capabilities]);
    byPath.set(
      path,
      granted.has('deny')
        ? { granted: new Set(['deny']), parameters: {} }
        : { granted, parameters: joinedParameters(known.parameters, parameters) },
    );
  }
  return byPath;
}

function patternOf(path: string, permission: Permission): Pattern {
  const isPrefix = path.endsWith('*');
  const text = isPrefix ? path.slice(0, -1) : path;
  const segments = text.split('/');
  const wildcards = segments.filter((segment) => segment === '+').length;
  const firstWildcard = wildcards > 0 ? text.search(/(?<=^|\/)\+(?=\/|$)/) : text.length;
  return { text, segments, isPrefix, firstWildcard, wildcards, permission };
}

/** The order of the real services: later first wildcard, no `*`, fewer `+`, longer text, greater text. */
function morePreciseFirst(one: Pattern, other: Pattern): number {
  return (
    other.firstWildcard - one.firstWildcard ||
    Number(one.isPrefix) - Number(other.isPrefix) ||
    one.wildcards - other.wildcards ||
    other.text.length - one.text.length ||
    (one.text < other.text ? 1 : -1)
  );
}

function fits(pattern: Pattern, path: string, parts: readonly string[]): boolean {
  const { text, segments, isPrefix, wildcards } = pattern;
  if (wildcards === 0) return path.startsWith(text);
  if (parts.length < segments.length || (!isPrefix && parts.length > segments.length)) return false;
  const last = segments.length - 1;
  return segments.every((segment, at) => {
    const part = parts[at] ?? '';
    return segment === '+' || segment === part || (isPrefix && at === last && part.startsWith(segment));
  });
}

/** Whether a pattern with `+` can match something below a path that ends with a slash. */
function reaches({ segments, isPrefix, wildcards }: Pattern, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  if (wildcards === 0) return false;
  return parts.every((part, at) => {
    const segment = segments[at];
    if (segment === undefined) return isPrefix;
    return (
      segment === '+' ||
      segment === part ||
      (isPrefix && at === segments.length - 1 && part.startsWith(segment))
    );
  });
}

// The policy that every token has by default: operations of a token on itself.
// Invariant: a stored policy of the same name replaces it.

interface WrittenPolicy {
  readonly rules: readonly PolicyRule[];
  /** The text of the policy. */
  readonly source: string;
}

export const DEFAULT_POLICY = 'default';

const DEFAULT_RULES: readonly PolicyRule[] = [
  { path: 'auth/token/lookup-self', capabilities: ['read'] },
  { path: 'auth/token/renew-self', capabilities: ['update'] },
  { path: 'auth/token/revoke-self', capabilities: ['update'] },
  { path: 'sys/capabilities-self', capabilities: ['update'] },
  { path: 'sys/internal/ui/resultant-acl', capabilities: ['read'] },
  // The following paths are not served here; they appear in lists of mounts and capabilities.
  { path: 'cubbyhole/*', capabilities: ['create', 'read', 'update', 'delete', 'list'] },
  { path: 'identity/oidc/provider/+/authorize', capabilities: ['read', 'update'] },
  ...[
    ...['sys/leases/renew', 'sys/leases/lookup', 'sys/wrapping/wrap', 'sys/wrapping/lookup'],
    ...['sys/wrapping/unwrap', 'sys/tools/hash', 'sys/tools/hash/*'],
  ].map((path): PolicyRule => ({ path, capabilities: ['update'] })),
];

const DEFAULT: WrittenPolicy = {
  rules: DEFAULT_RULES,
  source: DEFAULT_RULES.map(
    ({ path, capabilities }) => `path "${path}" {\n  capabilities = ${JSON.stringify(capabilities)}\n}\n`,
  ).join('\n'),
};

/** The built-in policy of this name. */
export function builtInPolicy(name: string): WrittenPolicy | undefined {
  return name === DEFAULT_POLICY ? DEFAULT : undefined;
}

// The policies of a token, normalized (wire/cluster-auth 3).

/** The policies in lower case, sorted, without repeats, and with `default` if `addDefault` is set; `root` removes all others. */
export function tokenPolicies(written: readonly string[], addDefault: boolean): string[] {
  const policies = new Set(
    written.map((policy) => policy.trim().toLowerCase()).filter((policy) => policy !== ''),
  );
  if (policies.has(ROOT_POLICY)) return [ROOT_POLICY];
  if (addDefault) policies.add(DEFAULT_POLICY);
  return [...policies].toSorted();
}

// The policies of child tokens (wire/cluster-auth 2.9).
// Invariants: without `sudo` a child has no policy that its parent lacks; a child in another namespace inherits no policies,
// because the same name is another policy there; the first broken rule is reported.

/** The fields of `auth/token/create`. */
export const CHILD_FIELDS = {
  id: asText,
  type: asText,
  policies: asList,
  no_default_policy: asBoolean,
  no_parent: asBoolean,
  ttl: asDuration,
  period: asDuration,
  explicit_max_ttl: asDuration,
  num_uses: asInteger,
  renewable: asBoolean,
  display_name: asText,
  meta: asPairs,
  entity_alias: asText,
} as const;

/** A request for a child token. */
export interface ChildRequest {
  readonly parent: ServiceToken;
  readonly sent: SentFields<typeof CHILD_FIELDS>;
  /** The namespace of the child. */
  readonly namespace: string;
  /** Whether the parent has `sudo` on the path, or the policy `root`. */
  readonly isSudo: boolean;
  /** Policies that the service reserves. */
  readonly reservedPolicies: readonly string[];
}

/** The policies of the child: the requested ones, else its parent's. */
export function childPolicies({ parent, sent, namespace, isSudo }: ChildRequest): string[] {
  const { policies: requested = [], no_default_policy: noDefault } = sent;
  const inherits = requested.length === 0 && namespace === parent.namespace;
  const addsDefault = !inherits && (isSudo || parent.policies.includes(DEFAULT_POLICY));
  const policies = tokenPolicies(inherits ? parent.policies : requested, addsDefault);
  return noDefault === true ? policies.filter((policy) => policy !== DEFAULT_POLICY) : policies;
}

/** Why a token cannot create child tokens; undefined if it can. */
export function parentRefusal({ type, numUses }: ServiceToken): string | undefined {
  if (type === 'batch') return 'batch tokens cannot create more tokens';
  return numUses > 0 ? 'restricted use token cannot generate child tokens' : undefined;
}

type ChildRule = (request: ChildRequest, policies: readonly string[]) => string | false | undefined;

/** The error of the first broken rule, in the order of the real service. `policies` are those of the child. */
export function childRefusal(request: ChildRequest, policies: readonly string[]): string | undefined {
  for (const rule of CHILD_RULES) {
    const text = rule(request, policies);
    if (text !== false && text !== undefined) return text;
  }
  return undefined;
}

const isInOtherNamespace = ({ parent, namespace }: ChildRequest) => namespace !== parent.namespace;
const isBatch = ({ sent }: ChildRequest) => sent.type === 'batch';

const CHILD_RULES: readonly ChildRule[] = [
  (request) =>
    isInOtherNamespace(request) &&
    !request.isSudo &&
    'root or sudo privileges required generate a namespace admin token',
  (request, policies) =>
    isInOtherNamespace(request) &&
    policies.includes(ROOT_POLICY) &&
    'root tokens may not be created from a parent namespace',
  ({ sent }) => !['', 'service', 'batch'].includes(sent.type ?? '') && "invalid 'token_type' value",
  (request) => {
    const { explicit_max_ttl = 0, num_uses = 0, period = 0 } = request.sent;
    const [given] = Object.entries({ explicit_max_ttl, num_uses, period }).find(([, value]) => value) ?? [];
    return isBatch(request) && given !== undefined && `batch tokens cannot have "${given}" set`;
  },
  ({ sent }) => (sent.num_uses ?? 0) < 0 && 'number of uses cannot be negative',
  ({ sent }) =>
    (sent.entity_alias ?? '') !== '' && "'entity_alias' is only allowed in combination with token role",
  idRefusal,
  ({ parent, sent, isSudo }) => {
    const requested = tokenPolicies(sent.policies ?? [], false);
    const isSubset = isSudo || requested.every((policy) => parent.policies.includes(policy));
    return !isSubset && 'child policies must be subset of parent';
  },
  ({ reservedPolicies }, policies) => {
    const reserved = policies.find((policy) => reservedPolicies.includes(policy));
    return reserved !== undefined && `cannot assign policy "${reserved}"`;
  },
  ({ parent }, policies) =>
    policies.includes(ROOT_POLICY) &&
    !parent.policies.includes(ROOT_POLICY) &&
    'root tokens may not be created without parent token being root',
  (request, policies) =>
    isBatch(request) && policies.includes(ROOT_POLICY) && 'batch tokens cannot be root tokens',
  ({ sent, isSudo }) =>
    sent.no_parent === true && !isSudo && 'root or sudo privileges required to create orphan token',
  ({ sent, isSudo }) =>
    (sent.period ?? 0) > 0 && !isSudo && 'root or sudo privileges required to create periodic token',
];

/** The error of a requested id. Only a token with `sudo` may choose the id of a child, and never in the form of generated ids. */
function idRefusal({ sent, namespace, isSudo }: ChildRequest): string | undefined {
  const { id = '' } = sent;
  if (id === '') return undefined;
  if (!isSudo) return 'root or sudo privileges required to specify token id';
  if (namespace !== '') return 'token IDs can only be manually specified in the root namespace';
  return id.includes('.') ? "custom token ID cannot have the '.' in the value" : undefined;
}
