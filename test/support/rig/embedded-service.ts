/** The embedded service for most tests: one organization, one mount, and tokens that may do everything in both. */
import type { OrganizationSeed, Seed } from '../../../src/server/seed/seed-schema.ts';
import {
  type RunningServer,
  type ServedRequest,
  type ServerOptions,
  startServer,
} from '../../../src/server/start-server.ts';
import { withDialectUnderTest } from './dialect-under-test.ts';

export interface SmallSeed {
  /** tokens of the owners of the organization `acme`, by their names */
  readonly owners: Readonly<Record<string, string>>;
  /** a token that may do everything in the mount `cluster` */
  readonly serviceToken?: string;
  /** further members of the organization */
  readonly organization?: Partial<OrganizationSeed>;
}

export function smallSeed({ owners, serviceToken, organization = {} }: SmallSeed): Seed {
  const { teams = [], ...more } = organization;
  return {
    users: Object.entries(owners).map(([username, token]) => ({ username, token })),
    organizations: [
      { name: 'acme', ...more, teams: [{ name: 'owners', members: Object.keys(owners) }, ...teams] },
    ],
    ...(serviceToken === undefined
      ? {}
      : { mounts: ['cluster'], 'service-tokens': [{ token: serviceToken, policies: ['root'] }] }),
  };
}

export interface EmbeddedService extends RunningServer {
  /** all requests, in the order of their responses */
  readonly requests: ServedRequest[];
}

/** Starts it on a free port; by default in memory and in the dialect under test. */
export async function startService(options: Partial<ServerOptions>): Promise<EmbeddedService> {
  const requests: ServedRequest[] = [];
  const server = await startServer({
    data: ':memory:',
    ...options,
    dialects: withDialectUnderTest(options.dialects),
    onRequest: (request) => {
      requests.push(request);
      options.onRequest?.(request);
    },
  });
  return { ...server, requests };
}
