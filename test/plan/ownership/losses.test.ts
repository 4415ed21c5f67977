import { describe, expect, test } from 'vitest';
import { plannedDeletions } from '../../../src/plan/ownership/planned-deletions.ts';
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

const home = at('House', 'home');
const ours = { claim: 'mine', bornOf: 'mine' };
const visited = (visitors: Record<string, string>, about: { name?: string; id?: string } = {}) =>
  live(at('Garden', about.name ?? 'home'), { id: about.id ?? 'id-home', facts: { visitors } });
const records = { 'House/acme/home': record({ id: 'id-home' }), 'House/acme/inn': record({ id: 'id-inn' }) };
const inn = live(at('House', 'inn'), ours);

function notes(world: World): readonly string[] {
  return changeAt(planOf({ records, ...world }), home).notes;
}

describe('the deletion of a house whose garden others sit in', () => {
  test('says who loses it, whoever they belong to', () => {
    const world = { live: [live(home, ours), inn, visited({ inn: 'id-inn', stranger: 'id-stranger' })] };
    expect(notes({ ...world, desired: [desired(inn.address)] })).toEqual([
      'inn has no garden to sit in',
      'stranger has no garden to sit in',
    ]);
  });

  test('says nothing of those that the same plan deletes', () => {
    expect(notes({ live: [live(home, ours), inn, visited({ inn: 'id-inn' })] })).toEqual([]);
  });

  test('knows by its id who goes, whatever the name says', () => {
    const world = { live: [live(home, ours), inn, visited({ inn: 'id-of-another' })] };
    expect(notes(world)).toEqual(['inn has no garden to sit in']);
  });

  test('says it of a garden that was recorded under a former name', () => {
    const garden = visited({ stranger: 'id-stranger' }, { name: 'former', id: 'id-home' });
    expect(notes({ live: [live(home, ours), garden] })).toEqual(['stranger has no garden to sit in']);
  });

  test('says it as well when a tombstone asks for it', () => {
    const world = { live: [live(home, ours), visited({ stranger: 'id-stranger' })] };
    expect(notes({ ...world, desired: [desired(home, {}, { remove: 'force' })] })).toEqual([
      'stranger has no garden to sit in',
    ]);
  });

  test('is approved by the same digest, for who loses by it is no part of what it means', () => {
    const [alone, seen] = [[], [visited({ stranger: 'id-stranger' })]].map(
      (gardens) => planOf({ records, live: [live(home, ours), ...gardens] }).plan.digest,
    );
    expect(alone).toBe(seen);
  });
});

test('nobody loses anything by a house that is kept or released', () => {
  const garden = visited({ stranger: 'id-stranger' });
  const kept = planOf({ live: [live(home, { claim: 'mine:protect' }), garden] });
  expect(kept.plan.changes).toEqual([]);
  const released = planOf({ live: [live(home, { claim: 'mine:release' }), garden] });
  expect(changeAt(released, home).notes).toEqual([]);
});

describe('what is going to be deleted is known before any part is read', () => {
  const leaving = (world: World) => [...plannedDeletions(inputOf(world))];
  const created = live(home, ours);

  test.each<[string, World, readonly string[]]>([
    ['what we created and nobody declares', { live: [created], records }, ['House/acme/home']],
    ['what only claim and birth mark prove', { live: [created] }, ['House/acme/home']],
    [
      'what a tombstone asks for',
      { live: [live(home, { claim: 'mine' })], desired: [desired(home, {}, { remove: 'safe' })] },
      ['House/acme/home'],
    ],
    ['not what is declared', { live: [created], desired: [desired(home)] }, []],
    [
      'not what is declared under a new name',
      { live: [created], desired: [desired(at('House', 'villa'), {}, { renamedFrom: 'home' })] },
      [],
    ],
    ['not what is released', { live: [live(home, { claim: 'mine:release' })], records }, []],
    ["not what is another stack's", { live: [live(home, { claim: 'yours' })], records }, []],
    ['nothing after an incomplete look', { live: [created], incomplete: ['page 2 is missing'] }, []],
    [
      'not what the service would refuse to delete',
      { live: [live(home, { ...ours, facts: { inhabited: true } })], records },
      [],
    ],
  ])('%s', (_, world, expected) => {
    expect(leaving(world)).toEqual(expected);
  });
});
