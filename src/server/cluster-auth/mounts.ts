/**
 * Mounts of auth methods of any type: rows of the table `mounts`, which every request reads again, and their documents. Config,
 * roles and tokens refer to a mount's id, so a mount that is recreated at the same path has none of them.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Database } from '../kernel/database.ts';
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import { newId } from '../kernel/identifiers.ts';
import type { LeaseLimits } from './token-lifetime.ts';

/** The type of cluster-auth mounts in the database; the dialect's name of it is `mountType`. */
export const CLUSTER_AUTH_METHOD = 'cluster-auth';

/** The settings of a mount when it is enabled or tuned. Durations are seconds; 0 is the service's default. */
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

/** The default and the maximum lifetime of this mount's tokens. */
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
  const row = database.byId<MountRow>('mounts', id);
  return row && mountOf(row);
}

/**
 * Splits `auth/team/cluster/role/web` into the mount `team/cluster` and the rest `role/web`; undefined: no such mount.
 * The longest mount that matches the path is used, so that `team/cluster` and `team` can coexist.
 */
export function findMount(
  database: Database,
  namespace: string,
  path: string,
): { readonly mount: Mount; readonly rest: string } | undefined {
  if (!path.startsWith('auth/')) return undefined;
  const below = path.slice('auth/'.length);
  for (let end = below.length; end > 0; end = below.lastIndexOf('/', end - 1)) {
    const row = database.get<MountRow>(
      'SELECT id, namespace, path, type, uuid, settings FROM mounts WHERE namespace = :namespace AND path = :path',
      { namespace, path: below.slice(0, end) },
    );
    if (row !== undefined) return { mount: mountOf(row), rest: below.slice(end + 1) };
  }
  return undefined;
}

/** Mounts a method; an existing mount at the path stays as it is. */
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

/** Replaces the settings of the mount. */
export function tuneMount(database: Database, id: string, settings: MountSettings): void {
  database.run('UPDATE mounts SET settings = :settings WHERE id = :id', {
    id,
    settings: JSON.stringify(settings),
  });
}

/** Deletes the mount with its config, its roles, and the tokens of its logins. */
export function deleteMount(database: Database, id: string): void {
  database.delete('mounts', id);
}

function mountOf({ settings, ...row }: MountRow): Mount {
  return { ...row, settings: JSON.parse(settings) as MountSettings };
}

// The documents of mounts (wire/cluster-auth 2.9): auth methods, and the engines that the real services always have.
// Invariant: accessors and UUIDs are stable; unset members are absent where they are absent in the real service.

type Document = Readonly<Record<string, unknown>>;

/** The dialect's name for the type of a mount. */
export function wireType({ type }: Pick<Mount, 'type'>, dialect: ClusterAuthDialect): string {
  return type === CLUSTER_AUTH_METHOD ? dialect.mountType : type;
}

/** A mounted auth method. */
export function mountDocument(mount: Mount, dialect: ClusterAuthDialect): Document {
  const { description = '', options = {}, local = false, seal_wrap = false, ...config } = mount.settings;
  const type = wireType(mount, dialect);
  return {
    ...commonMembers(dialect, { type, description, uuid: mount.uuid }),
    accessor: `auth_${type}_${hashDigits(mount.id, 8)}`,
    config: {
      ...config,
      default_lease_ttl: config.default_lease_ttl ?? 0,
      force_no_cache: config['force_no_cache'] ?? false,
      max_lease_ttl: config.max_lease_ttl ?? 0,
      token_type: config.token_type ?? DEFAULT_TOKEN_TYPE,
    },
    deprecation_status: 'supported',
    local,
    options,
    seal_wrap,
  };
}

/** The default token type of mounts: service tokens, unless the role sets another one. */
export const DEFAULT_TOKEN_TYPE = 'default-service';

/** The token store, which is mounted beside the auth methods and cannot be disabled. */
export function tokenStoreDocument(dialect: ClusterAuthDialect): Document {
  return {
    ...commonMembers(dialect, { type: 'token', description: 'token based credentials' }),
    accessor: `auth_token_${hashDigits('token', 8)}`,
    config: { ...NO_LEASES, token_type: DEFAULT_TOKEN_TYPE },
  };
}

const NO_LEASES = { default_lease_ttl: 0, force_no_cache: false, max_lease_ttl: 0 };

/** The engines that the real services have from the start. They are only listed, not served. */
export function engineDocuments(dialect: ClusterAuthDialect): Readonly<Record<string, Document>> {
  const engine = (type: string, description: string, more: Document = {}): Document => ({
    ...commonMembers(dialect, { type, description }),
    accessor: `${type}_${hashDigits(type, 8)}`,
    config: NO_LEASES,
    ...more,
  });
  const passing = (header: string) => ({
    config: { ...NO_LEASES, passthrough_request_headers: [header] },
  });
  return {
    'cubbyhole/': engine('cubbyhole', 'per-token private secret storage', { local: true }),
    'identity/': engine('identity', 'identity store', passing('Authorization')),
    'secret/': engine('kv', 'key/value secret storage', {
      options: { version: '2' },
      deprecation_status: 'supported',
    }),
    'sys/': engine('system', 'system endpoints used for control, policy and debugging', {
      ...passing('Accept'),
      seal_wrap: true,
    }),
  };
}

function commonMembers(
  dialect: ClusterAuthDialect,
  { type, description, uuid }: { type: string; description: string; uuid?: string },
): Document {
  return {
    type,
    description,
    external_entropy_access: false,
    local: false,
    options: null,
    plugin_version: '',
    running_plugin_version: dialect.pluginVersion,
    running_sha256: '',
    seal_wrap: false,
    uuid: asUuid(uuid ?? type),
  };
}

/** The text itself if it is a UUID; otherwise a UUID derived from it. */
export function asUuid(text: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
  return hashDigits(text, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function hashDigits(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count);
}
