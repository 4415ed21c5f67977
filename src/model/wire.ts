/**
 * HTTP as the floors above see it. A `Reader` has no way to write: what is planned with it cannot change anything.
 * Any answer of a service is a value, whatever its status; only a service that cannot be reached throws.
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
  /** what the service says about a success that it doubts; absent when it says nothing */
  readonly warnings?: readonly string[];
  readonly requestId?: string;
  /**
   * An earlier try of the same request came to the service, or to what stands in front of it: it may have been carried
   * out, whatever it was answered, and this answer be the echo of that.
   */
  readonly repeated?: true;
}

export interface Reader {
  /** `path` is relative to the API root, already encoded, with query: `/organizations/acme/workspaces?page%5Bsize%5D=100` */
  get(path: string): Promise<Answer>;
  /** the verb LIST of the secrets service */
  list(path: string): Promise<Answer>;
}

export interface Writer {
  /** Sends one request as it stands (wire names, secrets resolved). Retries only what `repeatable` allows, and 429 always. */
  send(request: WireRequest): Promise<Answer>;
}

export interface WireRequest {
  readonly method: WriteMethod;
  readonly path: string;
  readonly body?: JsonObject;
  readonly repeatable: boolean;
  /** values inside the body that no message may show, even when the service repeats them */
  readonly secrets?: readonly string[];
  /** Asked when its turn has come, before each try: a try that it does not resolve for is not made. */
  readonly permit?: () => Promise<void>;
  /** Once aborted it is sent no more, nor sent again, whatever it waits for; a try that is in flight goes on. */
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

/** `GET https://… answered 403: permission denied (request 7f…)` */
export function describeAnswer(answer: Answer): string {
  const words = answer.words === '' ? oddity(answer) : `: ${answer.words}`;
  const request = answer.requestId === undefined ? '' : ` (request ${answer.requestId})`;
  return `${answer.method} ${answer.url} answered ${answer.status}${words}${request}`;
}

/** A success is only described when it was none of use: its form says why. */
function oddity({ status, body }: Answer): string {
  if (status < 200 || status >= 300) return '';
  const form = body === null ? 'an empty body' : Array.isArray(body) ? 'a list' : 'a body of another form';
  return ` with ${form}, and that is no answer to this; check that the target's "url" leads to the service itself`;
}
