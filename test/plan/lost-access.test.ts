import { describe, expect, it } from 'vitest';
import { plannedDeletions } from '../../src/plan/draft-removal.ts';
import {
  app,
  at,
  changeAt,
  desired,
  inputOf,
  live,
  planOf,
  record,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

const ours = { ownershipTag: 'mine', creatorStack: 'mine' };
const readBy = (readers: Record<string, string>, about: { name?: string; id?: string } = {}) =>
  live(at('Child', about.name ?? 'app'), { id: about.id ?? 'id-app', facts: { readers } });
const records = { 'Parent/acme/app': record({ id: 'id-app' }), 'Parent/acme/lib': record({ id: 'id-lib' }) };
const lib = live(at('Parent', 'lib'), ours);

function notes(world: World): readonly string[] {
  return changeAt(planOf({ records, ...world }), app).notes;
}

describe('the deletion of a parent whose child others read', () => {
  it('lists who loses access, including resources of others', () => {
    const world = { live: [live(app, ours), lib, readBy({ lib: 'id-lib', stranger: 'id-stranger' })] };
    expect(notes({ ...world, desired: [desired(lib.address)] })).toEqual([
      'lib can read it no more',
      'stranger can read it no more',
    ]);
  });

  it('does not list readers that the same plan deletes', () => {
    expect(notes({ live: [live(app, ours), lib, readBy({ lib: 'id-lib' })] })).toEqual([]);
  });

  it('identifies deleted readers by id, not by name', () => {
    const world = { live: [live(app, ours), lib, readBy({ lib: 'id-of-another' })] };
    expect(notes(world)).toEqual(['lib can read it no more']);
  });

  it('lists the readers of a child that was recorded under a former name', () => {
    const child = readBy({ stranger: 'id-stranger' }, { name: 'former', id: 'id-app' });
    expect(notes({ live: [live(app, ours), child] })).toEqual(['stranger can read it no more']);
  });

  it('lists them for a removal request as well', () => {
    const world = { live: [live(app, ours), readBy({ stranger: 'id-stranger' })] };
    expect(notes({ ...world, desired: [desired(app, {}, { remove: 'force' })] })).toEqual([
      'stranger can read it no more',
    ]);
  });

  it('has the same digest with any readers, because they are not part of its meaning', () => {
    const [alone, seen] = [[], [readBy({ stranger: 'id-stranger' })]].map(
      (children) => planOf({ records, live: [live(app, ours), ...children] }).plan.digest,
    );
    expect(alone).toBe(seen);
  });
});

it('a parent that is kept or released has no note about lost access', () => {
  const child = readBy({ stranger: 'id-stranger' });
  const kept = planOf({ live: [live(app, { ownershipTag: 'mine:protect' }), child] });
  expect(kept.plan.changes).toEqual([]);
  const released = planOf({ live: [live(app, { ownershipTag: 'mine:release' }), child] });
  expect(changeAt(released, app).notes).toEqual([]);
});

describe('the deletions that are known before any child is read', () => {
  const deletions = (world: World) => [...plannedDeletions(inputOf(world))];
  const created = live(app, ours);

  it.each<[string, World, readonly string[]]>([
    [
      'include a resource that we created and no manifest declares',
      { live: [created], records },
      ['Parent/acme/app'],
    ],
    [
      'include a resource that only ownership tag and creator mark prove',
      { live: [created] },
      ['Parent/acme/app'],
    ],
    [
      'include the resource of a removal request',
      { live: [live(app, { ownershipTag: 'mine' })], desired: [desired(app, {}, { remove: 'safe' })] },
      ['Parent/acme/app'],
    ],
    ['do not include a declared resource', { live: [created], desired: [desired(app)] }, []],
    [
      'do not include a resource that is declared under a new name',
      { live: [created], desired: [desired(at('Parent', 'web'), {}, { renamedFrom: 'app' })] },
      [],
    ],
    [
      'do not include a released resource',
      { live: [live(app, { ownershipTag: 'mine:release' })], records },
      [],
    ],
    [
      'do not include a resource of another stack',
      { live: [live(app, { ownershipTag: 'yours' })], records },
      [],
    ],
    ['are empty after an incomplete read', { live: [created], incomplete: ['page 2 is missing'] }, []],
    [
      'do not include a resource that the service would refuse to delete',
      { live: [live(app, { ...ours, facts: { inUse: true } })], records },
      [],
    ],
  ])('%s', (_, world, expected) => {
    expect(deletions(world)).toEqual(expected);
  });
});
