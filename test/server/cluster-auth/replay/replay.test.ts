/** The embedded service gives every recorded answer of a real service, except for the known differences. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FakeCluster,
  startFakeCluster,
} from '../../../support/server/cluster-auth/replay/fake-cluster.ts';
import {
  type RecordedLine,
  recordedLines,
} from '../../../support/server/cluster-auth/replay/recorded-lines.ts';
import { replay } from '../../../support/server/cluster-auth/replay/replay-line.ts';
import { knownDifferences } from './known-differences.ts';

let cluster: FakeCluster;
beforeAll(async () => {
  cluster = await startFakeCluster();
});
afterAll(() => cluster.close());

const files = Object.entries(recordedLines());
const lines = files.flatMap(([, each]) => each);

const named = (some: readonly RecordedLine[], different: boolean) =>
  some
    .filter(({ id }) => (knownDifferences[id] !== undefined) === different)
    .map((line) => [line.id, line.title, line] as const);

/** The texts of the data in answers. */
function dataTexts(answers: readonly unknown[]): (string | undefined)[] {
  return answers.map((answer) => {
    const { body } = answer as { readonly body?: { readonly data?: unknown } | null };
    return JSON.stringify(body?.data);
  });
}

describe.each(files)('a recorded line of %s', (_file, some) => {
  it.each(named(some, false))('%s is answered the same: %s', async (_id, _title, line) => {
    const { recorded, answered } = await replay(line, cluster);
    expect(answered).toEqual(recorded);
    // The order of members is compared only in `data`: the real service has no fixed order elsewhere.
    expect(dataTexts(answered)).toEqual(dataTexts(recorded));
  });
});

describe('a known difference', () => {
  it.each(named(lines, true))('%s is still answered differently: %s', async (_id, _title, line) => {
    const { recorded, answered } = await replay(line, cluster);
    expect(answered).not.toEqual(recorded);
  });

  it('is one of the recorded lines', () => {
    expect(Object.keys(knownDifferences).toSorted()).toEqual(
      lines
        .map(({ id }) => id)
        .filter((id) => knownDifferences[id] !== undefined)
        .toSorted(),
    );
    expect(lines).toHaveLength(992);
  });
});
