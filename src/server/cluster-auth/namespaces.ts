/**
 * Namespaces: parts of the service with their own mounts, policies and tokens (wire/cluster-auth 2.1).
 * Invariants: a namespace is identified by its path from the root, without slashes at its ends; the root is `''` and always
 * exists; deleting one deletes its content.
 */
import { randomUUID } from 'node:crypto';

import { answerData, answerDone, answerError, NOT_FOUND, type SecretsAnswer } from './answer.ts';
import { isObject } from './json-values.ts';
import type { Database } from '../kernel/database.ts';
import { newLetters } from '../kernel/identifiers.ts';
import type { ServiceCall, ServiceHandler } from './call.ts';

/** The namespace of a request, and the path in it. */
export interface Place {
  readonly namespace: string;
  readonly path: string;
}

/**
 * Finds the namespace of a request: the one in the header, extended by the child namespaces at the start of the path. Undefined
 * when the namespace in the header does not exist.
 */
export function placeOf(database: Database, header: string, path: string): Place | undefined {
  const named = header.replace(/^\/+|\/+$/g, '');
  const start = named === 'root' ? '' : named;
  const known = new Set(
    database.all<{ path: string }>('SELECT path FROM service_namespaces').map((row) => row.path),
  );
  if (start !== '' && !known.has(start)) return undefined;
  let [namespace, rest] = [start, path];
  for (;;) {
    const slash = rest.indexOf('/');
    const child = joined(namespace, rest.slice(0, Math.max(slash, 0)));
    if (slash < 0 || child === namespace || !known.has(child)) return { namespace, path: rest };
    [namespace, rest] = [child, rest.slice(slash + 1)];
  }
}

interface NamespaceRow {
  readonly path: string;
  readonly id: string;
  readonly uuid: string;
  readonly custom_metadata: string;
}

/** `LIST sys/namespaces`: the children of the current namespace. */
export const listNamespaces: ServiceHandler = ({ services, namespace }) => {
  const prefix = namespace === '' ? '' : `${namespace}/`;
  const rows = services.database
    .all<NamespaceRow>('SELECT path, id, uuid, custom_metadata FROM service_namespaces ORDER BY path')
    .filter(({ path }) => path.startsWith(prefix) && !path.slice(prefix.length).includes('/'));
  if (rows.length === 0) return NOT_FOUND;
  const entries = rows.map((row) => [`${row.path.slice(prefix.length)}/`, documentOf(row)] as const);
  return answerData({ keys: entries.map(([key]) => key), key_info: Object.fromEntries(entries) });
};

/** `GET sys/namespaces/:path`: 200, or 404. */
export const readNamespace: ServiceHandler = (call) => {
  const row = namespaceRow(call);
  return row === undefined ? NOT_FOUND : answerData(documentOf(row));
};

/** Names that the service uses for its own paths. */
const RESERVED = ['root', 'sys', 'audit', 'auth', 'cubbyhole', 'identity'];

/** `POST sys/namespaces/:path`: creates the namespace, or replaces its metadata. 200 with it, or 400. */
export const writeNamespace: ServiceHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { services, namespace, body } = call;
    const name = namespaceName(call);
    if (RESERVED.includes(name))
      return answerError(400, `"${name}" is a reserved path and cannot be used as a namespace name`);
    if (!/^[^\s/]+$/.test(name)) return answerError(400, 'namespace path must be one segment without blanks');
    const metadata = isObject(body['custom_metadata']) ? body['custom_metadata'] : {};
    services.database.run(
      `INSERT INTO service_namespaces (path, id, uuid, custom_metadata, created_at)
       VALUES (:path, :id, :uuid, :metadata, :now)
       ON CONFLICT (path) DO UPDATE SET custom_metadata = excluded.custom_metadata`,
      {
        path: joined(namespace, name),
        id: newLetters(6),
        uuid: randomUUID(),
        metadata: JSON.stringify(metadata),
        now: services.now().toISOString(),
      },
    );
    const row = namespaceRow(call);
    return row === undefined ? NOT_FOUND : answerData(documentOf(row));
  });

/** `DELETE sys/namespaces/:path`: 204, also for an unknown one; 400 while it has children. */
export const deleteNamespace: ServiceHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { database } = call.services;
    const path = joined(call.namespace, namespaceName(call));
    const inside = database.get(
      "SELECT 1 FROM service_namespaces WHERE substr(path, 1, length(:path) + 1) = :path || '/'",
      { path },
    );
    if (inside !== undefined)
      return answerError(400, `cannot delete namespace (${path}/) containing child namespaces`);
    for (const table of ['mounts', 'service_tokens', 'service_policies'])
      database.run(`DELETE FROM ${table} WHERE namespace = :path`, { path });
    database.run('DELETE FROM service_namespaces WHERE path = :path', { path });
    return answerDone();
  });

function namespaceRow(call: ServiceCall): NamespaceRow | undefined {
  return call.services.database.get<NamespaceRow>(
    'SELECT path, id, uuid, custom_metadata FROM service_namespaces WHERE path = :path',
    { path: joined(call.namespace, namespaceName(call)) },
  );
}

function namespaceName({ name }: ServiceCall): string {
  return name.replace(/\/+$/, '');
}

function joined(namespace: string, name: string): string {
  return namespace === '' || name === '' ? namespace + name : `${namespace}/${name}`;
}

function documentOf(row: NamespaceRow): Record<string, unknown> {
  return {
    id: row.id,
    uuid: row.uuid,
    path: `${row.path}/`,
    custom_metadata: JSON.parse(row.custom_metadata),
    locked: false,
    tainted: false,
  };
}
