/**
 * What is new in a seed, and where it may go.
 * Invariant: what a file was seeded with once is told apart from the new by its identity in the seed (its id, or its
 * name where it has none), so that renaming, changing or deleting it afterwards is never taken back.
 */
import type { Database } from '../data-file/database.ts';

export interface Seeding {
  readonly database: Database;
  readonly now: Date;
  /** Whether this was not seeded before; from now on it was. */
  isNew(...identity: readonly string[]): boolean;
}

/** For the seeds of users: each thing once. */
export function seedOnce(database: Database, now: Date): Seeding {
  return {
    database,
    now,
    isNew: (...identity) =>
      database.run('INSERT OR IGNORE INTO seeded_things (thing, seeded_at) VALUES (:thing, :now)', {
        thing: JSON.stringify(identity),
        now: now.toISOString(),
      }) > 0,
  };
}

/** For what must be there, whoever made it: nothing is remembered, and so it must only add. */
export function seedAlways(database: Database, now: Date): Seeding {
  return { database, now, isNew: () => true };
}

/** Something new in a seed has the name or the id of something else that is in the file. */
export class SeedConflictError extends Error {
  override readonly name = 'SeedConflictError';
}

/** One thing of an organization's seed. */
interface SeededThing {
  readonly table:
    | 'workspaces'
    | 'projects'
    | 'agent_pools'
    | 'ssh_keys'
    | 'oauth_tokens'
    | 'vcs_app_installations';
  /** as users call it */
  readonly what: string;
  readonly id: string;
  /** undefined where such things have none that must be their own */
  readonly name?: string;
}

interface SeedScope {
  readonly database: Database;
  readonly organizationId: string;
  readonly organizationName: string;
}

/**
 * Whether the file has the thing already, by its id.
 * @throws SeedConflictError when its id belongs to another organization, or its name to something with another id
 */
export function isThere(
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
