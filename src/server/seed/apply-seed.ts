// Puts a seed into the database.
// Invariant: one transaction, idempotent; rows are found by their names, so a changed seed corrects what an earlier one
// made instead of making it twice.

import type { Database } from '../database.ts';
import { stableId } from '../identifiers.ts';
import { registerApiToken, registerServiceToken } from '../identity/tokens.ts';
import type { PolicySeed, Seed, UserSeed } from './seed.ts';
import { eachOf } from './seed-context.ts';
import { applyOrganization } from './seed-organization.ts';

/** Applies a seed that `readSeed` has checked. */
export function applySeed(database: Database, seed: Seed, now: Date): void {
  database.transaction(() => {
    eachOf(seed.users, (user) => applyUser(database, user, now));
    eachOf(seed.organizations, (organization) => applyOrganization(database, organization, now));
    eachOf(seed.mounts, (path) => applyMount(database, path, now));
    eachOf(seed.policies, (policy) => applyPolicy(database, policy));
    eachOf(seed['service-tokens'], ({ token, name, policies }) =>
      registerServiceToken(database, token, { displayName: name ?? 'seeded', policies }, now),
    );
  });
}

function applyUser(database: Database, user: UserSeed, now: Date): void {
  const id = stableId('user', user.username);
  database.run(
    `INSERT INTO users (id, username, email, created_at) VALUES (:id, :username, :email, :now)
     ON CONFLICT (username) DO UPDATE SET email = excluded.email`,
    { id, username: user.username, email: user.email ?? null, now: now.toISOString() },
  );
  if (user.token !== undefined) registerApiToken(database, user.token, { userId: id }, now);
}

function applyMount(database: Database, path: string, now: Date): void {
  database.run(
    `INSERT INTO mounts (path, type, created_at) VALUES (:path, 'cluster-auth', :now)
     ON CONFLICT (path) DO NOTHING`,
    { path, now: now.toISOString() },
  );
}

function applyPolicy(database: Database, policy: PolicySeed): void {
  database.run(
    `INSERT INTO service_policies (name, rules) VALUES (:name, :rules)
     ON CONFLICT (name) DO UPDATE SET rules = excluded.rules`,
    { name: policy.name, rules: JSON.stringify(policy.rules) },
  );
}
