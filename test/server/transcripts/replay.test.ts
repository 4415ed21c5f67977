/**
 * Every request that real clients were recorded to send (test/vectors/terraform-clients) is sent to the service in its dialect
 * `hcp-terraform`. Its answer is compared with the recorded answer in two ways:
 *
 * - the status is of the same class, unless `known-differences.ts` says why not;
 * - what is shown has all members of the recorded document, of the same kind (null fits each), but for those in that list.
 */
import { describe, expect, it } from 'vitest';
import { replay, type Replayed } from '../../support/server/transcripts/replay.ts';
import { readTranscript, transcripts } from '../../support/server/transcripts/transcript.ts';
import { knownDifferences, notShown } from './known-differences.ts';

/** How often each known difference occurred. */
const occurrences = new Map<(typeof knownDifferences)[number], number>();

/** Retention policies are those of the self-hosted edition. */
const editionOf = (transcript: string): string =>
  transcript.includes('data-retention') ? 'self-hosted' : 'hosted';

describe('the service', () => {
  it.each(transcripts)('answers all requests in "%s" like the recorded server', async (transcript) => {
    const replayed = await replay(readTranscript(transcript), editionOf(transcript));
    const wrong = replayed.flatMap((each) => [...statusProblems(transcript, each), ...memberProblems(each)]);
    expect([...new Set(wrong)]).toEqual([]);
  });

  it('has exactly the known differences', () => {
    expect(knownDifferences.map((known) => [known.because, occurrences.get(known) ?? 0])).toEqual(
      knownDifferences.map(({ because, count }) => [because, count]),
    );
  });

  it('received every request of the folder', () => {
    expect(transcripts.reduce((sum, name) => sum + readTranscript(name).length, 0)).toBe(1695);
  });
});

function statusProblems(transcript: string, { recorded, answered }: Replayed): string[] {
  const { request, answer, step, n } = recorded;
  const [theirs, ours] = [answer.status, answered.status].map((status) => Math.floor(status / 100));
  if (theirs === ours) return [];
  const known = knownDifferences.find(({ fits }) => fits(transcript, recorded));
  if (known !== undefined && ours === (known.answered ?? 2)) {
    occurrences.set(known, (occurrences.get(known) ?? 0) + 1);
    return [];
  }
  return [
    `${n} (${step}): ${request.method} ${request.path} was ${answer.status} and is ${answered.status}: ${answered.text}`,
  ];
}

interface Shown {
  readonly type?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, unknown>>;
}

function memberProblems({ recorded, answered }: Replayed): string[] {
  const theirs = recorded.answer.status < 300 ? dataOf(recorded.answer.body) : undefined;
  if (theirs === undefined || answered.status >= 300) return [];
  const ours = dataOf(JSON.parse(answered.text));
  if (Array.isArray(theirs) !== Array.isArray(ours))
    return [`${recorded.request.path}: one and many are mixed up`];
  const [expected, shown] = [[theirs].flat()[0], [ours].flat()[0]];
  // A list may be empty if the other server ignored the query.
  if (expected === undefined || shown === undefined) return [];
  if (expected.type !== shown.type) return [`a ${expected.type} became a ${shown.type}`];
  return [
    ...missing(expected.type ?? '', expected.attributes, shown.attributes),
    ...missing(expected.type ?? '', expected.relationships, shown.relationships),
  ];
}

function dataOf(body: unknown): Shown | Shown[] | undefined {
  return (body as { data?: Shown | Shown[] } | null | undefined)?.data ?? undefined;
}

type Members = Readonly<Record<string, unknown>>;

function missing(path: string, expected: Members = {}, shown: Members = {}): string[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const at = `${path}.${name}`;
    const ours = shown[name];
    if (Object.keys(notShown).some((known) => at === known || at.startsWith(`${known}.`))) return [];
    if (ours === undefined) return [`${at} is missing`];
    if (value === null || ours === null) return [];
    if (kindOf(value) !== kindOf(ours)) return [`${at} was a ${kindOf(value)} and is a ${kindOf(ours)}`];
    return path.includes('.') || kindOf(value) !== 'object' || 'data' in (value as object)
      ? []
      : missing(at, value as Members, ours as Members);
  });
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
