/**
 * The policies of service tokens: which capabilities a token has on which paths of the secrets service.
 * Invariants: what no rule grants is denied; the most precise path that fits decides alone, whatever vaguer ones grant;
 * only rules of the very same path add up, and `deny` beats all others there. The policy `root` may do everything.
 */

export const CAPABILITIES = ['create', 'read', 'update', 'delete', 'list', 'patch', 'sudo', 'deny'] as const;
export type PolicyCapability = (typeof CAPABILITIES)[number];

/** `path` knows `+` for one whole segment and a trailing `*` for any rest; it has no leading slash and no `v1/`. */
export interface PolicyRule {
  readonly path: string;
  readonly capabilities: readonly PolicyCapability[];
}

export const ROOT_POLICY = 'root';

type Granted = ReadonlySet<PolicyCapability>;

/** What rules grant: made once for a token, asked for each path. */
interface AccessRules {
  /** What may be done on `path` (`auth/cluster/role/web`). */
  grantedOn(path: string): Granted;
  /** The same for a list, whose rule may be written with or without the slash at the end of `path`. */
  grantedOnList(path: string): Granted;
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
  readonly granted: Granted;
}

const NOTHING: Granted = new Set();

/** Puts the rules of all policies of a token together (wire/cluster-auth 2.9). */
export function accessRules(rules: readonly PolicyRule[]): AccessRules {
  const byPath = grantedByPath(rules);
  const patterns = [...byPath]
    .map(([path, granted]) => patternOf(path, granted))
    .filter(({ isOpen, wildcards }) => isOpen || wildcards > 0)
    .toSorted(morePreciseFirst);
  const fitting = (path: string) => {
    const segments = path.split('/');
    return patterns.find((pattern) => fits(pattern, path, segments))?.granted;
  };
  return {
    grantedOn: (path) => byPath.get(path) ?? fitting(path) ?? NOTHING,
    grantedOnList: (path) => {
      const bare = path.replace(/\/$/, '');
      return byPath.get(path) ?? byPath.get(bare) ?? fitting(bare) ?? fitting(path) ?? NOTHING;
    },
  };
}

/** The same path may stand in several policies of one token: their capabilities add up. */
function grantedByPath(rules: readonly PolicyRule[]): Map<string, Granted> {
  const byPath = new Map<string, Set<PolicyCapability>>();
  for (const { path, capabilities } of rules) {
    const granted = byPath.get(path) ?? new Set();
    for (const capability of capabilities) granted.add(capability);
    byPath.set(path, granted);
  }
  for (const [path, granted] of byPath) if (granted.has('deny')) byPath.set(path, new Set(['deny']));
  return byPath;
}

function patternOf(path: string, granted: Granted): Pattern {
  const isOpen = path.endsWith('*');
  const text = isOpen ? path.slice(0, -1) : path;
  const segments = text.split('/');
  const wildcards = segments.filter((segment) => segment === '+').length;
  const firstWildcard = wildcards > 0 ? text.search(/(?<=^|\/)\+(?=\/|$)/) : text.length;
  return { text, segments, isOpen, firstWildcard, wildcards, granted };
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
