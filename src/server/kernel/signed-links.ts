/**
 * Links that contain their own permission. A signature is valid for one method, one path and one data file, for an hour. It is
 * in the path, because clients send no token to these addresses (wire/workspaces 6.3) and some replace the query (6.5).
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Database } from './database.ts';
import { notFound, tooLarge } from './documents.ts';
import type { Query } from './endpoint.ts';
import { answerRefusal } from './json-api.ts';
import { isSameMac, macOf } from './served-data-file.ts';
import type { Services } from './services.ts';

export type StorageMethod = 'GET' | 'PUT';

export const STORAGE_PREFIX = '/api/storage';

const LIFETIME_MS = 60 * 60 * 1000;

interface Target {
  readonly method: StorageMethod;
  /** Below the prefix. */
  readonly path: string;
}

/** The absolute link, valid for an hour from now; `origin` is `http://host:port`. */
export function signedLink({ database, now }: Services, origin: string, target: Target): string {
  const expires = String(now().getTime() + LIFETIME_MS);
  const signature = sign(database, target, expires).toString('base64url');
  return `${origin}${STORAGE_PREFIX}/${expires}/${signature}${target.path}`;
}

/** Below the prefix, the part before the path of a target. */
const SIGNATURE_PATH = '/:expires/:signature';

/** Whether a request has a signature for this target that has not expired. */
function isSigned(
  { database, now }: Services,
  target: Target,
  { expires, signature }: { readonly expires: string; readonly signature: string },
): boolean {
  const isOurs = isSameMac(Buffer.from(signature, 'base64url'), sign(database, target, expires));
  return isOurs && Number(expires) > now().getTime();
}

/** `expires` is in milliseconds since 1970, as in the link. */
function sign(database: Database, { method, path }: Target, expires: string): Buffer {
  return macOf(database, 'signed link', method, path, expires);
}

// Serves the files of signed links, piece by piece: a whole file is never in memory.
// Invariant: a request without the right signature learns nothing, not even whether the file exists: 404, before its body
// is read and before a fault is injected.

/** A file that clients download. */
export interface ServedFile {
  readonly method: 'GET';
  /** Below the prefix, with `:id` in it. */
  readonly path: string;
  /** @throws ApiError */
  readonly read: (services: Services, id: string, query: Query) => FileContent;
}

/** A file that clients upload. */
export interface UploadedFile {
  readonly method: 'PUT';
  /** Below the prefix, with `:id` in it. */
  readonly path: string;
  /** Called in a transaction before the body is read. @throws ApiError */
  readonly begin: (services: Services, id: string) => Receiver;
}

export type StoredFile = ServedFile | UploadedFile;

/** How many bytes a file has, and the bytes themselves. */
export interface FileContent {
  readonly size: number;
  readonly parts: Iterable<Buffer>;
}

/** Receives a file. `write` and `end` may refuse it by throwing an ApiError; then only `giveUp` is called. */
interface Receiver {
  write(bytes: Buffer): void;
  /** The whole file has been received. Called in a transaction. */
  end(): void;
  giveUp(): void;
}

/** 256 MiB. */
export const FILE_LIMIT_BYTES = 256 * 1024 * 1024;

interface SignedRequest {
  Params: { id: string; expires: string; signature: string };
  Querystring: Query;
}

/** Makes `app`, a scope with the prefix, serve these files. */
export function serveStorage(app: FastifyInstance, services: Services, files: readonly StoredFile[]): void {
  app.removeAllContentTypeParsers();
  // The body is not read here: the handler reads it.
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.setErrorHandler(answerRefusal);
  app.addHook('onRequest', async (request) => {
    if (request.is404) throw notFound('File');
  });
  // The hook above has already answered. This handler only makes unknown paths below the prefix part of this scope.
  app.setNotFoundHandler(() => {});
  for (const file of files) {
    app.route<SignedRequest>({
      method: file.method,
      url: `${SIGNATURE_PATH}${file.path}`,
      onRequest: async ({ params }) => {
        const path = file.path.replace(':id', params.id);
        if (!isSigned(services, { method: file.method, path }, params)) throw notFound('File');
      },
      handler: async ({ method, params, query, raw }, reply) => {
        if (file.method === 'GET')
          return sendFile(reply, file.read(services, params.id, query), method === 'HEAD');
        await receiveFile(services, raw, () => {
          if (Number(raw.headers['content-length']) > FILE_LIMIT_BYTES)
            throw tooLarge('file', FILE_LIMIT_BYTES);
          return file.begin(services, params.id);
        });
        return reply.code(200).send();
      },
    });
  }
}

function sendFile(reply: FastifyReply, { size, parts }: FileContent, isHead: boolean): FastifyReply {
  reply.type('application/octet-stream').header('content-length', size);
  return reply.send(isHead ? '' : Readable.from(parts, { highWaterMark: 1 }));
}

/** Receives an upload. A refused file is still read to its end: a client that is still sending would not get the answer. */
async function receiveFile(services: Services, body: Readable, begin: () => Receiver): Promise<void> {
  const { database } = services;
  let receiver: Receiver | undefined;
  let refusal: { readonly reason: unknown } | undefined;
  const attempt = (work: () => void): void => {
    try {
      if (refusal === undefined) work();
    } catch (reason) {
      refusal = { reason };
    }
  };
  attempt(() => {
    receiver = database.transaction(begin);
  });
  try {
    for await (const bytes of body) attempt(() => receiver?.write(bytes as Buffer));
    attempt(() => database.transaction(() => receiver?.end()));
  } catch (reason) {
    refusal = { reason };
  }
  if (refusal === undefined) return;
  receiver?.giveUp();
  throw refusal.reason;
}
