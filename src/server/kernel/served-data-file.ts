/**
 * Which server serves a data file. A server proves it before a client sends a token: with a MAC under a key that only the data
 * file has. A proof is valid for one challenge, one URL and one file. Only one server at a time serves a file.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { FastifyInstance } from 'fastify';
import { createPrivate, Database, DataFileError, IN_MEMORY, loadSqlite } from './database.ts';
import type { ServedDialects } from './dialects.ts';
import type { Services } from './services.ts';

/** The path at which a server proves that it serves the data file. */
export const PROOF_PATH = '/served-data-file';
const PROOF_HEADER = 'x-served-data-file';
const DIALECTS_HEADER = 'x-served-dialects';

/** A healthy server on this machine answers in milliseconds. */
const TIMEOUT_MS = 2000;

/** Lets `app` prove, to a client that can read the data file, that it serves this file. Data in memory has no such client. */
export function serveProof(app: FastifyInstance, services: Services, dataFile: string): void {
  if (dataFile === IN_MEMORY) return;
  const dialects = dialectsText(services.dialects);
  const file = identityOf(dataFile);
  app.get<{ Querystring: { challenge?: unknown } }>(PROOF_PATH, (request, reply) => {
    const { challenge } = request.query;
    if (typeof challenge !== 'string' || !/^[0-9a-f]{64}$/.test(challenge)) return reply.code(400).send();
    const address = app.server.address();
    const url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
    const proof = macOf(services.database, challenge, url, file, dialects);
    return reply
      .code(204)
      .header(PROOF_HEADER, proof.toString('hex'))
      .header(DIALECTS_HEADER, dialects)
      .send();
  });
}

/** The names of the dialects of the server at this URL; undefined unless it serves this data file. */
export async function dialectsServedAt(dataFile: string, url: string): Promise<DialectNames | undefined> {
  const challenge = randomBytes(32).toString('hex');
  const answer = await ask(`${url}${PROOF_PATH}?challenge=${challenge}`);
  if (answer === undefined) return undefined;
  const database = Database.open(dataFile);
  try {
    const { dialects } = answer;
    const expected = macOf(database, challenge, url, identityOf(dataFile), dialects);
    return isSameMac(Buffer.from(answer.proof, 'hex'), expected) ? dialectNamesIn(dialects) : undefined;
  } finally {
    database.close();
  }
}

/** Asks a server for its proof, which is in headers, because the body of an unknown server may be endless. */
async function ask(url: string): Promise<{ proof: string; dialects: string } | undefined> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    void answer.body?.cancel().catch(() => {});
    const [proof, dialects] = [answer.headers.get(PROOF_HEADER), answer.headers.get(DIALECTS_HEADER)];
    return proof === null || dialects === null ? undefined : { proof, dialects };
  } catch {
    return undefined;
  }
}

/** The dialect of each API. */
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

/** A MAC of these texts under the key of the data file. */
export function macOf(database: Database, ...texts: readonly string[]): Buffer {
  return createHmac('sha256', Buffer.from(proofKey(database), 'hex'))
    .update(JSON.stringify(texts))
    .digest();
}

/** Compares MACs in constant time. */
export function isSameMac(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The key, which is known only to readers of the data file. */
function proofKey(database: Database): string {
  const row = database.get<{ proof_key: string }>('SELECT proof_key FROM data_file');
  if (row === undefined) throw new Error('the data file has lost its key');
  return row.proof_key;
}

/** Identifies the file independently of its path. */
function identityOf(dataFile: string): string {
  const { dev, ino } = statSync(dataFile, { bigint: true });
  return `${dev}:${ino}`;
}

// A data file has at most one server, for as long as that server runs.
// Invariant: the lock is SQLite's own, on a file beside the data file. The system frees it when its holder ends in any way, and a
// paused holder keeps it. The lock file is never removed: otherwise two servers could hold the lock.

/** This process holds the file until it calls `release`, or another server holds it. */
type Hold = { release(): void } | { readonly heldBy: Holder };

interface Holder {
  /** The id of its process; undefined if unknown. */
  readonly pid: number | undefined;
}

/**
 * Locks the data file, so that only this process, `pid`, serves it.
 * @throws DataFileError when it cannot be opened
 */
export function holdDataFile(dataFile: string, pid: number): Hold {
  const database = Database.open(dataFile);
  try {
    const lock = takeLock(`${dataFile}.lock`);
    if (lock === undefined) return { heldBy: { pid: lastServer(database) } };
    database.run('UPDATE data_file SET served_by_pid = :pid', { pid });
    return { release: () => lock.close() };
  } finally {
    database.close();
  }
}

function lastServer(database: Database): number | undefined {
  const row = database.get<{ pid: number | null }>('SELECT served_by_pid AS pid FROM data_file');
  return row?.pid ?? undefined;
}

const SQLITE_BUSY = 5;

/** The lock; undefined when another server has it, in this process or in another one. */
function takeLock(file: string): DatabaseSync | undefined {
  const { DatabaseSync: Sqlite } = loadSqlite();
  let lock: DatabaseSync | undefined;
  try {
    createPrivate(file);
    lock = new Sqlite(file, { timeout: 0 });
    // a transaction that writes nothing and never ends
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw new DataFileError(file, error);
  }
}
