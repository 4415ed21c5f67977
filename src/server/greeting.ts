/**
 * What clients are told before they send anything: where the API of a host is (`/.well-known/terraform.json`), and which
 * service and version they speak to (wire/workspaces 1.6).
 * Invariant: only a dialect whose clients ask for it is told so; the others answer 404 and send no such header.
 */
import type { FastifyInstance } from 'fastify';

import type { Services } from './services.ts';

/** Where clients look, before they have a token to show. */
export const DISCOVERY_PATH = '/.well-known/terraform.json';

/** Serves the document of discovery, where the dialect has one. @returns whether it does */
export function serveDiscovery(app: FastifyInstance, { dialects }: Services): boolean {
  const { greeting } = dialects.workspaces;
  if (greeting === undefined) return false;
  const document = JSON.stringify(greeting.services);
  app.get(DISCOVERY_PATH, (_request, reply) => reply.type('application/json').send(document));
  return true;
}

/** The headers of every answer of the API, refusals included: clients read them whatever the status is. */
export function greetingHeaders({ dialects, edition }: Services): Readonly<Record<string, string>> {
  const { greeting } = dialects.workspaces;
  return { ...greeting?.headers, ...(edition.hosted ? greeting?.hostedHeaders : {}) };
}
