/**
 * Prepares a data file for a stack that targets the embedded service: with organizations, mounts and tokens, or with a seed. Another
 * process may serve the file meanwhile. The file only has hashes of tokens, so the caller keeps the tokens and passes them next time.
 */
import { CLUSTER_AUTH_METHOD, mountsIn } from '../cluster-auth/mounts.ts';
import { ROOT_POLICY } from '../cluster-auth/policy-rules.ts';
import { OWNERS_TEAM } from '../kernel/caller.ts';
import { Database } from '../kernel/database.ts';
import { newToken } from '../kernel/tokens.ts';
import { applySeed, writeSeed } from './apply-seed.ts';
import { readSeed } from './read-seed.ts';
import { seedAlways } from './seeding.ts';

interface Tenants {
  readonly organizations: readonly string[];
  /** Paths of cluster-auth mounts below `auth/`. */
  readonly mounts: readonly string[];
}

interface TenantTokens {
  /** An API token of a user who owns every wanted organization. */
  readonly ownerToken: string;
  /** A service token with the policy `root`. */
  readonly serviceToken: string;
  /** By organization of `wanted` or `tokens`: its own token, which reads its audit trail. */
  readonly organizationTokens: Readonly<Record<string, string>>;
}

const OWNER = 'trueup-owner';

/**
 * Creates missing organizations, mounts and tokens. @returns the tokens: the given ones, which are registered again, or new ones
 */
export function ensureTenants(
  dataFile: string,
  wanted: Tenants,
  tokens: Partial<TenantTokens> = {},
): TenantTokens {
  const organizations = [...new Set(wanted.organizations)];
  const fresh = Object.fromEntries(organizations.map((name) => [name, newToken('organization')]));
  const given = {
    ownerToken: newToken('owner'),
    serviceToken: newToken('service'),
    ...tokens,
    organizationTokens: { ...fresh, ...tokens.organizationTokens },
  };
  const seed = readSeed({
    users: [{ username: OWNER, token: given.ownerToken }],
    organizations: organizations.map((name) => ({
      name,
      token: given.organizationTokens[name] ?? '',
      teams: [{ name: OWNERS_TEAM, members: [OWNER] }],
    })),
    mounts: [...new Set(wanted.mounts)],
    'service-tokens': [{ name: OWNER, token: given.serviceToken, policies: [ROOT_POLICY] }],
  });
  const database = Database.open(dataFile);
  try {
    writeSeed(seedAlways(database, new Date()), seed);
  } finally {
    database.close();
  }
  return given;
}

/** The names of all organizations in a data file, and the paths of its cluster-auth mounts. */
export function tenantsOf(dataFile: string): Tenants {
  const database = Database.open(dataFile);
  try {
    const organizations = database.all<{ name: string }>('SELECT name FROM organizations ORDER BY name');
    const mounts = mountsIn(database, '').filter(({ type }) => type === CLUSTER_AUTH_METHOD);
    return { organizations: organizations.map(({ name }) => name), mounts: mounts.map(({ path }) => path) };
  } finally {
    database.close();
  }
}

/**
 * Applies a whole seed, or nothing of it, to a data file that another process may serve.
 * @param seed the parsed YAML of a seed file
 * @throws SeedError when the seed is malformed, SeedConflictError when a new item cannot be added
 */
export function seedDataFile(dataFile: string, seed: unknown): void {
  const read = readSeed(seed);
  const database = Database.open(dataFile);
  try {
    applySeed(database, read, new Date());
  } finally {
    database.close();
  }
}
