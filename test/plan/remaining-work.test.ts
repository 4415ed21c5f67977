import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import type { Json } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/resource.ts';
import type { PlanResult } from '../../src/plan/build-plan.ts';
import { digestItemsOf, readDigestItems } from '../../src/plan/digest.ts';
import { type ApprovalVerdict, checkApprovedChanges } from '../../src/plan/approval-coverage.ts';
import { approvalRows, ours } from '../support/sample-kinds/approval-rows.ts';
import { parentSpec, liveParent } from '../support/sample-kinds/arbitrary-resources.ts';
import {
  app,
  at,
  desired,
  live,
  type LiveAbout,
  planOf,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

/** Checks a fresh plan against the digest items of the approved one, which are all that a ledger keeps. */
function compareApproved(approved: PlanResult, fresh: PlanResult): ApprovalVerdict {
  const { digest, changes } = approved.plan;
  return checkApprovedChanges(fresh, {
    digest,
    ...readDigestItems(digestItemsOf({ changes, changedNames: [] })),
  });
}

/** `equal`, `elsewhere`, what is done of a subset, or what differs. */
function verdict(result: ApprovalVerdict): string {
  switch (result.is) {
    case 'subset':
      return `subset, done: ${result.done.map(formatAddress).join(' ') || 'nothing whole'}`;
    case 'differs':
      return result.difference.changes
        .map(({ address, one, other, fields }) => {
          const paths = fields.map(({ path }) => path.join('.')).join(' ');
          return `differs: ${formatAddress(address)} ${one ?? 'nothing'} -> ${other ?? 'nothing'} [${paths}]`;
        })
        .join('; ');
    default:
      return result.is;
  }
}

describe('An approved plan is checked when', () => {
  it.each(approvalRows)('$says', ({ approved, fresh, comes }) => {
    expect(verdict(compareApproved(planOf(approved), planOf(fresh)))).toBe(comes);
  });
});

describe('The children of a resource that the same plan creates', () => {
  const child = at('Child', 'app');
  const tags = (names: readonly string[]): World => ({
    desired: [desired(app), desired(child, { tags: names })],
  });
  const tagged = (names: readonly string[], about: LiveAbout = ours): World => ({
    ...tags(['prod', 'core']),
    live: [live(app, about), live(child, { ...about, spec: { tags: names } })],
  });

  it.each<[string, World, string]>([
    ['all tags', tagged(['core', 'prod']), 'subset, done: Parent/acme/app Child/acme/app'],
    ['one of the tags', tagged(['prod']), 'subset, done: Parent/acme/app'],
    ['none of the tags', tagged([]), 'subset, done: Parent/acme/app'],
    ['another tag', tagged(['live']), 'subset, done: Parent/acme/app'],
    [
      'another tag, on a resource that we did not create',
      tagged(['live'], { ownershipTag: 'mine' }),
      'differs: Child/acme/app create -> update [tags]',
    ],
  ])('are compared with the approved tags when live has %s', (_, fresh, comes) => {
    expect(verdict(compareApproved(planOf(tags(['prod', 'core'])), planOf(fresh)))).toBe(comes);
  });

  it('are not approved once the manifest asks for other tags', () => {
    const fresh = { ...tagged([]), desired: [desired(app), desired(child, { tags: ['prod'] })] };
    expect(verdict(compareApproved(planOf(tags(['prod', 'core'])), planOf(fresh)))).toBe(
      'differs: Child/acme/app create -> update [tags]',
    );
  });
});

describe('A value that was unknown when it was approved', () => {
  const role = at('Parent', 'app');
  const wanted = desired(role, { owner: 'ann' });

  it('may turn out to be any value, as long as the planned value is the approved one', () => {
    const approved = planOf({ desired: [wanted], live: [live(role, { ...ours })] });
    expect(approved.plan.changes[0]?.fields).toMatchObject([{ unknown: expect.any(String) }]);
    const fresh = planOf({ desired: [wanted], live: [live(role, { ...ours, spec: { owner: 'bob' } })] });
    expect(verdict(compareApproved(approved, fresh))).toBe('subset, done: nothing whole');
  });

  it('may not get a value that was not approved', () => {
    const approved = planOf({ desired: [wanted], live: [live(role, { ...ours })] });
    const fresh = planOf({ desired: [desired(role, { owner: 'cat' })], live: [live(role, { ...ours })] });
    expect(verdict(compareApproved(approved, fresh))).toBe(
      'differs: Parent/acme/app update -> update [owner]',
    );
  });
});

describe('An ownership tag in an approved plan', () => {
  it('is not done while live has another one, even if the manifest no longer asks for it', () => {
    const found = [live(app, { ...ours, spec: { description: 'old' } })];
    const spec = { description: 'new' };
    const approved = planOf({ desired: [desired(app, spec, { protect: true })], live: found });
    const fresh = planOf({ desired: [desired(app, spec)], live: found });
    expect(verdict(compareApproved(approved, fresh))).toBe(
      'differs: Parent/acme/app update -> nothing [claim]',
    );
  });
});

describe('For any plan', () => {
  const claimed = (spec: Spec) => live(app, { ...ours, spec });

  it('the same plan is approved', () => {
    fc.assert(
      fc.property(parentSpec, liveParent, (spec, found) => {
        const world: World = { desired: [desired(app, spec)], live: [claimed(found)] };
        expect(compareApproved(planOf(world), planOf(world)).is).toBe('equal');
      }),
    );
  });

  it('only the same plan is approved while live does not change', () => {
    fc.assert(
      fc.property(parentSpec, parentSpec, liveParent, (spec, other, found) => {
        const [approved, fresh] = [spec, other].map((asked) =>
          planOf({ desired: [desired(app, asked)], live: [claimed(found)] }),
        );
        if (approved === undefined || fresh === undefined) return;
        const isSame = approved.plan.digest === fresh.plan.digest;
        expect(compareApproved(approved, fresh).is).toBe(isSame ? 'equal' : 'differs');
      }),
    );
  });

  it('a plan that was applied in part is approved, and any other live change stops it', () => {
    const picks = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(parentSpec, liveParent, picks, (spec, found, pick) => {
        const world: World = { desired: [desired(app, spec)], live: [claimed(found)] };
        const approved = planOf(world);
        const fields = approved.plan.changes.flatMap((change) => change.fields);
        const came = fields.filter((_, index) => pick[index]);
        const fresh = planOf({ ...world, live: [claimed(carriedOut(found, came))] });
        const isUntouched = came.length === 0;
        expect(compareApproved(approved, fresh).is).toBe(isUntouched ? 'equal' : 'subset');
        const moved = fields.find(({ path, shape }) => path.length === 1 && shape === 'scalar');
        if (moved === undefined) return;
        const third = claimed({ ...carriedOut(found, came), [moved.path[0] ?? '']: 'a third value' });
        expect(compareApproved(approved, planOf({ ...world, live: [third] })).is).toBe('differs');
      }),
    );
  });

  it('a creation that was interrupted anywhere is approved', () => {
    fc.assert(
      fc.property(parentSpec, liveParent, (spec, found) => {
        const approved = planOf({ desired: [desired(app, spec)] });
        const fresh = planOf({ desired: [desired(app, spec)], live: [claimed(found)] });
        expect(compareApproved(approved, fresh).is).toBe('subset');
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
