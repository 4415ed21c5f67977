/**
 * Links that carry their own permission. A signature holds for one method and one path of one data file, and for an hour. It is
 * in the path, because clients send no token to these addresses (wire/workspaces 6.3) and some replace the query (6.5).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Database } from './database.ts';
import { notFound } from './documents.ts';
import type { Query } from './endpoint.ts';
import { answerRefusal } from './json-api.ts';
import { proofKey } from './served-data-file.ts';
import type { Services } from './services.ts';

export type StorageMethod = 'GET' | 'PUT';

export const STORAGE_PREFIX = '/api/storage';

const LIFETIME_MS = 60 * 60 * 1000;

interface Target {
  readonly method: StorageMethod;
  /** Below the prefix. */
  readonly path: string;
}

/** The absolute link, good for an hour from now; `origin` is `http://host:port`. */
export function signedLink({ database, now }: Services, origin: string, target: Target): string {
  const expires = String(now().getTime() + LIFETIME_MS);
  const signature = sign(database, target, expires).toString('base64url');
  return `${origin}${STORAGE_PREFIX}/${expires}/${signature}${target.path}`;
}

/** Below the prefix, what stands before the path of a target. */
const SIGNATURE_PATH = '/:expires/:signature';

/** Whether a request has a signature for this target that has not expired. */
function isSigned(
  { database, now }: Services,
  target: Target,
  { expires, signature }: { readonly expires: string; readonly signature: string },
): boolean {
  const given = Buffer.from(signature, 'base64url');
  const expected = sign(database, target, expires);
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  return isOurs && Number(expires) > now().getTime();
}

/** `expires` is in milliseconds since 1970, as it stands in the link. */
function sign(database: Database, { method, path }: Target, expires: string): Buffer {
  return createHmac('sha256', Buffer.from(proofKey(database), 'hex'))
    .update(JSON.stringify(['signed link', method, path, expires]))
    .digest();
}

// Serves the files behind signed links.
// Invariant: a request without the right signature learns nothing, not even whether the file exists: 404, before its body
// is read and before it meets any fault.

export interface StoredFile {
  readonly method: StorageMethod;
  /** Below the prefix, with `:id` in it. */
  readonly path: string;
  /** Gives the file, takes it (and gives nothing), or refuses by throwing an ApiError. */
  readonly handler: (services: Services, id: string, sent: Sent) => string | undefined;
}

interface Sent {
  readonly body: Buffer;
  readonly query: Query;
}

interface SignedRequest {
  Params: { id: string; expires: string; signature: string };
  Querystring: Query;
}

/** Makes `app`, a scope with the prefix, serve these files. */
export function serveStorage(app: FastifyInstance, services: Services, files: readonly StoredFile[]): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler(answerRefusal);
  app.addHook('onRequest', async (request) => {
    if (request.is404) throw notFound('File');
  });
  // The hook above has answered; this makes the paths below the prefix that nothing serves part of this scope.
  app.setNotFoundHandler(() => {});
  for (const { method, path, handler } of files) {
    app.route<SignedRequest>({
      method,
      url: `${SIGNATURE_PATH}${path}`,
      onRequest: async ({ params }) => {
        const asked = path.replace(':id', params.id);
        if (!isSigned(services, { method, path: asked }, params)) throw notFound('File');
      },
      handler: (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const { params, query } = request;
        const file = services.database.transaction(() => handler(services, params.id, { body, query }));
        if (file === undefined) return reply.code(200).send();
        return reply.type('application/octet-stream').send(file);
      },
    });
  }
}
