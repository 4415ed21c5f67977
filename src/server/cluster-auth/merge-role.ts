/**
 * What a write makes of a role: the stored fields with the sent ones over them, checked (wire/cluster-auth 2.5, 2.6).
 * Invariants: pure; the first broken rule, in the original's order, is the one that is told; a field that was not sent
 * keeps its value, but for the namespace selector, which every write replaces.
 */
import { tokenPolicies } from '../service-tokens/token-policies.ts';
import { canonicalBlocks } from './values/address-blocks.ts';
import { formatDuration } from './values/durations.ts';
import type { Coerced } from './values/field-coercion.ts';
import { quote } from './values/go-quote.ts';
import { matchLabelsIn } from './values/label-selector.ts';
import { ALIAS_NAME_SOURCES, DEPRECATED_NAMES, FRESH_ROLE, type Role, type SentRole } from './role-fields.ts';

/** What a merge depends on beside the role. */
export interface MergeRules {
  /** The mount's largest lifetime, in seconds. */
  readonly maxLease: number;
}

/** A text when the role breaks the rule. */
type MergeRule = (role: Role, rules: MergeRules) => string | false;

/**
 * The role after a write. `stored` is undefined for a name that does not exist yet, which starts from the defaults.
 * The problem is the 400 text of the first rule that does not hold; then nothing is to be stored.
 */
export function mergeRole(stored: Role | undefined, sent: SentRole, rules: MergeRules): Coerced<Role> {
  const blocks = canonicalBlocks(sent.token_bound_cidrs ?? []);
  if (!blocks.ok) return blocks;
  const current = withCurrentFields(stored ?? FRESH_ROLE, sent, blocks.value);
  const broken = firstBroken(TOKEN_RULES, current, rules);
  if (broken !== undefined) return { ok: false, problem: broken };
  const folded = withDeprecatedFields(current, sent);
  if (!folded.ok) return folded;
  const role = { ...folded.value, alias_name_source: aliasNameSource(stored, sent) };
  const problem = firstBroken(ROLE_RULES, role, rules);
  return problem === undefined ? { ok: true, value: role } : { ok: false, problem };
}

/** What the service warns of once the role is stored. */
export function lifetimeWarnings(role: Role, { maxLease }: MergeRules): string[] {
  if (role.token_max_ttl <= maxLease) return [];
  return [
    "max_ttl is greater than the system or backend mount's maximum TTL value; " +
      "issued tokens' max TTL value will be truncated",
  ];
}

function withCurrentFields(base: Role, sent: SentRole, blocks: readonly string[]): Role {
  const { policies, bound_cidrs, num_uses, ttl, max_ttl, period, alias_name_source, ...current } = sent;
  return {
    ...base,
    ...current,
    bound_service_account_namespace_selector: sent.bound_service_account_namespace_selector ?? '',
    token_bound_cidrs: sent.token_bound_cidrs === undefined ? base.token_bound_cidrs : blocks,
    token_type: sent.token_type === '' ? 'default' : (sent.token_type ?? base.token_type),
  };
}

/**
 * Folds the deprecated names in: an old name alone sets both, a current one alone resets the old, both together mirror
 * the current one, neither leaves them (wire/cluster-auth 2.6).
 */
function withDeprecatedFields(role: Role, sent: SentRole): Coerced<Role> {
  const blocks = canonicalBlocks(sent.bound_cidrs ?? []);
  if (!blocks.ok) return blocks;
  const given: Record<string, unknown> = {
    ...sent,
    bound_cidrs: blocks.value,
    // Only the deprecated name tidies its policies.
    policies: tokenPolicies(sent.policies ?? [], false),
  };
  const folded: Record<string, unknown> = { ...role };
  for (const [deprecated, current] of DEPRECATED_NAMES) {
    if (sent[current] !== undefined) {
      folded[deprecated] = sent[deprecated] === undefined ? FRESH_ROLE[deprecated] : role[current];
    } else if (sent[deprecated] !== undefined) {
      folded[deprecated] = given[deprecated];
      folded[current] = given[deprecated];
    }
  }
  // The two names of a pair have one type, which a loop over pairs cannot tell the compiler.
  return { ok: true, value: folded as unknown as Role };
}

/** Empty text means the default on a role that has no source yet, and is refused (by its rule) on one that has. */
function aliasNameSource(stored: Role | undefined, sent: SentRole): string {
  const held = stored?.alias_name_source ?? '';
  const asked = sent.alias_name_source ?? held;
  return asked === '' && held === '' ? ALIAS_NAME_SOURCES[0] : asked;
}

const BATCH = "'token_type' cannot be 'batch' or 'default_batch' when set to generate";

/** The rules of the token fields; negative durations never get here, their coercion refuses them. */
const TOKEN_RULES: readonly MergeRule[] = [
  (role) =>
    !['default', 'service', 'batch'].includes(role.token_type) &&
    `invalid 'token_type' value ${quote(role.token_type)}`,
  (role) => role.token_num_uses < 0 && "'token_num_uses' cannot be negative",
  (role) => role.token_type === 'batch' && role.token_period !== 0 && `${BATCH} periodic tokens`,
  (role) =>
    role.token_type === 'batch' && role.token_num_uses !== 0 && `${BATCH} tokens with limited use count`,
  (role) => ttlExceedsMaximum(role) && "'token_ttl' cannot be greater than 'token_max_ttl'",
  (role) =>
    role.token_strictly_bind_ip &&
    role.token_bound_cidrs.length > 0 &&
    "'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one",
];

/** The rules of the whole role, after the deprecated names are folded in. */
const ROLE_RULES: readonly MergeRule[] = [
  (role, { maxLease }) =>
    role.token_period > maxLease &&
    `token period of '"${formatDuration(role.token_period)}"' is greater than the backend's maximum lease TTL ` +
      `of '"${formatDuration(maxLease)}"'`,
  (role) => ttlExceedsMaximum(role) && 'token ttl should not be greater than token max ttl',
  (role) => role.bound_service_account_names.length === 0 && '"bound_service_account_names" can not be empty',
  (role) => mixesWildcard(role.bound_service_account_names),
  (role) =>
    (role.bound_service_account_namespaces ?? []).length === 0 &&
    role.bound_service_account_namespace_selector === '' &&
    '"bound_service_account_namespaces" can not be empty if "bound_service_account_namespace_selector" is not set',
  (role) =>
    role.bound_service_account_namespace_selector !== '' &&
    matchLabelsIn(role.bound_service_account_namespace_selector) === undefined &&
    'invalid "bound_service_account_namespace_selector" configured',
  (role) => mixesWildcard(role.bound_service_account_namespaces ?? []),
  (role) =>
    !ALIAS_NAME_SOURCES.some((source) => source === role.alias_name_source) &&
    `invalid alias_name_source, must be one of: ${ALIAS_NAME_SOURCES.join(', ')}`,
];

function ttlExceedsMaximum(role: Role): boolean {
  return role.token_max_ttl > 0 && role.token_ttl > role.token_max_ttl;
}

function mixesWildcard(entries: readonly string[]): string | false {
  return entries.length > 1 && entries.includes('*') && 'can not mix "*" with values';
}

function firstBroken(checks: readonly MergeRule[], role: Role, rules: MergeRules): string | undefined {
  for (const check of checks) {
    const text = check(role, rules);
    if (text !== false) return text;
  }
  return undefined;
}
