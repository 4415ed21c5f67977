/** What the parts of one organization's seed are handed, and the one thing that several of them do. */
import { parseDuration } from '../cluster-auth/values/durations.ts';
import { stableId } from '../identifiers.ts';
import type { OrganizationSeed, TokenSeed } from './seed.ts';
import type { Seeding } from './seeding.ts';

export interface SeedContext extends Seeding {
  readonly organizationId: string;
  readonly organizationName: string;
  /** all of the organization's seed, for what its parts refer to by name */
  readonly seed: OrganizationSeed;
}

const REFERRED = {
  projects: 'prj',
  'agent-pools': 'apool',
  workspaces: 'ws',
} as const;

/** The id in the file of what the seed calls so, whatever it is called there by now. */
export function seededId(
  { seed }: Pick<SeedContext, 'seed'>,
  list: keyof typeof REFERRED,
  name: string,
): string {
  return seed[list]?.find((each) => each.name === name)?.id ?? stableId(REFERRED[list], seed.name, name);
}

/** All tokens that a seed gives to one holder, whichever of the two ways it uses. */
export function tokensOf(seed: {
  readonly token?: string;
  readonly tokens?: readonly TokenSeed[];
}): TokenSeed[] {
  return [...(seed.token === undefined ? [] : [{ token: seed.token }]), ...(seed.tokens ?? [])];
}

/** What a seed says of a token beside its owner. */
export function tokenTerms(seed: TokenSeed): { description: string | null; expiresAt: Date | null } {
  return { description: seed.description ?? null, expiresAt: expiryOf(seed) };
}

export function expiryOf(seed: { readonly 'expires-at'?: string | Date }): Date | null {
  return seed['expires-at'] === undefined ? null : new Date(seed['expires-at']);
}

/** Makes a seeded user a member of the organization. */
export function addMember(context: SeedContext, username: string): void {
  context.database.run(
    `INSERT OR IGNORE INTO organization_memberships (organization_id, user_id)
     SELECT :organization, id FROM users WHERE username = :username`,
    { organization: context.organizationId, username },
  );
}

/** The given columns without those that the seed leaves out; truth values become 0 and 1. */
export function givenColumns(
  columns: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Record<string, string | number | null> {
  const given: Record<string, string | number | null> = {};
  for (const [column, value] of Object.entries(columns)) {
    if (value !== undefined) given[column] = typeof value === 'boolean' ? Number(value) : value;
  }
  return given;
}

/** Does something with each entry of a list that the seed may leave out. */
export function eachOf<T>(list: readonly T[] | undefined, write: (entry: T) => void): void {
  for (const entry of list ?? []) write(entry);
}

/** The seconds of a duration that was checked; 0 is none. */
export function secondsOf(duration: string | number | undefined): number {
  return parseDuration(String(duration ?? '')) ?? 0;
}
