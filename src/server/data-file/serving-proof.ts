/**
 * How a server proves that it serves a data file, and in which dialects, before anyone sends it a token: it answers a
 * challenge with a MAC under a key that stands in the data file alone.
 * Invariants: whoever listens where a server once was learns nothing but a random challenge. An answer holds for one
 * challenge, one URL and one file: it cannot be replayed, nor fetched from the real server, which has another URL, and
 * the server of a copied file proves nothing for the original.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';

import type { FastifyInstance } from 'fastify';

import type { ServedDialects } from '../dialects.ts';
import type { Services } from '../services.ts';
import { Database, IN_MEMORY } from './database.ts';

/** Where a server proves itself. */
export const PROOF_PATH = '/served-data-file';
const PROOF_HEADER = 'x-served-data-file';
const DIALECTS_HEADER = 'x-served-dialects';

/** A server on this machine that is well answers in milliseconds; for another one nobody should wait. */
const PATIENCE_MS = 2000;

/** Makes `app` prove to whoever can read the data file that it serves it. Data in memory is nobody's to look for. */
export function serveProof(app: FastifyInstance, services: Services, dataFile: string): void {
  if (dataFile === IN_MEMORY) return;
  const dialects = dialectsText(services.dialects);
  const file = identityOf(dataFile);
  app.get<{ Querystring: { challenge?: unknown } }>(PROOF_PATH, (request, reply) => {
    const { challenge } = request.query;
    if (typeof challenge !== 'string' || !/^[0-9a-f]{64}$/.test(challenge)) return reply.code(400).send();
    const address = app.server.address();
    const url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
    const proof = proofOf(proofKey(services.database), { challenge, url, file, dialects });
    return reply
      .code(204)
      .header(PROOF_HEADER, proof.toString('hex'))
      .header(DIALECTS_HEADER, dialects)
      .send();
  });
}

/** The names of the dialects of the one who listens at this URL; undefined unless it serves this very file. */
export async function dialectsServedAt(dataFile: string, url: string): Promise<DialectNames | undefined> {
  const challenge = randomBytes(32).toString('hex');
  const answer = await ask(`${url}${PROOF_PATH}?challenge=${challenge}`);
  if (answer === undefined) return undefined;
  const database = Database.open(dataFile);
  try {
    const { dialects } = answer;
    const expected = proofOf(proofKey(database), { challenge, url, file: identityOf(dataFile), dialects });
    const given = Buffer.from(answer.proof, 'hex');
    const proved = given.length === expected.length && timingSafeEqual(given, expected);
    return proved ? dialectNamesIn(dialects) : undefined;
  } finally {
    database.close();
  }
}

/** Headers, because a stranger's body may have no end. */
async function ask(url: string): Promise<{ proof: string; dialects: string } | undefined> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    void answer.body?.cancel().catch(() => {});
    const [proof, dialects] = [answer.headers.get(PROOF_HEADER), answer.headers.get(DIALECTS_HEADER)];
    return proof === null || dialects === null ? undefined : { proof, dialects };
  } catch {
    return undefined;
  }
}

/** One for each API. */
export interface DialectNames {
  readonly workspaces: string;
  readonly clusterAuth: string;
}

function dialectsText({ workspaces, clusterAuth }: ServedDialects): string {
  return `${workspaces.name} ${clusterAuth.name}`;
}

function dialectNamesIn(text: string): DialectNames {
  const [workspaces = '', clusterAuth = ''] = text.split(' ');
  return { workspaces, clusterAuth };
}

interface ServingClaim {
  readonly challenge: string;
  readonly url: string;
  readonly file: string;
  readonly dialects: string;
}

function proofOf(key: string, { challenge, url, file, dialects }: ServingClaim): Buffer {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([challenge, url, file, dialects]))
    .digest();
}

/** The key that only those know who can read the data file. */
export function proofKey(database: Database): string {
  const row = database.get<{ proof_key: string }>('SELECT proof_key FROM data_file');
  if (row === undefined) throw new Error('the data file has lost its key');
  return row.proof_key;
}

/** The file itself, whatever path leads to it. */
function identityOf(dataFile: string): string {
  const { dev, ino } = statSync(dataFile, { bigint: true });
  return `${dev}:${ino}`;
}
