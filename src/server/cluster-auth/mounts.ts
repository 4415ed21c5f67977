/**
 * The auth methods that are mounted, of whatever type: rows of the table `mounts`.
 * Invariants: mounts are read at every request; a mount's id is what its config, roles and tokens hang on, so nothing of
 * a disabled mount comes back with another one at its path.
 */
import { randomUUID } from 'node:crypto';

import type { Database } from '../data-file/database.ts';
import { newId } from '../identifiers.ts';
import type { LeaseLimits } from '../service-tokens/lifetime.ts';

/** The type, in the database, of what this service is about; what a dialect calls it is its `mountType`. */
export const CLUSTER_AUTH_METHOD = 'cluster-auth';

/** What can be said of a mount when it is enabled or tuned. Durations are seconds; 0 is the service's own. */
export interface MountSettings {
  readonly description?: string;
  readonly default_lease_ttl?: number;
  readonly max_lease_ttl?: number;
  readonly token_type?: string;
  readonly listing_visibility?: string | undefined;
  readonly options?: Readonly<Record<string, string>>;
  readonly local?: boolean;
  readonly seal_wrap?: boolean;
  readonly [more: string]: unknown;
}

export interface Mount {
  readonly id: string;
  readonly namespace: string;
  /** Without slashes at its ends, for example `cluster` or `team/cluster`. */
  readonly path: string;
  readonly type: string;
  readonly uuid: string;
  readonly settings: MountSettings;
}

interface MountRow extends Omit<Mount, 'settings'> {
  readonly settings: string;
}

/** The service's own lease limits: 768 hours each. */
export const SYSTEM_LIMITS: LeaseLimits = { defaultTtl: 768 * 3600, maxTtl: 768 * 3600 };

/** What tokens of this mount get, and at most. */
export function leaseLimitsOf({ settings }: Pick<Mount, 'settings'>): LeaseLimits {
  const maxTtl = settings.max_lease_ttl || SYSTEM_LIMITS.maxTtl;
  return {
    defaultTtl: settings.default_lease_ttl || Math.min(SYSTEM_LIMITS.defaultTtl, maxTtl),
    maxTtl,
  };
}

/** All mounts of a namespace, by path. */
export function mountsIn(database: Database, namespace: string): Mount[] {
  return database
    .all<MountRow>(
      'SELECT id, namespace, path, type, uuid, settings FROM mounts WHERE namespace = :namespace ORDER BY path',
      { namespace },
    )
    .map(mountOf);
}

/** The mount of this id. */
export function mountOfId(database: Database, id: string): Mount | undefined {
  const row = database.get<MountRow>(
    'SELECT id, namespace, path, type, uuid, settings FROM mounts WHERE id = :id',
    { id },
  );
  return row && mountOf(row);
}

/**
 * Splits `auth/team/cluster/role/web` into the mount `team/cluster` and the rest `role/web`; undefined: no such mount.
 * The longest mount that fits the path wins, so that `team/cluster` and `team` could stand side by side.
 */
export function findMount(
  database: Database,
  namespace: string,
  path: string,
): { readonly mount: Mount; readonly rest: string } | undefined {
  const [mount] = mountsIn(database, namespace)
    .filter((each) => `${path}/`.startsWith(`auth/${each.path}/`))
    .toSorted((one, other) => other.path.length - one.path.length);
  return mount && { mount, rest: path.slice(`auth/${mount.path}/`.length) };
}

/** Mounts a method; what is at that path already stays as it is. */
export function storeMount(
  database: Database,
  mount: Pick<Mount, 'namespace' | 'path' | 'type' | 'settings'>,
  now: Date,
): void {
  database.run(
    `INSERT INTO mounts (id, namespace, path, type, uuid, settings, created_at)
     VALUES (:id, :namespace, :path, :type, :uuid, :settings, :now)
     ON CONFLICT (namespace, path) DO NOTHING`,
    {
      ...mount,
      id: newId('mount'),
      uuid: randomUUID(),
      settings: JSON.stringify(mount.settings),
      now: now.toISOString(),
    },
  );
}

/** Gives the mount other settings. */
export function tuneMount(database: Database, id: string, settings: MountSettings): void {
  database.run('UPDATE mounts SET settings = :settings WHERE id = :id', {
    id,
    settings: JSON.stringify(settings),
  });
}

/** Takes the mount away, with its config, its roles, and the tokens that its logins made. */
export function deleteMount(database: Database, id: string): void {
  database.run('DELETE FROM mounts WHERE id = :id', { id });
}

function mountOf({ settings, ...row }: MountRow): Mount {
  return { ...row, settings: JSON.parse(settings) as MountSettings };
}
