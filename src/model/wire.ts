/**
 * HTTP as the floors above see it. A `Reader` cannot write, so planning cannot change anything.
 * Every answer is a value, whatever its status; only a service that cannot be reached causes a throw.
 */
import type { Json, JsonObject } from './json/json.ts';

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
   * An earlier try of the same request reached the service or its proxy. That try may have been carried out, and this
   * answer may be a consequence of it.
   */
  readonly repeated?: true;
}

export interface Reader {
  /** `path` is relative to the API root, already encoded, with query: `/organizations/acme/workspaces?page%5Bsize%5D=100` */
  get(path: string): Promise<Answer>;
  /** the verb LIST of the secrets service */
  list(path: string): Promise<Answer>;
}

/** What a token may do, as its service tells it. */
export type TokenRights =
  /** capabilities by path below the API root: `auth/cluster/role/web` → `create`, `update`; paths that were not told are unknown */
  | { readonly is: 'told'; readonly on: ReadonlyMap<string, ReadonlySet<string>> }
  | { readonly is: 'untold'; readonly why: string };

export interface Writer {
  /** Sends one request unchanged (wire names, secrets resolved). Retries after 429 always, else only if it is `repeatable`. */
  send(request: WireRequest): Promise<Answer>;
}

export interface WireRequest {
  readonly method: WriteMethod;
  readonly path: string;
  readonly body?: JsonObject;
  readonly repeatable: boolean;
  /** values in the body that no message may show, even when the service returns them */
  readonly secrets?: readonly string[];
  /** Called just before each try: if it rejects, the try is not made. */
  readonly permit?: () => Promise<void>;
  /** Once aborted, the request is neither sent nor retried; a try that is in flight goes on. */
  readonly stop?: AbortSignal;
}

/** The service could not be reached, or its answer was lost. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly method: string;
  readonly url: string;
  /** true when the request may have been carried out although no answer came */
  readonly sent: boolean;
  constructor(message: string, about: { method: string; url: string; sent: boolean; cause?: unknown }) {
    super(message, { cause: about.cause });
    this.method = about.method;
    this.url = about.url;
    this.sent = about.sent;
  }
}

/** Whether a secrets service answers nothing because it is sealed: that lasts until a person unseals it (wire/cluster-auth 2.1). */
export function isSealed({ status, words }: Pick<Answer, 'status' | 'words'>): boolean {
  return status === 503 && /\bis sealed\b/i.test(words);
}

/** `GET https://… answered 403: permission denied (request 7f…)` */
export function describeAnswer(answer: Answer): string {
  const words = answer.words === '' ? unexpectedForm(answer) : `: ${answer.words}`;
  const request = answer.requestId === undefined ? '' : ` (request ${answer.requestId})`;
  return `${answer.method} ${answer.url} answered ${answer.status}${words}${request}`;
}

/** For a successful answer that could not be used: describes the unexpected form of its body. */
function unexpectedForm({ status, body }: Answer): string {
  if (status < 200 || status >= 300) return '';
  const form = body === null ? 'an empty body' : Array.isArray(body) ? 'a list' : 'a body of another form';
  return ` with ${form}, and that is no answer to this; check that the target's "url" leads to the service itself`;
}
