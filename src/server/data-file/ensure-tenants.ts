/**
 * Prepares a data file for a stack that targets the embedded service: its organizations and mounts, an owner's token,
 * a token of each organization for its audit trail, and a service token that may do everything.
 * Invariant: it may run while another process serves the same file; the file learns hashes only, so the caller keeps
 * the raw tokens and hands them in again next time.
 */
import { CLUSTER_AUTH_METHOD, mountsIn } from '../cluster-auth/mounts.ts';
import { Database } from './database.ts';
import { OWNERS_TEAM } from '../identity/caller.ts';
import { ROOT_POLICY } from '../identity/service-policies.ts';
import { newToken } from '../identity/tokens.ts';
import { writeSeed } from '../seed/apply-seed.ts';
import { readSeed } from '../seed/read-seed.ts';
import { seedAlways } from '../seed/seeding.ts';

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
  /** By organization, wanted or handed in: its own token, which reads its audit trail. */
  readonly organizationTokens: Readonly<Record<string, string>>;
}

const OWNER = 'trueup-owner';

/**
 * Makes what is missing and gives the tokens: the ones handed in, registered anew if the file has forgotten them, or
 * fresh ones.
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

/** The names of all organizations in a data file, and the paths of its mounts of this service's method. */
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
