import { describe, expect, it } from 'vitest';
import { closingText } from '../../../src/commands/ci/report.ts';
import type { CiJob } from '../../../src/run/ci/job.ts';
import { type ExitCode, exitCodes } from '../../../src/run/exit-codes.ts';
import { plan } from '../../support/report/small-plan.ts';

const job: CiJob = {
  event: 'pull-request',
  isOfBase: false,
  isOfFork: false,
  mayLackSecrets: false,
  isClosed: false,
};
const about = { job, isMerged: false, outDir: undefined, removed: [] };
const stack = { file: 'pay/trueup.yaml', path: 'pay', name: 'pay' };
const complete = plan();
const unread = plan({ coverage: { ...complete.coverage, complete: false } });

function firstLine(code: ExitCode, ...results: Parameters<typeof closingText>[0]): string | undefined {
  return closingText(results, code, about).split('\n')[0];
}

describe('The end of a plan job', () => {
  it('counts each stack once, and names those that need a person', () => {
    const planned = { stack, code: exitCodes.done, plan: complete };
    expect(firstLine(0, planned)).toBe('1 stack planned.');
    expect(firstLine(1, { stack, code: exitCodes.error, plan: unread })).toBe(
      '1 stack not planned completely: pay.',
    );
    expect(firstLine(4, planned, { stack, code: exitCodes.stale, plan: complete })).toBe(
      '1 stack planned, 1 with a plan that was not reviewed: pay.',
    );
    expect(firstLine(7, { stack, code: exitCodes.invalid, onlyValidated: 'no secrets' })).toBe(
      '1 stack not planned: pay.',
    );
    expect(firstLine(1)).toBe('No stack was planned.');
  });

  it('does not ask for a review of plans if stacks were only validated', () => {
    const text = closingText([{ stack, code: exitCodes.done, onlyValidated: 'no secrets' }], 0, about);
    expect(text).toMatch(/^1 stack only validated\.\nNext: review the changes\. Then let a person/);
  });

  it('does not say that there is nothing to do if a stack was removed', () => {
    expect(closingText([], 0, { ...about, removed: [stack] })).toMatch(
      /^1 stack removed, and nothing was planned/,
    );
  });
});
