/**
 * Decides which items of a seed are new, and has the functions that all writers of a seed share. The file remembers each seeded item
 * by its identity (its id, else its name), so a later rename, change or delete is never undone.
 */
import { parseDuration } from '../cluster-auth/durations.ts';
import type { Database } from '../kernel/database.ts';
import { stableId } from '../kernel/identifiers.ts';
import type { OrganizationSeed, TokenSeed } from './seed-schema.ts';

export interface Seeding {
  readonly database: Database;
  readonly now: Date;
  /** Records an item as seeded. @returns whether it is new, so that it must be written */
  recordIfNew(...identity: readonly string[]): boolean;
}

/** For the seeds that users write: each item is written once. */
export function seedOnce(database: Database, now: Date): Seeding {
  return {
    database,
    now,
    recordIfNew: (...identity) =>
      database.run('INSERT OR IGNORE INTO seeded_things (thing, seeded_at) VALUES (:thing, :now)', {
        thing: JSON.stringify(identity),
        now: now.toISOString(),
      }) > 0,
  };
}

/** For items that must always exist: nothing is remembered, so writing the seed again must change nothing that exists. */
export function seedAlways(database: Database, now: Date): Seeding {
  return { database, now, recordIfNew: () => true };
}

/** A new item of a seed has the name or the id of another item of the file. */
export class SeedConflictError extends Error {
  override readonly name = 'SeedConflictError';
}

/** One item of an organization's seed. */
interface SeededThing {
  readonly table:
    | 'workspaces'
    | 'projects'
    | 'agent_pools'
    | 'ssh_keys'
    | 'oauth_tokens'
    | 'vcs_app_installations';
  /** the name of its kind in messages */
  readonly what: string;
  readonly id: string;
  /** undefined if names need not be unique */
  readonly name?: string;
}

interface SeedScope {
  readonly database: Database;
  readonly organizationId: string;
  readonly organizationName: string;
}

/**
 * Whether the file already has an item with this id.
 * @throws SeedConflictError when the id belongs to another organization, or the name to an item with another id
 */
export function alreadyExists(
  { database, organizationId, organizationName }: SeedScope,
  thing: SeededThing,
): boolean {
  const { table, what, id, name } = thing;
  const known = database.get<{ organization_id: string }>(
    `SELECT organization_id FROM ${table} WHERE id = :id`,
    { id },
  );
  if (known?.organization_id === organizationId) return true;
  const holder =
    name === undefined
      ? undefined
      : database.get<{ id: string }>(
          `SELECT id FROM ${table} WHERE organization_id = :organization AND name = :name`,
          { organization: organizationId, name },
        );
  if (known === undefined && holder === undefined) return false;
  const taken =
    holder === undefined
      ? `its id "${id}" belongs to another organization`
      : `its name is taken by "${holder.id}", which was made or renamed since, or has another id in the seed`;
  throw new SeedConflictError(
    `the seed's ${what} "${name ?? id}" cannot be added to organization "${organizationName}": ${taken}; rename one of the two, or take it out of the seed`,
  );
}

export interface SeedContext extends Seeding {
  readonly organizationId: string;
  readonly organizationName: string;
  /** The whole seed of the organization, to resolve names. */
  readonly seed: OrganizationSeed;
}

const ID_PREFIXES = {
  projects: 'prj',
  'agent-pools': 'apool',
  workspaces: 'ws',
} as const;

/** The id of the item with this name in the seed, also if it was renamed in the file. */
export function seededId(
  { seed }: Pick<SeedContext, 'seed'>,
  list: keyof typeof ID_PREFIXES,
  name: string,
): string {
  return seed[list]?.find((each) => each.name === name)?.id ?? stableId(ID_PREFIXES[list], seed.name, name);
}

/** All tokens that a seed gives to one holder, in `token` and in `tokens`. */
export function tokensOf(seed: {
  readonly token?: string;
  readonly tokens?: readonly TokenSeed[];
}): TokenSeed[] {
  return [...(seed.token === undefined ? [] : [{ token: seed.token }]), ...(seed.tokens ?? [])];
}

/** The members of a seeded token other than its owner. */
export function tokenTerms(seed: TokenSeed): { description: string | null; expiresAt: Date | null } {
  return { description: seed.description ?? null, expiresAt: expiryOf(seed) };
}

export function expiryOf(seed: { readonly 'expires-at'?: string }): Date | null {
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

/** The columns that the seed gives; booleans become 0 and 1. */
export function givenColumns(
  columns: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Record<string, string | number | null> {
  const given: Record<string, string | number | null> = {};
  for (const [column, value] of Object.entries(columns)) {
    if (value !== undefined) given[column] = typeof value === 'boolean' ? Number(value) : value;
  }
  return given;
}

/** Calls `write` for each entry of a list that the seed may omit. */
export function eachOf<T>(list: readonly T[] | undefined, write: (entry: T) => void): void {
  for (const entry of list ?? []) write(entry);
}

/** The seconds of a duration that was already checked; 0 if it is absent. */
export function secondsOf(duration: string | number | undefined): number {
  return parseDuration(String(duration ?? '')) ?? 0;
}
