/**
 * Roles of a mount: read, write, delete, list (wire/cluster-auth 5.1, 5.3, 2.5 to 2.8). Names are in lower case; a write is
 * read, merged, checked and stored in one transaction.
 */
import type { Database } from '../kernel/database.ts';
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import { canonicalBlocks, storedBlocks } from './address-blocks.ts';
import {
  answerData,
  answerDone,
  answerError,
  answerWrappedError,
  NOT_FOUND,
  type SecretsAnswer,
} from './answer.ts';
import type { MountCall, MountHandler } from './call.ts';
import { formatDuration } from './durations.ts';
import { asInteger, asText, type ValueOrProblem, quote, readFields } from './field-coercion.ts';
import { fromStoredText, storedText } from './json-values.ts';
import { matchLabelsIn } from './label-selector.ts';
import { leaseLimitsOf, mountOfId } from './mounts.ts';
import { tokenPolicies } from './policy-rules.ts';
import {
  ALIAS_NAME_SOURCES,
  DEPRECATED_NAMES,
  FRESH_ROLE,
  presentRole,
  readRoleFields,
  type Role,
  type SentRole,
} from './role-fields.ts';

/** Whether the role that the call names exists: it decides between the capabilities `create` and `update`. */
export function roleExists({ services, mount, roleName }: MountCall): boolean {
  return storedFields(services.database, mount, roleName) !== undefined;
}

/** `GET role/:name`: 200 with the fields, 404 for an unknown role. */
export const readRole: MountHandler = (call) => {
  const role = findRole(call);
  if (role === undefined) return NOT_FOUND;
  return role.ok
    ? answerData(presentRole(role.value, call.services.dialects.clusterAuth))
    : answerWrappedError(500, role.problem);
};

/**
 * `POST role/:name`: creates the role, or merges the sent fields into it. 204; 200 if
 * there are warnings; 400 with the first broken rule (wire/cluster-auth 2.5).
 */
export const writeRole: MountHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { clusterAuth } = call.services.dialects;
    const sent = readRoleFields(call.body, clusterAuth);
    if (!sent.ok) return answerError(400, sent.problem);
    const stored = findRole(call);
    if (stored?.ok === false) return answerWrappedError(500, stored.problem);
    const limits: MergeLimits = { maxLease: maxLeaseOf(call) };
    const merged = mergeRole(stored?.value, sent.value, limits);
    if (!merged.ok) return answerError(400, merged.problem);
    storeRole(call, merged.value);
    const warnings = [...lifetimeWarnings(merged.value, limits), ...audienceWarnings(merged.value, call)];
    return answerDone(warnings);
  });

/** `DELETE role/:name`: 204, even if the role did not exist. */
export const deleteRole: MountHandler = (call) => {
  call.services.database.run('DELETE FROM cluster_auth_roles WHERE mount = :mount AND name = :name', {
    mount: call.mount,
    name: call.roleName,
  });
  return answerDone();
};

/** The role of the call; undefined for an unknown one. */
function findRole({ services, mount, roleName }: MountCall): ValueOrProblem<Role> | undefined {
  return storedRole(services.database, mount, roleName);
}

/**
 * The role of this name, in any case, of the mount with this id; the problem is the text of a 500. The service stores address blocks as
 * it prints them, and parses them at each read. One that is no IP address counts as the path of a UNIX socket: it gets one more pair
 * of quotes at each read, and without a slash it becomes unreadable (wire/cluster-auth 2.4).
 */
export function storedRole(
  database: Database,
  mount: string,
  name: string,
): ValueOrProblem<Role> | undefined {
  const fields = storedFields(database, mount, name.toLowerCase());
  if (fields === undefined) return undefined;
  const role: Role = { ...FRESH_ROLE, ...(fromStoredText(fields) as Role) };
  const blocks = storedBlocks(role.token_bound_cidrs);
  if (!blocks.ok) return blocks;
  const deprecated = storedBlocks(role.bound_cidrs);
  if (!deprecated.ok) return deprecated;
  return { ok: true, value: { ...role, token_bound_cidrs: blocks.value, bound_cidrs: deprecated.value } };
}

function storedFields(database: Database, mount: string, name: string): string | undefined {
  const row = database.get<{ fields: string }>(
    'SELECT fields FROM cluster_auth_roles WHERE mount = :mount AND name = :name',
    { mount, name },
  );
  return row?.fields;
}

function storeRole(call: MountCall, role: Role): void {
  call.services.database.run(
    `INSERT INTO cluster_auth_roles (mount, name, fields, updated_at) VALUES (:mount, :name, :fields, :updated_at)
     ON CONFLICT (mount, name) DO UPDATE SET fields = excluded.fields, updated_at = excluded.updated_at`,
    {
      mount: call.mount,
      name: call.roleName,
      fields: storedText(role),
      updated_at: call.services.now().toISOString(),
    },
  );
}

function maxLeaseOf({ services, mount }: MountCall): number {
  return leaseLimitsOf(mountOfId(services.database, mount) ?? { settings: {} }).maxTtl;
}

