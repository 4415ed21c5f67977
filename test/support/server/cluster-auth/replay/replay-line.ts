/** Replays one recorded line against a new service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../../../../src/server/start-server.ts';
import type { FakeCluster } from './fake-cluster.ts';
import { fill, type Values, withoutLibraryTexts, withPlaceholders } from './placeholders.ts';
import type { RecordedLine, Step } from './recorded-lines.ts';
import { sendRecorded } from './send-recorded.ts';
import { fixtures, type RecordedAnswer, type RecordedRequest } from './vectors.ts';

const ROOT = 'root-token';

/** Recorded and new responses: one element for each step with a recorded response. */
export interface Replay {
  readonly recorded: readonly unknown[];
  readonly answered: readonly unknown[];
}

export async function replay(line: RecordedLine, cluster: FakeCluster): Promise<Replay> {
  const pod = line.insidePod ? podFolder() : undefined;
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
    return await replayAt(server.url, line, cluster);
  } finally {
    await server.close();
    if (pod !== undefined) rmSync(pod, { recursive: true });
  }
}

async function replayAt(url: string, { steps, mount }: RecordedLine, cluster: FakeCluster): Promise<Replay> {
  let values: Values = { root: ROOT, cluster: cluster.url, clusterTls: cluster.tlsUrl, m: mount };
  const recorded: unknown[] = [];
  const answered: unknown[] = [];
  for (const step of steps) {
    if (step.cluster !== undefined) cluster.answer(step.cluster);
    const answer = await answerOf(url, fill(step.request, values), step.recorded);
    values = { ...values, ...capture(step.request, answer) };
    if (step.recorded === undefined) continue;
    const [before, now] = comparable(step, answer, values);
    recorded.push(before);
    answered.push(now);
    if (step.clusterSaw === undefined) continue;
    recorded.push(fill(step.clusterSaw, values));
    answered.push(cluster.asked());
  }
  return { recorded, answered };
}

const UNREADABLE = /error converting input for field "(\w+)"/;

/**
 * If several fields are invalid, the real service names a random one of them. So a request that is refused for another field than
 * the recorded one is sent again without that field, which is safe because a refused request changes nothing.
 */
async function answerOf(url: string, request: RecordedRequest, recorded: unknown): Promise<RecordedAnswer> {
  const answer = await sendRecorded(url, request);
  const [wanted, named] = [unreadableField(recorded), unreadableField(answer)];
  if (wanted === undefined || named === undefined || named === wanted) return answer;
  const { [named]: _refused, ...body } = request.body as Readonly<Record<string, unknown>>;
  return answerOf(url, { ...request, body }, recorded);
}

function unreadableField(answer: unknown): string | undefined {
  const { body } = (answer ?? {}) as { readonly body?: { readonly errors?: readonly string[] } | null };
  return UNREADABLE.exec(body?.errors?.[0] ?? '')?.[1];
}

function comparable(
  { recorded, part = (answer) => answer }: Step,
  answer: RecordedAnswer,
  values: Values,
): [unknown, unknown] {
  const expected = fill(recorded, values);
  return [withoutLibraryTexts(expected), withoutLibraryTexts(withPlaceholders(part(answer), expected))];
}

function podFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-pod-'));
  writeFileSync(join(folder, 'ca.crt'), fixtures().certs.ca.certificate);
  writeFileSync(join(folder, 'token'), 'local-pod-token');
  return folder;
}

function capture({ capture: wanted = {} }: RecordedRequest, { body }: RecordedAnswer): Values {
  return Object.fromEntries(
    Object.entries(wanted).map(([name, path]) => [name, String(memberAt(body, path.split('.')))]),
  );
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], value);
}
