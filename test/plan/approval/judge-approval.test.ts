import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../../src/model/address.ts';
import type { Json } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import type { PlanResult } from '../../../src/plan/build-plan.ts';
import { digestItemsOf, readDigestItems } from '../../../src/plan/digest.ts';
import { type ApprovalVerdict, checkApprovedChanges } from '../../../src/plan/approval-coverage.ts';
import { approvalRows, ours } from '../../support/toys/approval-rows.ts';
import { wholeSpec, liveWhole } from '../../support/toys/arbitrary-toys.ts';
import { at, desired, type LiveAbout, live, planOf, type World } from '../../support/toys/toy-plan.ts';

const app = at('Whole', 'app');

/** The fresh plan against the approved one, of which only the atoms are known: all that a ledger keeps. */
function judge(approved: PlanResult, fresh: PlanResult): ApprovalVerdict {
  const { digest, changes } = approved.plan;
  return checkApprovedChanges(fresh, { digest, changes: readDigestItems(digestItemsOf(changes)) });
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
  it.each(approvalRows)('$says', ({ approved, fresh, comes }) => {
    expect(verdict(judge(planOf(approved), planOf(fresh)))).toBe(comes);
  });
});

describe('The parts of a resource that the same plan creates', () => {
  const part = at('Part', 'app');
  const tags = (names: readonly string[]): World => ({
    desired: [desired(app), desired(part, { tags: names })],
  });
  const tagged = (names: readonly string[], about: LiveAbout = ours): World => ({
    ...tags(['prod', 'core']),
    live: [live(app, about), live(part, { ...about, spec: { tags: names } })],
  });

  it.each<[string, World, string]>([
    ['all of it', tagged(['core', 'prod']), 'subset, done: Whole/acme/app Part/acme/app'],
    ['a half', tagged(['prod']), 'subset, done: Whole/acme/app'],
    ['nothing of it', tagged([]), 'subset, done: Whole/acme/app'],
    ['more than it', tagged(['live']), 'subset, done: Whole/acme/app'],
    [
      'something else, as it was not us who created it',
      tagged(['live'], { claim: 'mine' }),
      'differs: Part/acme/app create -> update [tags]',
    ],
  ])('are what was approved when %s is there', (_, fresh, comes) => {
    expect(verdict(judge(planOf(tags(['prod', 'core'])), planOf(fresh)))).toBe(comes);
  });

  it('are not what was approved once the manifest asks for others', () => {
    const fresh = { ...tagged([]), desired: [desired(app), desired(part, { tags: ['prod'] })] };
    expect(verdict(judge(planOf(tags(['prod', 'core'])), planOf(fresh)))).toBe(
      'differs: Part/acme/app create -> update [tags]',
    );
  });
});

describe('A value that nobody could see when it was approved', () => {
  const role = at('Whole', 'app');
  const wanted = desired(role, { owner: 'ann' });

  it('may turn out to have been anything, as long as it becomes what was approved', () => {
    const approved = planOf({ desired: [wanted], live: [live(role, { ...ours })] });
    expect(approved.plan.changes[0]?.fields).toMatchObject([{ unknown: expect.any(String) }]);
    const fresh = planOf({ desired: [wanted], live: [live(role, { ...ours, spec: { owner: 'bob' } })] });
    expect(verdict(judge(approved, fresh))).toBe('subset, done: nothing whole');
  });

  it('may not become something else', () => {
    const approved = planOf({ desired: [wanted], live: [live(role, { ...ours })] });
    const fresh = planOf({ desired: [desired(role, { owner: 'cat' })], live: [live(role, { ...ours })] });
    expect(verdict(judge(approved, fresh))).toBe('differs: Whole/acme/app update -> update [owner]');
  });
});

describe('By law', () => {
  const claimed = (spec: Spec) => live(app, { ...ours, spec });

  it('a plan is what was approved if it is the same plan', () => {
    fc.assert(
      fc.property(wholeSpec, liveWhole, (spec, found) => {
        const world: World = { desired: [desired(app, spec)], live: [claimed(found)] };
        expect(judge(planOf(world), planOf(world)).is).toBe('equal');
      }),
    );
  });

  it('while live stands still, nothing but the same plan goes on', () => {
    fc.assert(
      fc.property(wholeSpec, wholeSpec, liveWhole, (spec, other, found) => {
        const [approved, fresh] = [spec, other].map((asked) =>
          planOf({ desired: [desired(app, asked)], live: [claimed(found)] }),
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
      fc.property(wholeSpec, liveWhole, picks, (spec, found, pick) => {
        const world: World = { desired: [desired(app, spec)], live: [claimed(found)] };
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
      fc.property(wholeSpec, liveWhole, (spec, found) => {
        const approved = planOf({ desired: [desired(app, spec)] });
        const fresh = planOf({ desired: [desired(app, spec)], live: [claimed(found)] });
        expect(judge(approved, fresh).is).toBe('subset');
      }),
    );
  });
});

/** The live spec once these field changes have been made to it. */
function carriedOut(spec: Spec, changes: PlanResult['plan']['changes'][number]['fields']): Spec {
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
