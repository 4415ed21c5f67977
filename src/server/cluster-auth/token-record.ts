/**
 * The rows of service tokens: created, found, used, renewed, revoked.
 * Invariants: a token is found by its hash, and the raw token is never stored; an expired, used-up or revoked token is not
 * found; each use is counted at once, so that two requests cannot share the last one.
 */
import type { Database, SqlParameters } from '../kernel/database.ts';
import { newId } from '../kernel/identifiers.ts';
import { hashToken } from '../kernel/tokens.ts';
import type { AuthDocument } from './answer.ts';
import type { Int64 } from './json-values.ts';

/** `batch` tokens are cheap in the real service: they have no accessor, and are neither renewed nor revoked. */
export type TokenType = 'service' | 'batch';

/** The members of a token. Durations are seconds; 0 means none. */
export interface TokenGrant {
  readonly displayName: string;
  readonly policies: readonly string[];
  /** The namespace that it belongs to; `''` is the root. */
  readonly namespace: string;
  readonly type: TokenType;
  /** The path of the request that created it. */
  readonly path: string;
  readonly meta: Readonly<Record<string, string>> | null;
  readonly expiresAt: Date | null;
  readonly creationTtl: number;
  readonly explicitMaxTtl: number;
  readonly period: number;
  /** 0 means no limit. */
  readonly numUses: number;
  readonly boundCidrs: readonly string[];
  readonly renewable: boolean;
  readonly entityId: string;
  /** The id of the mount whose login created it, and the role's name as in that login. */
  readonly mount: string | null;
  readonly role: string;
  /** The accessor of the parent token: this token ends with its parent. */
  readonly parent: string | null;
}

/** The default members: the token does not expire, and is valid from every address. */
export const PLAIN_GRANT: Omit<TokenGrant, 'policies' | 'displayName'> = {
  namespace: '',
  type: 'service',
  path: 'auth/token/create',
  meta: null,
  expiresAt: null,
  creationTtl: 0,
  explicitMaxTtl: 0,
  period: 0,
  numUses: 0,
  boundCidrs: [],
  renewable: false,
  entityId: '',
  mount: null,
  role: '',
  parent: null,
};

/** The limit of uses of a role or a request, capped at the largest exact number. */
export function limitOfUses(limit: Int64): number {
  return Math.min(Number(limit), Number.MAX_SAFE_INTEGER);
}

/** A token that exists. */
export interface ServiceToken extends TokenGrant {
  readonly accessor: string;
  readonly createdAt: Date;
  readonly renewedAt: Date | null;
  /** The remaining uses; -1 during the last use, 0 without a limit. */
  readonly usesLeft: number;
}

/**
 * Stores this token, and returns its accessor. Storing it again replaces it, but keeps the accessor. Expired tokens are deleted.
 */
export function storeToken(database: Database, token: string, grant: TokenGrant, now: Date): string {
  const hash = hashToken(token);
  const known = database.get<{ accessor: string }>(
    'SELECT accessor FROM service_tokens WHERE token_hash = :hash',
    { hash },
  );
  const accessor = known?.accessor ?? newId('accessor');
  database.run('DELETE FROM service_tokens WHERE expires_at <= :now AND accessor <> :accessor', {
    now: now.toISOString(),
    accessor,
  });
  const row = { ...columnsOf(grant), accessor, token_hash: hash, created_at: now.toISOString() };
  if (known === undefined) database.insert('service_tokens', row);
  else {
    const assignments = Object.keys(row).map((column) => `${column} = :${column}`);
    database.run(`UPDATE service_tokens SET ${assignments.join(', ')} WHERE accessor = :accessor`, row);
  }
  return accessor;
}

function columnsOf(grant: TokenGrant): SqlParameters {
  return {
    display_name: grant.displayName,
    policies: JSON.stringify(grant.policies),
    namespace: grant.namespace,
    type: grant.type,
    path: grant.path,
    meta: JSON.stringify(grant.meta),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    creation_ttl: grant.creationTtl,
    explicit_max_ttl: grant.explicitMaxTtl,
    period: grant.period,
    num_uses: grant.numUses,
    uses_left: grant.numUses,
    bound_cidrs: JSON.stringify(grant.boundCidrs),
    renewable: Number(grant.renewable),
    entity_id: grant.entityId,
    mount: grant.mount,
    role: grant.role,
    parent: grant.parent,
  };
}

/** The valid token with this raw text. */
export function findToken(database: Database, token: string, now: Date): ServiceToken | undefined {
  return findBy(database, 'token_hash = :key AND uses_left >= 0', hashToken(token), now);
}

/** The valid token with this accessor, also during its last use. */
export function findByAccessor(database: Database, accessor: string, now: Date): ServiceToken | undefined {
  return findBy(database, 'accessor = :key', accessor, now);
}

function findBy(database: Database, condition: string, key: string, now: Date): ServiceToken | undefined {
  const row = database.get<TokenRow>(
    `SELECT * FROM service_tokens WHERE ${condition} AND (expires_at IS NULL OR expires_at > :now)`,
    { key, now: now.toISOString() },
  );
  const token = row && tokenOf(row);
  // Child tokens end with their parent, also when it expires.
  const isOrphaned = token?.parent && findByAccessor(database, token.parent, now) === undefined;
  return isOrphaned ? undefined : token;
}

/**
 * Counts one use, and returns the token after it: with -1 uses left if this is the last one. Undefined when another request
 * has taken the last use meanwhile.
 */
