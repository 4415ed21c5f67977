import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../src/commands/ci/post-outcome.ts';
import type { Outcome } from '../../../src/model/change.ts';
import { countOutcomes, countWritten } from '../../../src/report/text/outcomes.ts';
import type { ExitCode } from '../../../src/run/exit-codes.ts';
import { change } from '../../support/report/small-plan.ts';

const { address } = change();
const outcome = (kind: Outcome['kind'], more: Partial<Outcome> = {}): Outcome => ({
  ...{ address, action: 'update', kind },
  ...more,
});

/** @param isLeft whether the plan after the apply still has the change */
function resultOf(code: ExitCode, outcomes: readonly Outcome[], isLeft?: boolean) {
  const proof = isLeft === undefined ? undefined : { changes: isLeft ? [change()] : [] };
  const result = { outcomes: countOutcomes(outcomes), written: countWritten(outcomes, proof) };
  const changes = outcomes.map(() => change());
  const [title, lines] = outcomeOf(
    code,
    { changes },
    { context: { terminal: { result }, run: {}, host: {} }, head: 'c0' },
  );
  return { title, line: lines[0] };
}

describe('The result of an apply in its pull request', () => {
  it.each([
    ['Applied', resultOf(0, [outcome('applied')], false), '1 applied'],
    ['Applied in part', resultOf(6, [outcome('applied'), outcome('failed')], true), '1 applied, 1 failed'],
    ['Applied in part', resultOf(6, [outcome('failed', { done: ['PATCH'] })], true), '1 failed'],
    ['Not applied', resultOf(1, [outcome('failed', { inDoubt: true })], true), '1 failed'],
    ['Not applied', resultOf(1, [outcome('failed')], true), '1 failed'],
    [
      'Result not known',
      resultOf(130, [outcome('unknown'), outcome('unknown')]),
      '2 unknown; 2 changes may have been made',
    ],
    [
      'Result not known',
      resultOf(130, [outcome('failed', { inDoubt: true })]),
      '1 failed; 1 change may have been made',
    ],
    ['Nothing left to apply', resultOf(0, []), 'nothing was sent'],
    ['Nothing left to apply', resultOf(0, [outcome('unchanged')], false), '1 unchanged'],
    ['Applied, but not verified', resultOf(1, [outcome('applied')]), '1 applied'],
  ])('is "%s" in %j', (title, found, text) => {
    expect(found).toEqual({ title, line: `Commit "c0": ${text}.` });
  });
});
