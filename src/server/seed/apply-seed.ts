/**
 * Puts a seed into the database.
 * Invariant: one transaction; each thing of the seed is written once, when it is new in the file, and left alone ever
 * after, so that a seed may be applied again at every start.
 */
import type { Database } from '../data-file/database.ts';
import { stableId } from '../identifiers.ts';
import { hashToken, registerApiToken } from '../identity/tokens.ts';
import { addRelease } from '../workspaces/releases/releases.ts';
import type { Seed, UserSeed, UserTokenSeed } from './seed.ts';
import { eachOf, givenColumns, tokensOf, tokenTerms } from './seed-context.ts';
import { applyOrganization } from './seed-organization.ts';
import { applyMount, applyPolicy, applyServiceToken } from './seed-service.ts';
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
    eachOf(seed.users, (user) => applyUserTokens(seeding, user));
    eachOf(seed.organizations, (organization) => applyOrganization(seeding, organization));
    eachOf(seed.mounts, (path) => applyMount(seeding, path));
    eachOf(seed.releases, (version) => {
      if (seeding.isNew('release', version)) addRelease(seeding.database, version);
    });
    eachOf(seed.policies, (policy) => applyPolicy(seeding, policy));
    eachOf(seed['service-tokens'], (token) => applyServiceToken(seeding, token));
  });
}

function applyUser({ database, now, isNew }: Seeding, user: UserSeed): void {
  if (!isNew('user', user.username)) return;
  database.run(
    `INSERT INTO users (id, username, created_at) VALUES (:id, :username, :now)
     ON CONFLICT (username) DO NOTHING`,
    { id: userId(user.username), username: user.username, now: now.toISOString() },
  );
  database.update('users', userId(user.username), givenColumns({ email: user.email }));
}

/** Once all users are there: one may act in the name of one that stands before it. */
function applyUserTokens({ database, now, isNew }: Seeding, user: UserSeed): void {
  eachOf<UserTokenSeed>(tokensOf(user), (seed) => {
    if (!isNew('user', user.username, 'token', hashToken(seed.token))) return;
    const impersonator = seed['impersonated-by'];
    const impersonatorId = impersonator === undefined ? null : userId(impersonator);
    const grant = { userId: userId(user.username), impersonatorId, ...tokenTerms(seed) };
    registerApiToken(database, seed.token, grant, now);
  });
}

function userId(username: string): string {
  return stableId('user', username);
}