export function useToken(database: Database, token: ServiceToken): ServiceToken | undefined {
  if (token.usesLeft === 0) return token;
  const used = database.run(
    `UPDATE service_tokens SET uses_left = CASE uses_left WHEN 1 THEN -1 ELSE uses_left - 1 END
     WHERE accessor = :accessor AND uses_left > 0`,
    { accessor: token.accessor },
  );
  return used === 0 ? undefined : { ...token, usesLeft: token.usesLeft === 1 ? -1 : token.usesLeft - 1 };
}

/** Changes the end of the token to `expiresAt`. */
export function renewToken(database: Database, accessor: string, expiresAt: Date, now: Date): void {
  database.run(
    'UPDATE service_tokens SET expires_at = :expiresAt, renewed_at = :now WHERE accessor = :accessor',
    {
      accessor,
      expiresAt: expiresAt.toISOString(),
      now: now.toISOString(),
    },
  );
}

/** Deletes the token and all of its descendants. */
export function revokeToken(database: Database, accessor: string): void {
  database.run('DELETE FROM service_tokens WHERE accessor = :accessor', { accessor });
}

/** Deletes only the token; its children become orphans. */
export function revokeOrphaning(database: Database, accessor: string): void {
  database.run('UPDATE service_tokens SET parent = NULL WHERE parent = :accessor', { accessor });
  revokeToken(database, accessor);
}

/** Deletes the token with this raw text, valid or not, and all of its descendants. */
export function deleteToken(database: Database, token: string): void {
  database.run('DELETE FROM service_tokens WHERE token_hash = :hash', { hash: hashToken(token) });
}

/** The accessors of a namespace's valid tokens, sorted; batch tokens have none. */
export function accessorsOf(database: Database, namespace: string, now: Date): string[] {
  return database
    .all<{ accessor: string }>(
      `SELECT accessor FROM service_tokens WHERE namespace = :namespace AND type = 'service' ORDER BY accessor`,
      { namespace },
    )
    .map((row) => row.accessor)
    .filter((accessor) => findByAccessor(database, accessor, now) !== undefined);
}

interface TokenRow {
  readonly accessor: string;
  readonly display_name: string;
  readonly policies: string;
  readonly namespace: string;
  readonly type: TokenType;
  readonly path: string;
  readonly meta: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly renewed_at: string | null;
  readonly creation_ttl: number;
  readonly explicit_max_ttl: number;
  readonly period: number;
  readonly num_uses: number;
  readonly uses_left: number;
  readonly bound_cidrs: string;
  readonly renewable: number;
  readonly entity_id: string;
  readonly mount: string | null;
  readonly role: string;
  readonly parent: string | null;
}

function tokenOf(row: TokenRow): ServiceToken {
  return {
    accessor: row.accessor,
    displayName: row.display_name,
    policies: JSON.parse(row.policies) as string[],
    namespace: row.namespace,
    type: row.type,
    path: row.path,
    meta: JSON.parse(row.meta) as ServiceToken['meta'],
    createdAt: new Date(row.created_at),
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    renewedAt: row.renewed_at === null ? null : new Date(row.renewed_at),
    creationTtl: row.creation_ttl,
    explicitMaxTtl: row.explicit_max_ttl,
    period: row.period,
    numUses: row.num_uses,
    usesLeft: row.uses_left,
    boundCidrs: JSON.parse(row.bound_cidrs) as string[],
    renewable: row.renewable === 1,
    entityId: row.entity_id,
    mount: row.mount,
    role: row.role,
    parent: row.parent,
  };
}

// The documents of tokens: in a lookup, and after a login, a creation or a renewal (wire/cluster-auth 2.9, 3).
// Invariant: the raw token is shown only to its sender or receiver.

/** The data of a lookup. `id` is the raw token if the caller sent it, else empty. */
export function lookUpDocument(token: ServiceToken, id: string, now: Date): Record<string, unknown> {
  const { expiresAt, renewedAt } = token;
  return {
    accessor: shownAccessor(token),
    creation_time: Math.trunc(token.createdAt.getTime() / 1000),
    creation_ttl: token.creationTtl,
    display_name: token.displayName,
    entity_id: token.entityId,
    expire_time: expiresAt?.toISOString() ?? null,
    explicit_max_ttl: token.explicitMaxTtl,
    id,
    issue_time: token.createdAt.toISOString(),
    meta: token.meta,
    num_uses: token.usesLeft,
    orphan: token.parent === null,
    path: token.path,
    policies: token.policies,
    renewable: token.renewable,
    ttl: expiresAt === null ? 0 : Math.trunc((expiresAt.getTime() - now.getTime()) / 1000),
    type: token.type,
    ...(token.period > 0 ? { period: token.period } : {}),
    ...(token.boundCidrs.length > 0 ? { bound_cidrs: token.boundCidrs } : {}),
    ...(token.namespace === '' ? {} : { namespace_path: `${token.namespace}/` }),
    ...(renewedAt === null
      ? {}
      : {
          last_renewal: renewedAt.toISOString(),
          last_renewal_time: Math.trunc(renewedAt.getTime() / 1000),
        }),
  };
}

/** The `auth` of an answer with a created or renewed token. `ttl` is in seconds. */
export function authDocument(token: ServiceToken, raw: string, ttl: number): AuthDocument {
  return {
    client_token: raw,
    accessor: shownAccessor(token),
    policies: token.policies,
    ...(token.policies.length === 0 ? {} : { token_policies: token.policies }),
    metadata: token.meta,
    lease_duration: ttl,
    renewable: token.renewable,
    entity_id: token.entityId,
    token_type: token.type,
    orphan: token.parent === null,
    mfa_requirement: null,
    num_uses: token.numUses,
  };
}

function shownAccessor({ type, accessor }: ServiceToken): string {
  return type === 'batch' ? '' : accessor;
}
