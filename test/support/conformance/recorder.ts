/**
 * Records what the tests of this process send and assert. Requests are recorded where they arrive, also those of the CLI in another
 * process. Requests to a service in another process are recorded where `fetch` sends them, without their bodies.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { chai } from 'vitest';

import type { Evidence, SentRequest } from './evidence.ts';

/** Bodies and expected values are cut after this many bytes or characters. */
const LONGEST = 64 * 1024;
const DULL_HEADERS = new Set(['host', 'connection', 'user-agent', 'accept-language', 'sec-fetch-mode']);

interface Recording {
  readonly requests: (() => SentRequest)[];
  readonly asserted: Set<string>;
}

const nothing = (): Recording => ({ requests: [], asserted: new Set() });
let recording = nothing();
let isRecording = false;
let isSubscribed = false;

/** Writes what was recorded since the last call as the evidence of the given test. */
export function writeEvidence(folder: string, file: string, titles: readonly string[]): void {
  const { requests, asserted } = recording;
  recording = nothing();
  if (titles.length === 0 && requests.length === 0 && asserted.size === 0) return;
  const evidence: Evidence = {
    file,
    titles,
    requests: onceEach(requests.map((request) => request())),
    asserted: [...asserted],
  };
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(evidence)}\n`);
}

/** A request that was recorded where it was sent and where it arrived counts once. */
function onceEach(requests: readonly SentRequest[]): SentRequest[] {
  const addressOf = ({ method, url }: SentRequest) => `${method} ${url}`;
  const arrived = new Set(requests.filter(({ status }) => status > 0).map(addressOf));
  const seen = requests.filter((request) => request.status > 0 || !arrived.has(addressOf(request)));
  return [...new Map(seen.map((request) => [JSON.stringify(request), request])).values()];
}

/** Starts or stops recording. Without a writer of evidence it must stop, because the recording would fill the memory of the process. */
export function startRecording(isOn: boolean): void {
  isRecording = isOn;
  recording = nothing();
  if (!isOn || isSubscribed) return;
  isSubscribed = true;
  subscribe('http.server.request.start', (message) => {
    if (isRecording) recordArriving(message as { request: IncomingMessage; response: ServerResponse });
  });
  subscribe('undici:request:create', (message) => {
    if (isRecording) recordSent((message as { request: { method: string; path: string } }).request);
  });
  recordAssertions();
}

function recordArriving({ request, response }: { request: IncomingMessage; response: ServerResponse }): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const push = request.push.bind(request);
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array && length < LONGEST) {
      length += chunk.length;
      chunks.push(Buffer.from(chunk.subarray(0, LONGEST)));
    }
    return push(chunk, encoding);
  };
  const headers = Object.entries(request.headers).filter(([name]) => !DULL_HEADERS.has(name));
  recording.requests.push(() => ({
    method: request.method ?? '',
    url: decoded(request.url ?? ''),
    status: response.statusCode,
    content: [
      request.url,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      Buffer.concat(chunks),
    ].join('\n'),
  }));
}

function recordSent({ method, path }: { method: string; path: string }): void {
  recording.requests.push(() => ({ method, url: decoded(path), status: 0, content: path }));
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** Wraps each matcher, to record its arguments. Snapshot matchers are left alone, because they depend on the call stack. */
function recordAssertions(): void {
  const { prototype } = chai.Assertion;
  for (const name of Object.getOwnPropertyNames(prototype).filter((key) =>
    /^to(?!.*Snapshot)[A-Z]/.test(key),
  )) {
    const matcher: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
    if (typeof matcher !== 'function') continue;
    const wrapped = function (this: unknown, ...expected: unknown[]): unknown {
      if (isRecording) for (const value of expected) recording.asserted.add(textOf(value));
      return Reflect.apply(matcher, this, expected);
    };
    Object.defineProperty(prototype, name, { value: wrapped, writable: true, configurable: true });
  }
}

function textOf(value: unknown): string {
  try {
    return (JSON.stringify(value, expectedPart) ?? String(value)).slice(0, LONGEST);
  } catch {
    return '';
  }
}

function expectedPart(_key: string, value: unknown): unknown {
  if (value instanceof RegExp) return value.source;
  return typeof value === 'bigint' ? String(value) : value;
}