function audienceWarnings({ audience }: Role, { services, roleName }: MountCall): string[] {
  const { audienceWarning } = services.dialects.clusterAuth;
  return audienceWarning === undefined || audience.trim() !== '' ? [] : [audienceWarning(roleName)];
}

// The names of a mount's roles (wire/cluster-auth 5.1, 2.8).
// Invariant: names in lower case, in lexicographic order; an empty list is a 404 without a text, as everywhere in this service.

const PAGE_FIELDS = { after: asText, limit: asInteger } as const;

/** The parameters of a list, in dialects with pages: the name after which the page begins, and the number of names. */
export function listFields({ pagesLists }: ClusterAuthDialect): Partial<typeof PAGE_FIELDS> {
  return pagesLists ? PAGE_FIELDS : {};
}

/** `LIST role` and `GET role?list=true`: 200 with `keys`, or 404 for an empty list. */
export const listRoles: MountHandler = ({ services, mount, body }) => {
  const sent = readFields(listFields(services.dialects.clusterAuth), body);
  if (!sent.ok) return answerError(400, sent.problem);
  const { after = '', limit = 0 } = sent.value;
  const names = services.database.all<{ name: string }>(
    `SELECT name FROM cluster_auth_roles WHERE mount = :mount AND name > :after ORDER BY name LIMIT :limit`,
    // A negative limit means no limit.
    { mount, after, limit: limit > 0 ? Number(limit) : -1 },
  );
  return names.length === 0 ? NOT_FOUND : answerData({ keys: names.map(({ name }) => name) });
};

// Merges the sent fields into a stored role, and checks the result (wire/cluster-auth 2.5, 2.6).
// Invariants: pure; the first broken rule, in the order of the real service, is reported; a field that was not sent keeps its
// value, except the namespace selector, which every write replaces.

/** The limits that the result of a merge must keep, besides the rules below. */
interface MergeLimits {
  /** The mount's largest lifetime, in seconds. */
  readonly maxLease: number;
}

/** The error text when the role breaks the rule, else false. */
type MergeRule = (role: Role, limits: MergeLimits) => string | false;

/**
 * The role after a write. `stored` is undefined for a new role, which starts from the defaults.
 * The problem is the text of a 400 for the first broken rule; nothing must be stored then.
 */
function mergeRole(stored: Role | undefined, sent: SentRole, limits: MergeLimits): ValueOrProblem<Role> {
  const blocks = canonicalBlocks(sent.token_bound_cidrs ?? []);
  if (!blocks.ok) return blocks;
  const current = withCurrentFields(stored ?? FRESH_ROLE, sent, blocks.value);
  const broken = firstBroken(TOKEN_RULES, current, limits);
  if (broken !== undefined) return { ok: false, problem: broken };
  const folded = withDeprecatedFields(current, sent);
  if (!folded.ok) return folded;
  const role = { ...folded.value, alias_name_source: aliasNameSource(stored, sent) };
  const problem = firstBroken(ROLE_RULES, role, limits);
  return problem === undefined ? { ok: true, value: role } : { ok: false, problem };
}

/** The warning about a lifetime above the mount's maximum. The role is stored although it has one. */
function lifetimeWarnings(role: Role, { maxLease }: MergeLimits): string[] {
  if (role.token_max_ttl <= maxLease) return [];
  return [
    "max_ttl is greater than the system or backend mount's maximum TTL value; " +
      "issued tokens' max TTL value will be truncated",
  ];
}

function withCurrentFields(base: Role, sent: SentRole, blocks: string[]): Role {
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
 * Applies the deprecated names. Only the deprecated name was sent: both fields get its value. Only the current one: the deprecated
 * one is reset. Both: the deprecated one gets the current one's value. Neither: nothing changes (wire/cluster-auth 2.6).
 */
function withDeprecatedFields(role: Role, sent: SentRole): ValueOrProblem<Role> {
  // A deprecated name is ignored if its current name was sent, too.
  const blocks = canonicalBlocks(sent.token_bound_cidrs === undefined ? (sent.bound_cidrs ?? []) : []);
  if (!blocks.ok) return blocks;
  const given: Record<string, unknown> = {
    ...sent,
    bound_cidrs: blocks.value,
    // Only the deprecated name normalizes its policies.
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
  // The two names of a pair have one type, which the compiler cannot infer in a loop over pairs.
  return { ok: true, value: folded as unknown as Role };
}

/**
 * The alias source after the write. If the stored role has none, an empty text means the default. If it has one, the text stays
 * empty, and ROLE_RULES refuse it.
 */
function aliasNameSource(stored: Role | undefined, sent: SentRole): string {
  const held = stored?.alias_name_source ?? '';
  const requested = sent.alias_name_source ?? held;
  return requested === '' && held === '' ? ALIAS_NAME_SOURCES[0] : requested;
}

const BATCH = "'token_type' cannot be 'batch' or 'default_batch' when set to generate";

/** The rules of the token fields. Negative durations were already refused when the fields were read. */
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

/** The rules of the whole role, after the deprecated names are applied. */
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

function firstBroken(rules: readonly MergeRule[], role: Role, limits: MergeLimits): string | undefined {
  for (const rule of rules) {
    const text = rule(role, limits);
    if (text !== false) return text;
  }
  return undefined;
}
