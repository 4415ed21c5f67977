/**
 * How a server proves that it serves a data file, before anyone sends it a token: it answers a challenge with a MAC
 * under a key that stands in the data file alone.
 * Invariants: whoever listens where a server once was learns nothing but a random challenge. An answer holds for one
 * challenge, one URL and one file: it cannot be replayed, nor fetched from the real server, which has another URL, and
 * the server of a copied file proves nothing for the original.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';

import type { FastifyInstance } from 'fastify';

import { Database, IN_MEMORY } from './database.ts';

const PATH = '/served-data-file';
const PROOF_HEADER = 'x-served-data-file';

/** A server on this machine that is well answers in milliseconds; for another one nobody should wait. */
const PATIENCE_MS = 2000;

/** Makes `app` prove to whoever can read the data file that it serves it. Data in memory is nobody's to look for. */
export function serveProof(app: FastifyInstance, database: Database, dataFile: string): void {
  if (dataFile === IN_MEMORY) return;
  const file = identityOf(dataFile);
  app.get<{ Querystring: { challenge?: unknown } }>(PATH, (request, reply) => {
    const { challenge } = request.query;
    if (typeof challenge !== 'string' || !/^[0-9a-f]{64}$/.test(challenge)) return reply.code(400).send();
    const address = app.server.address();
    const url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
    const proof = proofOf(proofKey(database), { challenge, url, file });
    return reply.code(204).header(PROOF_HEADER, proof.toString('hex')).send();
  });
}

/** Whether the one who listens at this URL serves this very file. */
export async function isServedAt(dataFile: string, url: string): Promise<boolean> {
  const challenge = randomBytes(32).toString('hex');
  const answer = await ask(`${url}${PATH}?challenge=${challenge}`);
  if (answer === undefined) return false;
  const database = Database.open(dataFile);
  try {
    const expected = proofOf(proofKey(database), { challenge, url, file: identityOf(dataFile) });
    const given = Buffer.from(answer, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  } finally {
    database.close();
  }
}

/** A header, because a stranger's body may have no end. */
async function ask(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    void answer.body?.cancel().catch(() => {});
    return answer.headers.get(PROOF_HEADER) ?? undefined;
  } catch {
    return undefined;
  }
}

interface ServingClaim {
  readonly challenge: string;
  readonly url: string;
  readonly file: string;
}

function proofOf(key: string, { challenge, url, file }: ServingClaim): Buffer {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([challenge, url, file]))
    .digest();
}

function proofKey(database: Database): string {
  const row = database.get<{ proof_key: string }>('SELECT proof_key FROM data_file');
  if (row === undefined) throw new Error('the data file has lost its key');
  return row.proof_key;
}

/** The file itself, whatever path leads to it. */
function identityOf(dataFile: string): string {
  const { dev, ino } = statSync(dataFile, { bigint: true });
  return `${dev}:${ino}`;
}
