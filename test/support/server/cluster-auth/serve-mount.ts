// A running service with two mounts and a few tokens, and a client over real HTTP.
// Invariant: `close` closes all connections and removes all files.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Database } from '../../../../src/server/kernel/database.ts';
import type { PolicyRule } from '../../../../src/server/cluster-auth/policy-rules.ts';
import { startServer } from '../../../../src/server/start-server.ts';

export interface Reply {
  readonly status: number;
  /** The parsed JSON; undefined for an empty body. */
  readonly body: unknown;
  readonly headers: Headers;
}

export interface RequestOptions {
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
}

export interface ServedMount {
  readonly url: string;
  /** Sends to `/v1/auth/<path>`; an object is sent as JSON, a string or bytes unchanged. */
  send(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Reply>;
  /** The audit trail's rows, oldest first. */
  auditEvents(): Record<string, unknown>[];
  close(): Promise<void>;
}

export const ROOT = 'root-token';

/** The policies. Each token has the name and the text of its only policy. */
const RULES: Record<string, PolicyRule[]> = {
  reader: [{ path: 'auth/cluster/*', capabilities: ['read', 'list'] }],
  creator: [{ path: 'auth/cluster/role/*', capabilities: ['create', 'read'] }],
  updater: [{ path: 'auth/cluster/role/*', capabilities: ['update', 'read'] }],
  lister: [{ path: 'auth/cluster/role', capabilities: ['list'] }],
  'slash-lister': [{ path: 'auth/cluster/role/', capabilities: ['list'] }],
  'web-only': [
    { path: 'auth/cluster/role/+', capabilities: ['deny'] },
    { path: 'auth/cluster/role/web', capabilities: ['create', 'read', 'update', 'delete'] },
  ],
  powerless: [],
};

const SEED = {
  organizations: [{ name: 'acme' }],
  mounts: ['cluster', 'team/cluster'],
  policies: Object.entries(RULES).map(([name, rules]) => ({ name, rules })),
  'service-tokens': [
    { token: ROOT, name: 'operator', policies: ['root'] },
    ...Object.keys(RULES).map((name) => ({ token: name, name, policies: [name] })),
  ],
};

/** Starts the service with the mounts `cluster` and `team/cluster`, both without config and roles. */
export async function serveMount(): Promise<ServedMount> {
  const folder = await mkdtemp(join(tmpdir(), 'trueup-mount-'));
  const data = join(folder, 'service.db');
  const server = await startServer({ data, seed: SEED });
  return {
    url: server.url,
    send: (method, path, body, options = {}) => send(`${server.url}/v1/auth/${path}`, method, body, options),
    auditEvents: () => readAuditEvents(data),
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function readAuditEvents(data: string): Record<string, unknown>[] {
  const database = Database.open(data);
  try {
    return database.all('SELECT * FROM audit_events ORDER BY position');
  } finally {
    database.close();
  }
}

async function send(url: string, method: string, body: unknown, options: RequestOptions): Promise<Reply> {
  const token = options.token === undefined ? ROOT : options.token;
  const response = await fetch(url, {
    method,
    headers: { ...(token === null ? {} : { 'x-service-token': token }), ...options.headers },
    ...(body === undefined ? {} : { body: isSentAsIs(body) ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: response.headers,
  };
}

function isSentAsIs(body: unknown): body is string | Buffer<ArrayBuffer> {
  return typeof body === 'string' || Buffer.isBuffer(body);
}

/** The `data` of a success. */
export function dataOf(reply: Reply): Record<string, unknown> {
  const { data } = reply.body as { data: Record<string, unknown> };
  return data;
}

/** An error's status and texts in one value, as tests compare them. */
export function errorOf(reply: Reply): { status: number; errors: string[] } {
  const { errors } = reply.body as { errors: string[] };
  return { status: reply.status, errors };
}
