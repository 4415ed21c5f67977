import { describe, expect, it } from 'vitest';
import { plannedDeletions } from '../../../src/plan/draft-removal.ts';
import {
  at,
  changeAt,
  desired,
  inputOf,
  live,
  planOf,
  record,
  type World,
} from '../../support/toys/toy-plan.ts';

const app = at('Whole', 'app');
const ours = { claim: 'mine', bornOf: 'mine' };
const readBy = (readers: Record<string, string>, about: { name?: string; id?: string } = {}) =>
  live(at('Part', about.name ?? 'app'), { id: about.id ?? 'id-app', facts: { readers } });
const records = { 'Whole/acme/app': record({ id: 'id-app' }), 'Whole/acme/lib': record({ id: 'id-lib' }) };
const lib = live(at('Whole', 'lib'), ours);

function notes(world: World): readonly string[] {
  return changeAt(planOf({ records, ...world }), app).notes;
}

describe('the deletion of a whole whose part others read', () => {
  it('says who loses it, whoever they belong to', () => {
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

  it('says it as well when a tombstone asks for it', () => {
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

it('nobody loses anything by a whole that is kept or released', () => {
  const part = readBy({ stranger: 'id-stranger' });
  const kept = planOf({ live: [live(app, { claim: 'mine:protect' }), part] });
  expect(kept.plan.changes).toEqual([]);
  const released = planOf({ live: [live(app, { claim: 'mine:release' }), part] });
  expect(changeAt(released, app).notes).toEqual([]);
});

describe('what is going to be deleted is known before any part is read', () => {
  const leaving = (world: World) => [...plannedDeletions(inputOf(world))];
  const created = live(app, ours);

  it.each<[string, World, readonly string[]]>([
    ['what we created and nobody declares', { live: [created], records }, ['Whole/acme/app']],
    ['what only claim and birth mark prove', { live: [created] }, ['Whole/acme/app']],
    [
      'what a tombstone asks for',
      { live: [live(app, { claim: 'mine' })], desired: [desired(app, {}, { remove: 'safe' })] },
      ['Whole/acme/app'],
    ],
    ['not what is declared', { live: [created], desired: [desired(app)] }, []],
    [
      'not what is declared under a new name',
      { live: [created], desired: [desired(at('Whole', 'web'), {}, { renamedFrom: 'app' })] },
      [],
    ],
    ['not what is released', { live: [live(app, { claim: 'mine:release' })], records }, []],
    ["not what is another stack's", { live: [live(app, { claim: 'yours' })], records }, []],
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
