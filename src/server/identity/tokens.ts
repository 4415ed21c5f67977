/**
 * Tokens: how they are made, kept and registered.
 * Invariant: the database holds SHA-256 hashes only; a raw token exists in the answer that creates it and nowhere else.
 */
import { createHash, randomBytes } from 'node:crypto';

import type { Database } from '../data-file/database.ts';
import { newId, stableId } from '../identifiers.ts';

/** The hash under which a token is kept. Tokens are long and random, so a slow password hash would gain nothing. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A new raw token; the prefix only tells people what they are looking at. */
export function newToken(prefix: string): string {
  return `${prefix}.${randomBytes(24).toString('base64url')}`;
}

export interface ApiTokenOwner {
  /** The user who acts: for a team's or an organization's token, its service account. */
  readonly userId: string;
  readonly teamId?: string;
  readonly organizationId?: string;
}

/** Makes exactly this token valid for its owner. Registering it again changes nothing but the owner. */
export function registerApiToken(database: Database, token: string, owner: ApiTokenOwner, now: Date): void {
  database.run(
    `INSERT INTO api_tokens (id, token_hash, user_id, team_id, organization_id, created_at)
     VALUES (:id, :token_hash, :user_id, :team_id, :organization_id, :created_at)
     ON CONFLICT (token_hash) DO UPDATE SET
       user_id = excluded.user_id, team_id = excluded.team_id, organization_id = excluded.organization_id`,
    {
      id: newId('at'),
      token_hash: hashToken(token),
      user_id: owner.userId,
      team_id: owner.teamId ?? null,
      organization_id: owner.organizationId ?? null,
      created_at: now.toISOString(),
    },
  );
}

/** The account in whose name a team's or an organization's token acts: the audit trail wants a user. */
export function ensureServiceAccount(database: Database, username: string, now: Date): string {
  database.run(
    `INSERT INTO users (id, username, is_service_account, created_at) VALUES (:id, :username, 1, :created_at)
     ON CONFLICT (username) DO NOTHING`,
    { id: stableId('user', username), username, created_at: now.toISOString() },
  );
  return stableId('user', username);
}

export interface ServiceTokenGrant {
  readonly displayName: string;
  readonly policies: readonly string[];
  readonly expiresAt?: Date;
}

/** Makes exactly this service token valid with these policies, and gives its accessor (the name it may be called by). */
export function registerServiceToken(
  database: Database,
  token: string,
  grant: ServiceTokenGrant,
  now: Date,
): string {
  const hash = hashToken(token);
  database.run(
    `INSERT INTO service_tokens (accessor, token_hash, display_name, policies, created_at, expires_at)
     VALUES (:accessor, :token_hash, :display_name, :policies, :created_at, :expires_at)
     ON CONFLICT (token_hash) DO UPDATE SET display_name = excluded.display_name, policies = excluded.policies,
       expires_at = excluded.expires_at`,
    {
      accessor: newId('accessor'),
      token_hash: hash,
      display_name: grant.displayName,
      policies: JSON.stringify(grant.policies),
      created_at: now.toISOString(),
      expires_at: grant.expiresAt?.toISOString() ?? null,
    },
  );
  const row = database.get<{ accessor: string }>(
    'SELECT accessor FROM service_tokens WHERE token_hash = :hash',
    {
      hash,
    },
  );
  return row?.accessor ?? '';
}
