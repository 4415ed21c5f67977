/**
 * What clients are told before they send anything: where the API of a host is, and which service and version they
 * speak to (wire/workspaces 1.6).
 * Invariant: only a dialect whose clients ask for it is told so; the others answer 404 and send no such header.
 */
import type { FastifyInstance } from 'fastify';

import type { Services } from './services.ts';

/** Serves the document of discovery, without asking for a token, where the dialect has one. @returns its path */
export function serveDiscovery(app: FastifyInstance, { dialects }: Services): string | undefined {
  const { greeting } = dialects.workspaces;
  if (greeting === undefined) return undefined;
  const document = JSON.stringify(greeting.services);
  app.get(greeting.path, (_request, reply) => reply.type('application/json').send(document));
  return greeting.path;
}

/** The headers of every answer of the API, refusals included: clients read them whatever the status is. */
export function serviceHeaders({ dialects, edition }: Services): Readonly<Record<string, string>> {
  const { greeting } = dialects.workspaces;
  return { ...greeting?.headers, ...(edition.hosted ? greeting?.hostedHeaders : {}) };
}
