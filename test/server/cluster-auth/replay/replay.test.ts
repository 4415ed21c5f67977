/** Every recorded answer of a real service comes back the same, but for those of a short list. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FakeCluster,
  startFakeCluster,
} from '../../../support/server/cluster-auth/replay/fake-cluster.ts';
import { replay } from '../../../support/server/cluster-auth/replay/replay-case.ts';
import { type RecordedAnswer, recordedCases } from '../../../support/server/cluster-auth/replay/vectors.ts';
import { knownDifferences } from './known-differences.ts';

let cluster: FakeCluster;
beforeAll(async () => {
  cluster = await startFakeCluster();
});
afterAll(() => cluster.close());

const cases = recordedCases();
const named = (different: boolean) =>
  cases
    .filter(({ id }) => (knownDifferences[id] !== undefined) === different)
    .map((recorded) => [recorded.id, recorded.title, recorded] as const);

function dataText({ body }: RecordedAnswer): string | undefined {
  return JSON.stringify((body as { readonly data?: unknown } | null)?.data);
}

describe('a recorded case', () => {
  it.each(named(false))('%s is answered the same: %s', async (_id, _title, recorded) => {
    const { recorded: before, answered } = await replay(recorded, cluster);
    expect(answered).toEqual(before);
    // The order of members, too, where the service has one: beside `data` it repeats them in any.
    expect(dataText(answered.answer)).toBe(dataText(before.answer));
  });
});

describe('a known difference', () => {
  it.each(named(true))('%s is still one: %s', async (_id, _title, recorded) => {
    const { recorded: before, answered } = await replay(recorded, cluster);
    expect(answered).not.toEqual(before);
  });

  it('is one of a case that was recorded', () => {
    expect(Object.keys(knownDifferences)).toEqual(
      cases.map(({ id }) => id).filter((id) => knownDifferences[id] !== undefined),
    );
  });
});
