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
  it('says who loses it, no matter who they belong to', () => {
    const world = { live: [live(app, ours), lib, readBy({ lib: 'id-lib', stranger: 'id-stranger' })] };
    expect(notes({ ...world, desired: [desired(lib.address)] })).toEqual([
      'lib can read it no more',
      'stranger can read it no more',
    ]);
  });

  it('says nothing of those that the same plan deletes', () => {
    expect(notes({ live: [live(app, ours), lib, readBy({ lib: 'id-lib' })] })).toEqual([]);
  });

  it('knows by its id who goes, whatever the name says', () => {
    const world = { live: [live(app, ours), lib, readBy({ lib: 'id-of-another' })] };
    expect(notes(world)).toEqual(['lib can read it no more']);
  });

  it('says it of a part that was recorded under a former name', () => {
    const part = readBy({ stranger: 'id-stranger' }, { name: 'former', id: 'id-app' });
    expect(notes({ live: [live(app, ours), part] })).toEqual(['stranger can read it no more']);
  });

  it('says it as well when a removal request asks for it', () => {
    const world = { live: [live(app, ours), readBy({ stranger: 'id-stranger' })] };
    expect(notes({ ...world, desired: [desired(app, {}, { remove: 'force' })] })).toEqual([
      'stranger can read it no more',
    ]);
  });

  it('is approved by the same digest, for who loses by it is no part of what it means', () => {
    const [alone, seen] = [[], [readBy({ stranger: 'id-stranger' })]].map(
      (parts) => planOf({ records, live: [live(app, ours), ...parts] }).plan.digest,
    );
    expect(alone).toBe(seen);
  });
});

it('nobody loses anything by a parent that is kept or released', () => {
  const part = readBy({ stranger: 'id-stranger' });
  const kept = planOf({ live: [live(app, { ownershipTag: 'mine:protect' }), part] });
  expect(kept.plan.changes).toEqual([]);
  const released = planOf({ live: [live(app, { ownershipTag: 'mine:release' }), part] });
  expect(changeAt(released, app).notes).toEqual([]);
});

describe('what is going to be deleted is known before any part is read', () => {
  const leaving = (world: World) => [...plannedDeletions(inputOf(world))];
  const created = live(app, ours);

  it.each<[string, World, readonly string[]]>([
    ['what we created and nobody declares', { live: [created], records }, ['Parent/acme/app']],
    ['what only claim and creator mark prove', { live: [created] }, ['Parent/acme/app']],
    [
      'what a removal request asks for',
      { live: [live(app, { ownershipTag: 'mine' })], desired: [desired(app, {}, { remove: 'safe' })] },
      ['Parent/acme/app'],
    ],
    ['not what is declared', { live: [created], desired: [desired(app)] }, []],
    [
      'not what is declared under a new name',
      { live: [created], desired: [desired(at('Parent', 'web'), {}, { renamedFrom: 'app' })] },
      [],
    ],
    ['not what is released', { live: [live(app, { ownershipTag: 'mine:release' })], records }, []],
    ["not what is another stack's", { live: [live(app, { ownershipTag: 'yours' })], records }, []],
    ['nothing after an incomplete look', { live: [created], incomplete: ['page 2 is missing'] }, []],
    [
      'not what the service would refuse to delete',
      { live: [live(app, { ...ours, facts: { inUse: true } })], records },
      [],
    ],
  ])('%s', (_, world, expected) => {
    expect(leaving(world)).toEqual(expected);
  });
});
