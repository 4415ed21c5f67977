/**
 * HTTP as the rest of the program sees it. A `Reader` cannot write, so planning cannot change anything. Every response (`Answer`)
 * is returned as a value, with any status; only a service that cannot be reached causes a throw. Waits end when a signal aborts them.
 */
import type { Json, JsonObject } from './json.ts';

export type WriteMethod = 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface Answer {
  readonly method: string;
  /** the full URL, for messages; holds no secret */
  readonly url: string;
  readonly status: number;
  /** parsed JSON, names translated to `neutral`; null when empty or not JSON */
  readonly body: Json;
  /** the service's own words about a failure, joined to one line; empty on success */
  readonly words: string;
  /** the service's warnings about a successful request; absent when there are none */
  readonly warnings?: readonly string[];
  readonly requestId?: string;
  /**
   * An earlier attempt of the same write reached the service or its proxy. That attempt may have been carried out, and this
   * response may be a consequence of it.
   */
  readonly repeated?: true;
  /** The response identifies the service as the hosted edition of its dialect. */
  readonly hosted?: true;
  /** for a write: it may be sent again; absent when this response is final */
  readonly again?: NextAttempt;
}

/** The earlier attempts of one request. */
export interface AttemptHistory {
  /** attempts that were not answered with a 429 */
  readonly faults: number;
  /** attempts that were answered with a 429 */
  readonly throttled: number;
  /** milliseconds that count towards the time limit of all attempts */
  readonly spent: number;
  /** a refused token was replaced once */
  readonly hasNewToken?: true;
}

/** Allows another attempt of a write. The resource must be read again before it is sent. */
export interface NextAttempt {
  readonly history: AttemptHistory;
  /** Waits as long as the service asks, or as failures require. @throws WireError when the run is stopped meanwhile */
  wait(): Promise<void>;
}

export interface Reader {
  /**
   * @param path relative to the API root, already encoded, with query: `/organizations/acme/workspaces?page%5Bsize%5D=100`
   * @param begins called when the request is sent, after all waits, and again when it is repeated
   */
  get(path: string, begins?: () => void): Promise<Answer>;
  /** the verb LIST of the secrets service */
  list(path: string): Promise<Answer>;
}

/** What a token may do, according to its service. */
export type TokenRights =
  /** capabilities by path below the API root: `auth/cluster/role/web` → `create`, `update`; missing paths are unknown */
  | { readonly is: 'known'; readonly on: ReadonlyMap<string, ReadonlySet<string>> }
  | { readonly is: 'unknown'; readonly why: string };

export interface Writer {
  /**
   * Sends one request once, unchanged (wire names, secrets resolved). A response or a WireError with `again` allows another attempt:
   * always after a 429, otherwise only if the request is `repeatable`.
   */
  send(request: WireRequest): Promise<Answer>;
}

export interface WireRequest {
  readonly method: WriteMethod;
  readonly path: string;
  readonly body?: JsonObject;
  readonly repeatable: boolean;
  /** values in the body that no message may show, even when the service returns them */
  readonly secrets?: readonly string[];
  /** Called just before the request is sent: if it rejects, nothing is sent. */
  readonly permit?: () => Promise<void>;
  /** Once aborted, the request is not sent; a request in flight continues. */
  readonly stop?: AbortSignal;
  /** the history of the earlier attempts, as the last one returned it */
  readonly history?: AttemptHistory;
}

/** The service could not be reached, or its response was lost. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly method: string;
  readonly url: string;
  /** true when the request may have been carried out although no response came */
  readonly sent: boolean;
  /** for a write: it may be sent again; absent when the failure is final */
  readonly again?: NextAttempt;
  constructor(
    message: string,
    about: { method: string; url: string; sent: boolean; cause?: unknown; again?: NextAttempt | undefined },
  ) {
    super(message, { cause: about.cause });
    this.method = about.method;
    this.url = about.url;
    this.sent = about.sent;
    if (about.again !== undefined) this.again = about.again;
  }
}

/** Whether a secrets service refuses every request because it is sealed: that lasts until a person unseals it (wire/cluster-auth 2.1). */
export function isSealed({ status, words }: Pick<Answer, 'status' | 'words'>): boolean {
  return status === 503 && /\bis sealed\b/i.test(words);
}

/** `GET https://… answered 403: permission denied (request 7f…)` */
export function describeAnswer(answer: Answer): string {
  const words = answer.words === '' ? unexpectedForm(answer) : `: ${answer.words}`;
  const request = answer.requestId === undefined ? '' : ` (request ${answer.requestId})`;
  return `${answer.method} ${answer.url} answered ${answer.status}${words}${request}`;
}

/** For a successful response that could not be used: describes the unexpected form of its body. */
function unexpectedForm({ status, body }: Answer): string {
  if (status < 200 || status >= 300) return '';
  const form = body === null ? 'an empty body' : Array.isArray(body) ? 'a list' : 'an unexpected body';
  return ` with ${form}, which is not a valid response; check that the target's "url" is the service itself`;
}

// Waits for work until a signal aborts the wait. The work itself continues, and its result is ignored.

/** @returns the result of the work. @throws the signal's reason once it is aborted, unless the work had ended before */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

const joinedSignals = new WeakMap<AbortSignal, WeakMap<AbortSignal, AbortSignal>>();

/** A signal that aborts with either of two, and is made once: Node keeps it for as long as them, and all requests of a run need it. */
export function joinSignals(one: AbortSignal, other: AbortSignal): AbortSignal {
  const known = joinedSignals.get(one) ?? new WeakMap<AbortSignal, AbortSignal>();
  const joined = known.get(other) ?? AbortSignal.any([one, other]);
  joinedSignals.set(one, known.set(other, joined));
  return joined;
}

// Whether an address sends a token where others may read it: by plain HTTP to a host outside of this machine and of private networks.

const privateNames = /^[^.]+$|(?:^|\.)(?:localhost|internal|local|lan|home\.arpa)$/;
const privateV4 = /^(?:127|10)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./;
const privateV6 = /^\[(?:::1\]|f[cd]|fe[89ab])/;

/** @param url of a target; `embedded` sends nothing over a network */
export function sendsInClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:') return false;
  if (hostname.startsWith('[')) return !privateV6.test(hostname);
  return !(privateNames.test(hostname) || privateV4.test(hostname));
}

export const clearText = {
  message: 'the address begins with "http://", so the token is sent without encryption',
  fix: 'use "https://" in the "url" of the target',
};
