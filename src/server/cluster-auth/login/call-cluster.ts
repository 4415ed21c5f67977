/**
 * One call to the API of the cluster whose accounts log in.
 * Invariants: bounded in time and size, whatever answers; over TLS only the given authorities are trusted; redirects are
 * not followed; a failure says nothing about where or why, because its text may reach a stranger who logs in.
 */
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';

import { readClusterUrl } from './cluster-url.ts';

export interface ClusterApi {
  /** What stands before each path: a URL, without a slash at its end. */
  readonly base: string;
  /** Authorities in PEM; undefined are those of this machine, an empty text is none at all. */
  readonly authorities: string | undefined;
  /** How long a call may take as a whole, in milliseconds. */
  readonly patienceMs: number;
}

interface ClusterRequest {
  readonly method: 'GET' | 'POST';
  /** Behind the base, with a leading slash. */
  readonly path: string;
  readonly bearer: string;
  readonly body?: string;
}

interface ClusterAnswer {
  readonly status: number;
  readonly text: string;
}

/** An answer to what is asked here has some hundred bytes. */
const LONGEST_ANSWER = 1024 * 1024;

/** Asks; undefined when there was no whole answer in time. */
export async function callCluster(
  api: ClusterApi,
  asked: ClusterRequest,
): Promise<ClusterAnswer | undefined> {
  try {
    return await exchange(api, asked);
  } catch {
    return undefined;
  }
}

function exchange(api: ClusterApi, asked: ClusterRequest): Promise<ClusterAnswer> {
  const url = readClusterUrl(api.base + asked.path);
  if (url === undefined) throw new TypeError('the cluster has no URL');
  const request = { 'http:': requestPlain, 'https:': requestTls }[url.protocol];
  return new Promise((resolve, reject) => {
    const call = request({
      ...url,
      method: asked.method,
      agent: false,
      // Said aloud, for else a variable of the environment could take it away.
      rejectUnauthorized: true,
      signal: AbortSignal.timeout(api.patienceMs),
      ...(api.authorities === undefined ? {} : { ca: api.authorities === '' ? [] : api.authorities }),
      headers: {
        authorization: `Bearer ${asked.bearer}`.trimEnd(),
        'content-type': 'application/json',
        accept: 'application/json',
        ...(asked.body === undefined ? {} : { 'content-length': Buffer.byteLength(asked.body) }),
      },
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > LONGEST_ANSWER) response.destroy(new RangeError('the answer is too long'));
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    call.end(asked.body);
  });
}
