/**
 * Puts a seed into the database.
 * Invariant: one transaction; each thing of the seed is written once, when it is new in the file, and left alone ever
 * after, so that a seed may be applied again at every start.
 */
import type { Database } from '../data-file/database.ts';
import { stableId } from '../identifiers.ts';
import { hashToken, registerApiToken, registerServiceToken } from '../identity/tokens.ts';
import type { PolicySeed, Seed, ServiceTokenSeed, UserSeed } from './seed.ts';
import { eachOf, givenColumns } from './seed-context.ts';
import { applyOrganization } from './seed-organization.ts';
import { type Seeding, seedOnce } from './seeding.ts';

/**
 * Applies what is new of a seed that `readSeed` has checked.
 * @throws SeedConflictError when something new in it cannot be added; nothing is, then
 */
export function applySeed(database: Database, seed: Seed, now: Date): void {
  writeSeed(seedOnce(database, now), seed);
}

/** The same with another notion of what is new. */
export function writeSeed(seeding: Seeding, seed: Seed): void {
  seeding.database.transaction(() => {
    eachOf(seed.users, (user) => applyUser(seeding, user));
    eachOf(seed.organizations, (organization) => applyOrganization(seeding, organization));
    eachOf(seed.mounts, (path) => applyMount(seeding, path));
    eachOf(seed.policies, (policy) => applyPolicy(seeding, policy));
    eachOf(seed['service-tokens'], (token) => applyServiceToken(seeding, token));
  });
}

function applyUser({ database, now, isNew }: Seeding, user: UserSeed): void {
  const id = stableId('user', user.username);
  if (isNew('user', user.username)) {
    database.run(
      `INSERT INTO users (id, username, created_at) VALUES (:id, :username, :now)
       ON CONFLICT (username) DO NOTHING`,
      { id, username: user.username, now: now.toISOString() },
    );
    database.update('users', id, givenColumns({ email: user.email }));
  }
  if (user.token !== undefined && isNew('user', user.username, 'token', hashToken(user.token))) {
    registerApiToken(database, user.token, { userId: id }, now);
  }
}

function applyMount({ database, now, isNew }: Seeding, path: string): void {
  if (!isNew('mount', path)) return;
  database.run(
    `INSERT INTO mounts (path, type, created_at) VALUES (:path, 'cluster-auth', :now)
     ON CONFLICT (path) DO NOTHING`,
    { path, now: now.toISOString() },
  );
}

function applyPolicy({ database, isNew }: Seeding, policy: PolicySeed): void {
  if (!isNew('policy', policy.name)) return;
  database.run(
    `INSERT INTO service_policies (name, rules) VALUES (:name, :rules)
     ON CONFLICT (name) DO UPDATE SET rules = excluded.rules`,
    { name: policy.name, rules: JSON.stringify(policy.rules) },
  );
}

function applyServiceToken({ database, now, isNew }: Seeding, seed: ServiceTokenSeed): void {
  const { token, name = 'seeded', policies } = seed;
  if (!isNew('service-token', hashToken(token))) return;
  registerServiceToken(database, token, { displayName: name, policies }, now);
}
