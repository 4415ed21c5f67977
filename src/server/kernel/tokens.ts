/**
 * Tokens: how they are generated, stored and registered.
 * Invariant: the database holds SHA-256 hashes only; a raw token exists in the answer that creates it and nowhere else.
 */
import { createHash, randomBytes } from 'node:crypto';

import type { Database } from './database.ts';
import { newId, newLetters, stableId } from './identifiers.ts';

/** The hash under which a token is kept. Tokens are long and random, so a slow password hash would gain nothing. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A new raw token. The prefix only helps people to recognize it. */
export function newToken(prefix: string): string {
  return `${prefix}.${randomBytes(24).toString('base64url')}`;
}

/** A new raw service token: 24 letters and digits after the prefix, as the real services make them. */
export function newServiceToken(prefix: string): string {
  return `${prefix}.${newLetters(24)}`;
}

interface ApiTokenGrant {
  /** The user who acts: for a team's or an organization's token, its service account. */
  readonly userId: string;
  readonly teamId?: string;
  readonly organizationId?: string;
  readonly description?: string | null;
  /** From this time on the token is unknown. Without it, the token does not expire. */
  readonly expiresAt?: Date | null;
  /** An organization's token that reads its audit trail and may do nothing else. */
  readonly isForAuditTrails?: boolean;
  /** The user who uses a user's token in that user's name. */
  readonly impersonatorId?: string | null;
}

/** Makes this token valid for its owner. Registering it again changes its grant and keeps its id. @returns the id */
export function registerApiToken(database: Database, token: string, owner: ApiTokenGrant, now: Date): string {
  const hash = hashToken(token);
  database.run(
    `INSERT INTO api_tokens (id, token_hash, user_id, team_id, organization_id, description, created_at, expires_at,
       is_for_audit_trails, impersonator_id)
     VALUES (:id, :token_hash, :user_id, :team_id, :organization_id, :description, :created_at, :expires_at,
       :is_for_audit_trails, :impersonator_id)
     ON CONFLICT (token_hash) DO UPDATE SET
       user_id = excluded.user_id, team_id = excluded.team_id, organization_id = excluded.organization_id,
       expires_at = excluded.expires_at, is_for_audit_trails = excluded.is_for_audit_trails,
       impersonator_id = excluded.impersonator_id`,
    {
      id: newId('at'),
      token_hash: hash,
      user_id: owner.userId,
      team_id: owner.teamId ?? null,
      organization_id: owner.organizationId ?? null,
      description: owner.description ?? null,
      created_at: now.toISOString(),
      expires_at: owner.expiresAt?.toISOString() ?? null,
      is_for_audit_trails: Number(owner.isForAuditTrails ?? false),
      impersonator_id: owner.impersonatorId ?? null,
    },
  );
  const row = database.get<{ id: string }>('SELECT id FROM api_tokens WHERE token_hash = :hash', { hash });
  return row?.id ?? '';
}

/**
 * The service account of a team's or an organization's token: the audit trail needs a user. Its name contains the id of the
 * holder, because names change, and names joined to one text can be ambiguous. @returns the id of the user
 */
export function ensureServiceAccount(database: Database, holderId: string, now: Date): string {
  const username = `api-${holderId}`;
  database.run(
    `INSERT INTO users (id, username, is_service_account, created_at) VALUES (:id, :username, 1, :created_at)
     ON CONFLICT (username) DO NOTHING`,
    { id: stableId('user', username), username, created_at: now.toISOString() },
  );
  return stableId('user', username);
}
