// An organization for tests: of the embedded service, or of a service with responses of the test, both over real HTTP.
// Invariant: the test calls `close`, which closes everything.
import { createServer } from 'node:http';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Session } from '../../../../src/model/kind.ts';
import type { Target } from '../../../../src/model/stack.ts';
import type { Answer, WriteMethod } from '../../../../src/model/http.ts';
import type { OrganizationSeed } from '../../../../src/server/seed/seed-schema.ts';
import { smallSeed, startService } from '../../rig/embedded-service.ts';
import { startListening } from '../../rig/listen.ts';
import { connect } from '../open-connection.ts';

export interface Organization {
  readonly session: Session;
  /** requests as `GET /organizations/acme/workspaces?sort=name…`, decoded and below the root of the API, in the order of responses */
  readonly seen: string[];
  /** opens a new session, as a new run does */
  newSession(): Session;
  send(method: WriteMethod, path: string, body?: JsonObject): Promise<Answer>;
  close(): Promise<void>;
}

const token = 'owner-token';

/** The embedded service with one organization, read and written by one of its owners. */
export async function openEmbeddedOrganization(
  seed: Partial<OrganizationSeed> = {},
  target: Partial<Target> = {},
): Promise<Organization> {
  const seen: string[] = [];
  const server = await startService({
    seed: smallSeed({ owners: { owner: token }, organization: seed }),
    onRequest: ({ method, url }) => seen.push(line(method, url)),
  });
  return organizationAt(server.url, { target, seen, stop: () => server.close() });
}

export interface Canned {
  readonly status: number;
  readonly body?: unknown;
}

/** A service with the responses of `answer`, for a line such as `GET /workspaces/ws-1`. */
export async function openCannedOrganization(
  answer: (line: string) => Canned,
  target: Partial<Target> = {},
): Promise<Organization> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const asked = line(request.method ?? '', request.url ?? '');
    seen.push(asked);
    const { status, body } = answer(asked);
    response.writeHead(status, { 'content-type': 'application/vnd.api+json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  });
  const { url, close } = await startListening(server);
  return organizationAt(url, { target, seen, stop: close });
}

function line(method: string, url: string): string {
  return `${method} ${decodeURIComponent(url).replace('/api/v2', '')}`;
}

interface Opened {
  readonly target: Partial<Target>;
  readonly seen: string[];
  readonly stop: () => Promise<void>;
}

function organizationAt(url: string, { target: about, seen, stop }: Opened): Organization {
  const target: Target = {
    name: 'acme',
    service: 'workspaces',
    url,
    dialect: 'neutral',
    organization: 'acme',
    requestsPerSecond: 10_000,
    ...about,
  };
  const { openSession, writer, close } = connect(url, target, token);
  return {
    session: openSession(),
    seen,
    newSession: openSession,
    send: (method, path, body) =>
      writer.send({ method, path, repeatable: false, ...(body === undefined ? {} : { body }) }),
    async close() {
      await close();
      await stop();
    },
  };
}
