import { describe, expect, it } from 'vitest';
import type { CommitOrder } from '../../src/model/checkout.ts';
import { at, desired } from '../support/sample-kinds/sample-plan.ts';
import { guardsOf } from '../support/sample-kinds/watched-resources.ts';

const [later, earlier] = ['3f2a'.repeat(10), '1b9c'.repeat(10)];
const behind: CommitOrder = { is: 'behind', applied: later, ours: earlier, differs: true };
const unknown: CommitOrder = { is: 'unknown', applied: later, why: 'there is no remote to ask' };
const change = { desired: [desired(at('Parent', 'app'))] };

describe('a plan from an older commit than the one that was applied', () => {
  it('is blocked as a whole by a message that names both commits', () => {
    expect(guardsOf({ ...change, commitOrders: [behind] })).toEqual([
      {
        id: 'older-commit',
        effect: 'blocks',
        counted: 1,
        concerns: [],
        message:
          'commit 3f2a3f2a3f2a, which is later than 1b9c1b9c1b9c, was already applied: this plan would revert it',
      },
    ]);
  });

  it('is not blocked when there is nothing to do, or when both commits have the same stack', () => {
    expect(guardsOf({ commitOrders: [behind] })).toEqual([]);
    expect(guardsOf({ ...change, commitOrders: [{ ...behind, differs: false }] })).toEqual([]);
    expect(guardsOf({ ...change, commitOrders: [{ is: 'ahead' }] })).toEqual([]);
  });
});

describe('a plan from a commit that diverged from the one that was applied', () => {
  const diverged: CommitOrder = { ...behind, is: 'diverged' };

  it('is blocked as a whole by a message that names both commits and what to do', () => {
    expect(guardsOf({ ...change, commitOrders: [diverged] })).toEqual([
      {
        id: 'diverged-commit',
        effect: 'blocks',
        counted: 1,
        concerns: [],
        message: expect.stringMatching(
          /^commit 3f2a3f2a3f2a, .* is not an ancestor of 1b9c1b9c1b9c.*: this plan would revert .*; merge it, and plan again$/,
        ),
      },
    ]);
  });

  it('is not blocked when there is nothing to do, or when both commits have the same stack', () => {
    expect(guardsOf({ commitOrders: [diverged] })).toEqual([]);
    expect(guardsOf({ ...change, commitOrders: [{ ...diverged, differs: false }] })).toEqual([]);
  });
});

describe('a plan whose commit cannot be compared with the applied one', () => {
  it('gets a warning with the reason', () => {
    expect(guardsOf({ ...change, commitOrders: [unknown] })).toMatchObject([
      {
        id: 'commit-unknown',
        effect: 'warns',
        message: expect.stringMatching(/: there is no remote to ask$/),
      },
    ]);
    expect(guardsOf({ commitOrders: [unknown] })).toEqual([]);
  });

  it('is blocked if the stack raises that guard', () => {
    const stack = { guards: { raise: ['commit-unknown' as const] } };
    expect(guardsOf({ ...change, commitOrders: [unknown], stack })).toMatchObject([{ effect: 'blocks' }]);
  });
});
