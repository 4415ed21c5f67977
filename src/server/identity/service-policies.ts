/**
 * The policies of service tokens: which capabilities a token has on which paths of the secrets service.
 * Invariant: what no rule grants is denied; `deny` beats everything at equal precision; a more precise path beats a
 * vaguer one, whatever it grants. The policy `root` may do everything.
 */
export const CAPABILITIES = ['create', 'read', 'update', 'delete', 'list', 'patch', 'sudo', 'deny'] as const;
export type PolicyCapability = (typeof CAPABILITIES)[number];

/** `path` knows `+` for one whole segment and a trailing `*` for any rest; it has no leading slash and no `v1/`. */
export interface PolicyRule {
  readonly path: string;
  readonly capabilities: readonly PolicyCapability[];
}

export const ROOT_POLICY = 'root';

/** Whether the rules allow `capability` on `path` (`auth/cluster/role/web`). */
export function allows(rules: readonly PolicyRule[], capability: PolicyCapability, path: string): boolean {
  const matching = rules.filter((rule) => matches(rule.path, path));
  const best = matching.reduce<PolicyRule | undefined>(
    (found, rule) => (found !== undefined && precision(found.path) >= precision(rule.path) ? found : rule),
    undefined,
  );
  if (best === undefined) return false;
  // The same path may stand in several policies of one token: their capabilities add up.
  const granted = matching
    .filter((rule) => precision(rule.path) === precision(best.path))
    .flatMap((rule) => rule.capabilities);
  return granted.includes(capability) && !granted.includes('deny');
}

function matches(pattern: string, path: string): boolean {
  const open = pattern.endsWith('*');
  const source = pattern
    .replace(/\*$/, '')
    .split('/')
    .map((segment) => (segment === '+' ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  return new RegExp(`^${source}${open ? '' : '$'}`).test(path);
}

/** Orders patterns: an exact path first, then the one whose literal beginning is longer. */
function precision(pattern: string): number {
  const wildcard = pattern.search(/\+|\*$/);
  return wildcard === -1 ? Number.POSITIVE_INFINITY : wildcard;
}
