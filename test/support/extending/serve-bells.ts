// A service that trueup does not know: it serves bells, and passes all other requests on to the embedded service.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { startServer } from '../../../src/server/start-server.ts';
import { startListening } from '../rig/listen.ts';

export interface BellService {
  readonly url: string;
  /** the token of an owner of the organization `acme` */
  readonly token: string;
  /** as the service stores them, by name */
  readonly bells: Map<string, unknown>;
  close(): Promise<void>;
}

export async function serveBells(): Promise<BellService> {
  const token = 'owner-token';
  const behind = await startServer({
    data: ':memory:',
    seed: {
      users: [{ username: 'ringer', token }],
      organizations: [{ name: 'acme', teams: [{ name: 'owners', members: ['ringer'] }] }],
    },
  });
  const bells = new Map<string, unknown>();
  const server = createServer((request, response) => {
    const path = /^\/api\/v2\/bells(?:\/(?<name>\w+))?$/.exec(request.url ?? '');
    const answered =
      path === null
        ? passOn(behind.url, request, response)
        : ring(bells, path.groups?.['name'], request, response);
    answered.catch((error: Error) => response.writeHead(500).end(error.message));
  });
  const front = await startListening(server);
  return {
    url: front.url,
    token,
    bells,
    async close() {
      await front.close();
      await behind.close();
    },
  };
}

async function ring(
  bells: Map<string, unknown>,
  name: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'PUT' && name !== undefined) bells.set(name, await json(request));
  if (request.method === 'DELETE' && name !== undefined) bells.delete(name);
  const found = name === undefined ? Object.fromEntries(bells) : bells.get(name);
  if (request.method === 'DELETE') response.writeHead(204).end();
  else if (found === undefined) response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
}

async function passOn(base: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = request;
  const body = await text(request);
  const answer = await fetch(`${base}${request.url}`, {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      'content-type': headers['content-type'] ?? 'application/vnd.api+json',
    },
    ...(body === '' ? {} : { body }),
  });
  const type = answer.headers.get('content-type');
  response.writeHead(answer.status, type === null ? {} : { 'content-type': type }).end(await answer.text());
}
