/**
 * Serves the files behind signed links.
 * Invariant: a request without the right signature learns nothing, not even whether the file exists: 404, before its body
 * is read and before it meets any fault.
 */
import type { FastifyInstance } from 'fastify';

import { answerRefusal } from '../json-api/api-scope.ts';
import { notFound } from '../json-api/errors.ts';
import type { Query } from '../json-api/query.ts';
import type { Services } from '../services.ts';
import { isSigned, SIGNATURE_PATH, type StorageMethod } from './signed-link.ts';

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
