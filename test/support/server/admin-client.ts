// A client of the admin API of an embedded service, like that of a user's own tests.

import { sendRaw } from './send-raw.ts';
import { serveForTest, type TestAnswer, type TestClient } from './serve-for-test.ts';
import type { ServerOptions } from '../../../src/server/start-server.ts';

export const ADMIN_TOKEN = 'planted-admin-token-71c4';

export interface AdminBench {
  readonly api: TestClient;
  /** `path` is below /admin; the body is sent as JSON. */
  admin(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  /** Creates a fault. @returns its id */
  fault(fault: Readonly<Record<string, unknown>>): Promise<string>;
}

export async function serveWithAdmin(options: Partial<ServerOptions> = {}): Promise<AdminBench> {
  const api = await serveForTest({ admin: { token: ADMIN_TOKEN }, ...options });
  const admin: AdminBench['admin'] = (method, path, body, headers = {}) =>
    sendRaw(`${api.url}/admin${path}`, method, {
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    api,
    admin,
    fault: async (fault) => {
      const answer = await admin('POST', '/faults', fault);
      if (answer.status !== 201) throw new Error(`the fault was refused: ${answer.text}`);
      return (JSON.parse(answer.text) as { id: string }).id;
    },
  };
}
