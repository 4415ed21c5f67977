import { describe, expect, it } from 'vitest';
import type { CommitOrder } from '../../../src/model/checkout.ts';
import { at, desired } from '../../support/toys/toy-plan.ts';
import { guardsOf } from '../../support/toys/watched-toys.ts';

const [later, earlier] = ['3f2a'.repeat(10), '1b9c'.repeat(10)];
const behind: CommitOrder = { is: 'behind', applied: later, ours: earlier, differs: true };
const unknown: CommitOrder = { is: 'unknown', applied: later, why: 'there is no remote to ask' };
const change = { desired: [desired(at('Whole', 'app'))] };

describe('a plan from an older commit than the one that was applied', () => {
  it('is blocked as a whole, and names both', () => {
    expect(guardsOf({ ...change, commitOrder: behind })).toEqual([
      {
        id: 'older-commit',
        effect: 'blocks',
        counted: 1,
        concerns: [],
        message:
          'somebody applied commit 3f2a3f2a3f2a already, which is later than 1b9c1b9c1b9c: this plan would take it back',
      },
    ]);
  });

  it('is not when there is nothing to do, or when the stack is the same in both', () => {
    expect(guardsOf({ commitOrder: behind })).toEqual([]);
    expect(guardsOf({ ...change, commitOrder: { ...behind, differs: false } })).toEqual([]);
    expect(guardsOf({ ...change, commitOrder: { is: 'onward' } })).toEqual([]);
  });
});

describe('a plan from a commit that diverged from the one that was applied', () => {
  const diverged: CommitOrder = { ...behind, is: 'diverged' };

  it('is blocked as a whole, names both, and says what to do', () => {
    expect(guardsOf({ ...change, commitOrder: diverged })).toEqual([
      {
        id: 'diverged-commit',
        effect: 'blocks',
        counted: 1,
        concerns: [],
        message: expect.stringMatching(
          /^commit 3f2a3f2a3f2a, .* is not contained in 1b9c1b9c1b9c.*: this plan would take back .*; merge it, and plan again$/,
        ),
      },
    ]);
  });

  it('is not when there is nothing to do, or when the stack is the same in both', () => {
    expect(guardsOf({ commitOrder: diverged })).toEqual([]);
    expect(guardsOf({ ...change, commitOrder: { ...diverged, differs: false } })).toEqual([]);
  });
});

describe('a plan of which nobody can tell whether it is older', () => {
  it('is warned of, with the reason', () => {
    expect(guardsOf({ ...change, commitOrder: unknown })).toMatchObject([
      {
        id: 'commit-unknown',
        effect: 'warns',
        message: expect.stringMatching(/: there is no remote to ask$/),
      },
    ]);
    expect(guardsOf({ commitOrder: unknown })).toEqual([]);
  });

  it('is blocked where the stack wants that', () => {
    const stack = { guards: { raise: ['commit-unknown' as const] } };
    expect(guardsOf({ ...change, commitOrder: unknown, stack })).toMatchObject([{ effect: 'blocks' }]);
  });
});
