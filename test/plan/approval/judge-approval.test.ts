import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { formatAddress } from '../../../src/model/resource/address.ts';
import type { Json } from '../../../src/model/json/json.ts';
import type { Spec } from '../../../src/model/resource/resource.ts';
import type { Planning } from '../../../src/plan/build-plan.ts';
import { atomsOf } from '../../../src/plan/approval/digest.ts';
import { type ApprovalVerdict, judgeApproval } from '../../../src/plan/approval/judge-approval.ts';
import { readAtoms } from '../../../src/plan/approval/read-atoms.ts';
import { approvalRows, ours } from '../../support/toys/approval-rows.ts';
import { houseSpec, liveHouse } from '../../support/toys/arbitrary-toys.ts';
import { at, desired, type LiveAbout, live, planOf, type World } from '../../support/toys/toy-plan.ts';

const home = at('House', 'home');

/** The fresh plan against the approved one, of which only the atoms are known: all that a ledger keeps. */
function judge(approved: Planning, fresh: Planning): ApprovalVerdict {
  const { digest, changes } = approved.plan;
  return judgeApproval(fresh, { digest, changes: readAtoms(atomsOf(changes)) });
}

/** `equal`, `elsewhere`, what is done of a subset, or what stands in the way. */
function verdict(judgement: ApprovalVerdict): string {
  switch (judgement.is) {
    case 'subset':
      return `subset, done: ${judgement.done.map(formatAddress).join(' ') || 'nothing whole'}`;
    case 'differs':
      return judgement.difference.changes
        .map(({ address, one, other, fields }) => {
          const paths = fields.map(({ path }) => path.join('.')).join(' ');
          return `differs: ${formatAddress(address)} ${one ?? 'nothing'} -> ${other ?? 'nothing'} [${paths}]`;
        })
        .join('; ');
    default:
      return judgement.is;
  }
}

describe('An approved plan, when by now', () => {
  test.each(approvalRows)('$says', ({ approved, fresh, comes }) => {
    expect(verdict(judge(planOf(approved), planOf(fresh)))).toBe(comes);
  });
});

describe('The parts of a resource that the same plan creates', () => {
  const garden = at('Garden', 'home');
  const trees = (names: readonly string[]): World => ({
    desired: [desired(home), desired(garden, { trees: names })],
  });
  const planted = (names: readonly string[], about: LiveAbout = ours): World => ({
    ...trees(['oak', 'ash']),
    live: [live(home, about), live(garden, { ...about, spec: { trees: names } })],
  });

  it.each<[string, World, string]>([
    ['all of it', planted(['ash', 'oak']), 'subset, done: House/acme/home Garden/acme/home'],
    ['a half', planted(['oak']), 'subset, done: House/acme/home'],
    ['nothing of it', planted([]), 'subset, done: House/acme/home'],
    ['more than it', planted(['fir']), 'subset, done: House/acme/home'],
    [
      'something else, as it was not us who created it',
      planted(['fir'], { claim: 'mine' }),
      'differs: Garden/acme/home create -> update [trees]',
    ],
  ])('are what was approved when %s is there', (_, fresh, comes) => {
    expect(verdict(judge(planOf(trees(['oak', 'ash'])), planOf(fresh)))).toBe(comes);
  });

  it('are not what was approved once the manifest asks for others', () => {
    const fresh = { ...planted([]), desired: [desired(home), desired(garden, { trees: ['oak'] })] };
    expect(verdict(judge(planOf(trees(['oak', 'ash'])), planOf(fresh)))).toBe(
      'differs: Garden/acme/home create -> update [trees]',
    );
  });
});

describe('A value that nobody could see when it was approved', () => {
  const door = at('House', 'home');
  const wanted = desired(door, { owner: 'ann' });

  it('may turn out to have been anything, as long as it becomes what was approved', () => {
    const approved = planOf({ desired: [wanted], live: [live(door, { ...ours })] });
    expect(approved.plan.changes[0]?.fields).toMatchObject([{ unknown: expect.any(String) }]);
    const fresh = planOf({ desired: [wanted], live: [live(door, { ...ours, spec: { owner: 'bob' } })] });
    expect(verdict(judge(approved, fresh))).toBe('subset, done: nothing whole');
  });

  it('may not become something else', () => {
    const approved = planOf({ desired: [wanted], live: [live(door, { ...ours })] });
    const fresh = planOf({ desired: [desired(door, { owner: 'cat' })], live: [live(door, { ...ours })] });
    expect(verdict(judge(approved, fresh))).toBe('differs: House/acme/home update -> update [owner]');
  });
});

describe('By law', () => {
  const claimed = (spec: Spec) => live(home, { ...ours, spec });

  it('a plan is what was approved if it is the same plan', () => {
    fc.assert(
      fc.property(houseSpec, liveHouse, (spec, found) => {
        const world: World = { desired: [desired(home, spec)], live: [claimed(found)] };
        expect(judge(planOf(world), planOf(world)).is).toBe('equal');
      }),
    );
  });

  it('while live stands still, nothing but the same plan goes on', () => {
    fc.assert(
      fc.property(houseSpec, houseSpec, liveHouse, (spec, other, found) => {
        const [approved, fresh] = [spec, other].map((asked) =>
          planOf({ desired: [desired(home, asked)], live: [claimed(found)] }),
        );
        if (approved === undefined || fresh === undefined) return;
        const isSame = approved.plan.digest === fresh.plan.digest;
        expect(judge(approved, fresh).is).toBe(isSame ? 'equal' : 'differs');
      }),
    );
  });

  it('a plan of which some came true goes on, and whatever else moves stops it', () => {
    const picks = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(houseSpec, liveHouse, picks, (spec, found, pick) => {
        const world: World = { desired: [desired(home, spec)], live: [claimed(found)] };
        const approved = planOf(world);
        const fields = approved.plan.changes.flatMap((change) => change.fields);
        const came = fields.filter((_, index) => pick[index]);
        const fresh = planOf({ ...world, live: [claimed(carriedOut(found, came))] });
        const isUntouched = came.length === 0;
        expect(judge(approved, fresh).is).toBe(isUntouched ? 'equal' : 'subset');
        const moved = fields.find(({ path, shape }) => path.length === 1 && shape === 'scalar');
        if (moved === undefined) return;
        const third = claimed({ ...carriedOut(found, came), [moved.path[0] ?? '']: 'a third value' });
        expect(judge(approved, planOf({ ...world, live: [third] })).is).toBe('differs');
      }),
    );
  });

  it('a creation goes on from wherever it was cut short', () => {
    fc.assert(
      fc.property(houseSpec, liveHouse, (spec, found) => {
        const approved = planOf({ desired: [desired(home, spec)] });
        const fresh = planOf({ desired: [desired(home, spec)], live: [claimed(found)] });
        expect(judge(approved, fresh).is).toBe('subset');
      }),
    );
  });
});

/** The live spec once these field changes have been made to it. */
function carriedOut(spec: Spec, changes: Planning['plan']['changes'][number]['fields']): Spec {
  return changes.reduce<Spec>((made, { path, after }) => asSpec(put(made, path, after)), spec);
}

function put(value: Json | undefined, path: readonly string[], after: Json | undefined): Json | undefined {
  const [key, ...below] = path;
  if (key === undefined) return after;
  const members = new Map(Object.entries(asSpec(value ?? {})));
  const member = put(members.get(key), below, after);
  if (member === undefined) members.delete(key);
  else members.set(key, member);
  return Object.fromEntries(members);
}

function asSpec(value: Json | undefined): Spec {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Spec) : {};
}
