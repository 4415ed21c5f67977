/**
 * How mounts are shown (wire/cluster-auth 2.9): auth methods, and the engines that such a service always has.
 * Invariant: accessors and UUIDs are the same at each look; what nobody set is left out where the original leaves it out.
 */
import { createHash } from 'node:crypto';

import { CLUSTER_AUTH_METHOD, type Mount } from '../cluster-auth/mounts.ts';
import type { ClusterAuthDialect } from '../dialects.ts';

type Document = Readonly<Record<string, unknown>>;

/** The type of a mount as the dialect calls it. */
export function wireType({ type }: Pick<Mount, 'type'>, dialect: ClusterAuthDialect): string {
  return type === CLUSTER_AUTH_METHOD ? dialect.mountType : type;
}

/** A mounted auth method. */
export function mountDocument(mount: Mount, dialect: ClusterAuthDialect): Document {
  const { description = '', options = {}, local = false, seal_wrap = false, ...config } = mount.settings;
  const type = wireType(mount, dialect);
  return {
    ...commonMembers(dialect, { type, description, uuid: mount.uuid }),
    accessor: `auth_${type}_${digits(mount.id, 8)}`,
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

/** Tokens of this kind are given out by mounts that say nothing: service tokens, unless the role wants others. */
export const DEFAULT_TOKEN_TYPE = 'default-service';

/** The token store, which is mounted beside the auth methods and cannot be taken away. */
export function tokenStoreDocument(dialect: ClusterAuthDialect): Document {
  return {
    ...commonMembers(dialect, { type: 'token', description: 'token based credentials' }),
    accessor: `auth_token_${digits('token', 8)}`,
    config: { ...NO_LEASES, token_type: DEFAULT_TOKEN_TYPE },
  };
}

const NO_LEASES = { default_lease_ttl: 0, force_no_cache: false, max_lease_ttl: 0 };

/** The engines that such a service has from the beginning. None of them is served: they only stand in lists. */
export function engineDocuments(dialect: ClusterAuthDialect): Readonly<Record<string, Document>> {
  const engine = (type: string, description: string, more: Document = {}): Document => ({
    ...commonMembers(dialect, { type, description }),
    accessor: `${type}_${digits(type, 8)}`,
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

/** A UUID that belongs to the text; a text that is one stays as it is. */
export function asUuid(text: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
  return digits(text, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function digits(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count);
}
