/**
 * Replays one recorded case against a service of its own, over plain sockets: paths, verbs and bodies go out as they were
 * recorded, which `fetch` would tidy.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startServer } from '../../../../../src/server/start-server.ts';
import type { FakeCluster } from './fake-cluster.ts';
import { fill, type Values, withoutLibraryTexts, withPlaceholders } from './placeholders.ts';
import { fixtures, type RecordedAnswer, type RecordedCase, type RecordedRequest } from './vectors.ts';

const ROOT = 'root-token';

/** What a case is judged by. */
export interface Replayed {
  readonly setup: readonly number[];
  readonly answer: RecordedAnswer;
  readonly clusterSaw?: unknown;
}

export interface Replay {
  readonly recorded: Replayed;
  readonly answered: Replayed;
}

export async function replay(recorded: RecordedCase, cluster: FakeCluster): Promise<Replay> {
  const pod = recorded.insidePod ? podFolder() : undefined;
  const server = await startServer({
    data: ':memory:',
    relaxed: true,
    dialects: ['openbao'],
    ...(pod === undefined ? {} : { inPod: pod }),
    seed: {
      'service-tokens': [{ token: ROOT, name: 'token', policies: ['root'] }],
    },
  });
  try {
    return await replayAt(server.url, recorded, cluster);
  } finally {
    await server.close();
    if (pod !== undefined) rmSync(pod, { recursive: true });
  }
}

async function replayAt(url: string, recorded: RecordedCase, cluster: FakeCluster): Promise<Replay> {
  const answersOfCluster = recorded.cluster ?? {};
  let values: Values = { root: ROOT, cluster: cluster.url, clusterTls: cluster.tlsUrl };
  cluster.answer(answersOfCluster);
  const setup: number[] = [];
  const steps = recorded.setup;
  for (const request of steps) {
    const answer = await send(url, fill(request, values));
    setup.push(answer.status);
    values = { ...values, ...capture(request, answer) };
  }
  cluster.answer(answersOfCluster);
  const answer = await send(url, fill(recorded.request, values));
  const expected = fill(recorded.answer, values);
  return {
    recorded: {
      setup: steps.map(({ status = 0 }) => status),
      answer: withoutLibraryTexts(expected),
      ...(recorded.clusterSaw && { clusterSaw: fill(recorded.clusterSaw, values) }),
    },
    answered: {
      setup,
      answer: withoutLibraryTexts(withPlaceholders(answer, expected) as RecordedAnswer),
      ...(recorded.clusterSaw && { clusterSaw: cluster.asked() }),
    },
  };
}

function podFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-pod-'));
  writeFileSync(join(folder, 'ca.crt'), fixtures().certs.ca.certificate);
  writeFileSync(join(folder, 'token'), 'local-pod-token');
  return folder;
}

const comparedHeaders = [
  ...['content-type', 'cache-control', 'strict-transport-security', 'location', 'allow', 'warning'],
  'x-vault-namespace',
];

const withLength = new Set(['POST', 'PUT', 'PATCH']);

async function send(
  url: string,
  { method, path, headers, body, rawBody }: RecordedRequest,
): Promise<RecordedAnswer> {
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const { hostname, port } = new URL(url);
  const outgoing = openRequest({
    hostname,
    port,
    method,
    path,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
      ...(sent !== undefined || withLength.has(method)
        ? { 'Content-Length': Buffer.byteLength(sent ?? '') }
        : {}),
    },
    agent: false,
  });
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject).end(sent);
  });
  const answered = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      comparedHeaders.flatMap((name) => {
        const value = response.headers[name];
        return value === undefined ? [] : [[name, String(value)]];
      }),
    ),
    body: bodyOf(answered),
  };
}

function bodyOf(answered: string): unknown {
  if (answered === '') return null;
  try {
    return JSON.parse(answered);
  } catch {
    return { $text: answered };
  }
}

function capture({ capture: wanted = {} }: RecordedRequest, { body }: RecordedAnswer): Values {
  return Object.fromEntries(
    Object.entries(wanted).map(([name, path]) => [name, String(memberAt(body, path.split('.')))]),
  );
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}
