/** The base of the doubles of code hosts: a JSON API on a free port that records requests, and that a test can make fail. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenForTest } from '../rig/listen.ts';

export interface AskedRequest {
  readonly method: string;
  /** without query */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly body?: string;
    readonly query?: string;
    readonly variables?: Readonly<Record<string, string>>;
  };
}

export interface GivenAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** processes the request, and closes the connection without a response */
  readonly cut?: true;
  /** neither processes the request nor responds */
  readonly silent?: true;
}

/** Returns a response that replaces the usual one; undefined replaces nothing. */
type Fault = (asked: AskedRequest) => GivenAnswer | undefined;

export interface ApiDouble {
  readonly url: string;
  readonly asked: AskedRequest[];
  /** replaces the response to the next request for which the fault returns one */
  once(fault: Fault): void;
  /** replaces the response to every request for which the fault returns one */
  always(fault: Fault): void;
  /** holds the requests that `concerns` selects until `open` resolves */
  gate(concerns: (asked: AskedRequest) => boolean, open: () => Promise<void>): void;
}

/** @param usual the answer of the service itself */
export async function openApi(usual: (asked: AskedRequest, url: string) => GivenAnswer): Promise<ApiDouble> {
  const asked: AskedRequest[] = [];
  const faults: { readonly fault: Fault; readonly once: boolean }[] = [];
  let gate = async (_: AskedRequest): Promise<void> => {};
  const faultFor = (request: AskedRequest): GivenAnswer | undefined => {
    for (const [at, { fault, once }] of faults.entries()) {
      const answer = fault(request);
      if (answer === undefined) continue;
      if (once) faults.splice(at, 1);
      return answer;
    }
    return undefined;
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const hasBody = request.headers['content-type'] === 'application/json';
    const one: AskedRequest = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: hasBody ? ((await json(request)) as AskedRequest['body']) : {},
    };
    asked.push(one);
    await gate(one);
    const fault = faultFor(one);
    if (fault?.cut) {
      usual(one, listening.url);
      response.destroy();
      return;
    }
    if (fault?.silent) return;
    const { status, body, headers } = fault ?? usual(one, listening.url);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));
  });
  const listening = await listenForTest(server);
  return {
    url: listening.url,
    asked,
    once: (fault) => void faults.push({ fault, once: true }),
    always: (fault) => void faults.push({ fault, once: false }),
    gate: (concerns, open) => {
      gate = async (one) => (concerns(one) ? open() : undefined);
    },
  };
}

export interface KeptComment {
  readonly id: number;
  body: string;
  readonly author: string;
  readonly system?: true;
  readonly createdAt?: string;
  updatedAt?: string;
}

/** One page of a list, and whether there is another one. */
export function pageOf<T>(
  all: readonly T[],
  query: URLSearchParams,
  usualSize: number,
): {
  readonly items: readonly T[];
  readonly page: number;
  readonly next: number | undefined;
  readonly last: number;
} {
  const size = Math.min(100, Number(query.get('per_page') ?? usualSize));
  const page = Number(query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(all.length / size));
  return {
    items: all.slice((page - 1) * size, page * size),
    page,
    next: page < last ? page + 1 : undefined,
    last,
  };
}

/** The time of a code host: each thing that happens is at least a second later than the one before. */
export interface HostClock {
  /** the time of the next thing that happens: `2026-11-22T21:36:28Z` */
  next(): string;
  /** moves the clock forward by this number of seconds */
  pass(seconds: number): void;
}

export function openHostClock(): HostClock {
  let now = Math.floor(Date.now() / 1000) * 1000;
  return {
    next() {
      now = Math.max(now + 1000, Math.floor(Date.now() / 1000) * 1000);
      return new Date(now).toISOString().replace('.000Z', 'Z');
    },
    pass(seconds) {
      now += seconds * 1000;
    },
  };
}
