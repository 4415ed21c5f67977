/**
 * The policies of service tokens: which capabilities a token has on which paths of the secrets service.
 * Invariants: what no rule grants is denied; the most precise path that fits decides alone, whatever vaguer ones grant;
 * only rules of the very same path add up, and `deny` beats all others there. The policy `root` may do everything.
 */
import { joinedParameters, type ParameterRules, permitsParameters } from './parameter-rules.ts';

/** `scan` is known where the service scans. */
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

/** `path` knows `+` for one whole segment and a trailing `*` for any rest; it has no leading slash and no `v1/`. */
export interface PolicyRule extends ParameterRules {
  readonly path: string;
  readonly capabilities: readonly PolicyCapability[];
}

export const ROOT_POLICY = 'root';

type Granted = ReadonlySet<PolicyCapability>;

interface Permission {
  readonly granted: Granted;
  readonly parameters: ParameterRules;
}

/** What a request sends beside its path. */
type Parameters = Readonly<Record<string, unknown>>;

/** What rules grant: made once for a token, asked for each path. */
interface AccessRules {
  /** Whether `capability` may be used on `path` (`auth/cluster/role/web`), with these parameters. */
  allows(capability: PolicyCapability, path: string, parameters?: Parameters): boolean;
  /** All that is granted on a path, as a list of it finds them: the rule may be written with or without the slash at its end. */
  grantedOn(path: string): Granted;
  /** Whether anything is granted on a path with a slash at its end, or below it. */
  grantsBelow(path: string): boolean;
}

/** A path with wildcards. */
interface Pattern {
  /** Without the `*` at its end. */
  readonly text: string;
  readonly segments: readonly string[];
  readonly isOpen: boolean;
  readonly firstWildcard: number;
  /** How many segments are `+`. */
  readonly wildcards: number;
  readonly permission: Permission;
}

const NOTHING: Permission = { granted: new Set(), parameters: {} };

/** What needs nothing of parameters. */
const WITHOUT_PARAMETERS: readonly PolicyCapability[] = ['delete', 'list', 'scan', 'sudo'];

/** Puts the rules of all policies of a token together (wire/cluster-auth 2.9). */
export function accessRules(rules: readonly PolicyRule[]): AccessRules {
  const byPath = permissionsByPath(rules);
  const patterns = [...byPath]
    .map(([path, permission]) => patternOf(path, permission))
    .filter(({ isOpen, wildcards }) => isOpen || wildcards > 0)
    .toSorted(morePreciseFirst);
  const fitting = (path: string) => {
    const segments = path.split('/');
    return patterns.find((pattern) => fits(pattern, path, segments))?.permission;
  };
  const onItem = (path: string) => byPath.get(path) ?? fitting(path) ?? NOTHING;
  // With the slash first: a wildcard then stands for the nothing behind it, and is the more precise.
  const onList = (path: string) => {
    const bare = path.replace(/\/$/, '');
    return byPath.get(path) ?? byPath.get(bare) ?? fitting(path) ?? fitting(bare) ?? NOTHING;
  };
  const grantsOn = (path: string) => isGrant(onList(path));
  return {
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

/** The same path may stand in several policies of one token: what they grant adds up. */
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
  const isOpen = path.endsWith('*');
  const text = isOpen ? path.slice(0, -1) : path;
  const segments = text.split('/');
  const wildcards = segments.filter((segment) => segment === '+').length;
  const firstWildcard = wildcards > 0 ? text.search(/(?<=^|\/)\+(?=\/|$)/) : text.length;
  return { text, segments, isOpen, firstWildcard, wildcards, permission };
}

/** The order of the real services: the later first wildcard, no `*`, fewer `+`, the longer, the greater text. */
function morePreciseFirst(one: Pattern, other: Pattern): number {
  return (
    other.firstWildcard - one.firstWildcard ||
    Number(one.isOpen) - Number(other.isOpen) ||
    one.wildcards - other.wildcards ||
    other.text.length - one.text.length ||
    (one.text < other.text ? 1 : -1)
  );
}

function fits(pattern: Pattern, path: string, parts: readonly string[]): boolean {
  const { text, segments, isOpen, wildcards } = pattern;
  if (wildcards === 0) return path.startsWith(text);
  if (parts.length < segments.length || (!isOpen && parts.length > segments.length)) return false;
  const last = segments.length - 1;
  return segments.every((segment, at) => {
    const part = parts[at] ?? '';
    return segment === '+' || segment === part || (isOpen && at === last && part.startsWith(segment));
  });
}

/** Whether a pattern with `+` begins like a path with a slash at its end. */
function reaches({ segments, isOpen, wildcards }: Pattern, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  if (wildcards === 0) return false;
  return parts.every((part, at) => {
    const segment = segments[at];
    if (segment === undefined) return isOpen;
    return (
      segment === '+' ||
      segment === part ||
      (isOpen && at === segments.length - 1 && part.startsWith(segment))
    );
  });
}
