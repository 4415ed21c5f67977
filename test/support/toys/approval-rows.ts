/** What was approved once, what the world is like by now, and what comes of it: the cases of rule 28. */
import type { Spec } from '../../../src/model/resource/resource.ts';
import { at, desired, type LiveAbout, live, record, type World } from './toy-plan.ts';

const home = at('House', 'home');
const inn = at('House', 'inn');

/** By every witness created by this stack. */
export const ours: LiveAbout = { claim: 'mine', bornOf: 'mine' };

export interface ApprovalRow {
  readonly says: string;
  readonly approved: World;
  readonly fresh: World;
  readonly comes: string;
}

const blueHome = desired(home, { colour: 'blue', timer: 60 });
const redHome = live(home, { ...ours, spec: { colour: 'red', timer: 0 } });
const update: World = { desired: [blueHome], live: [redHome] };

/** The house as it is now, in the world in which the update was approved. */
function now(spec: Spec, about: World = {}): World {
  return { ...update, live: [live(home, { ...ours, spec })], ...about };
}

const create: World = { desired: [desired(home, { colour: 'blue', rooms: ['a', 'b'] })] };

export const approvalRows: readonly ApprovalRow[] = [
  { says: 'nothing moved', approved: update, fresh: update, comes: 'equal' },
  {
    says: 'one field is as approved by now',
    approved: update,
    fresh: now({ colour: 'blue', timer: 0 }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'all fields are as approved by now',
    approved: update,
    fresh: now({ colour: 'blue', timer: 60 }),
    comes: 'subset, done: House/acme/home',
  },
  {
    says: 'a field moved to a third value',
    approved: update,
    fresh: now({ colour: 'green', timer: 0 }),
    comes: 'differs: House/acme/home update -> update [colour]',
  },
  {
    says: 'the manifest asks for another value',
    approved: update,
    fresh: { ...update, desired: [desired(home, { colour: 'white', timer: 60 })] },
    comes: 'differs: House/acme/home update -> update [colour]',
  },
  {
    says: 'the manifest asks for more',
    approved: update,
    fresh: { ...update, desired: [desired(home, { colour: 'blue', timer: 60, owner: 'ann' })] },
    comes: 'differs: House/acme/home update -> update [owner]',
  },
  {
    says: 'the manifest asks for less, and what it dropped is not true',
    approved: update,
    fresh: { ...update, desired: [desired(home, { colour: 'blue' })] },
    comes: 'differs: House/acme/home update -> update [timer]',
  },
  {
    says: 'the manifest asks for less, and what it dropped is true all the same',
    approved: update,
    fresh: now({ colour: 'red', timer: 60 }, { desired: [desired(home, { colour: 'blue' })] }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the manifest is gone and nothing of what was approved is true',
    approved: update,
    fresh: { live: [live(home, { ...ours, claim: undefined, spec: { colour: 'red', timer: 0 } })] },
    comes: 'differs: House/acme/home update -> nothing [colour timer]',
  },
  {
    says: 'what was to be updated is gone, and would be created instead',
    approved: update,
    fresh: { desired: [blueHome] },
    comes: 'differs: House/acme/home update -> create [colour timer claim]',
  },
  {
    says: 'another resource is to change besides',
    approved: update,
    fresh: { desired: [blueHome, desired(inn)], live: [redHome] },
    comes: 'differs: House/acme/inn nothing -> create [claim]',
  },
  {
    says: 'the creation has happened',
    approved: create,
    fresh: { ...create, live: [live(home, { ...ours, spec: { colour: 'blue', rooms: ['b', 'a'] } })] },
    comes: 'subset, done: House/acme/home',
  },
  {
    says: 'the creation was cut short, and what is left differs from what the service made of it',
    approved: create,
    fresh: { ...create, live: [live(home, { ...ours, spec: { colour: 'red', rooms: ['b'] } })] },
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the creation was cut short, and the manifest says by now that something else shall be left',
    approved: create,
    fresh: {
      desired: [desired(home, { colour: 'blue', rooms: ['a'] })],
      live: [live(home, { ...ours, spec: { colour: 'red', rooms: [] } })],
    },
    comes: 'differs: House/acme/home create -> update [rooms]',
  },
  {
    says: 'the creation was cut short, and the manifest dropped a part of what is left',
    approved: create,
    fresh: {
      desired: [desired(home, { colour: 'blue' })],
      live: [live(home, { ...ours, spec: { colour: 'red', rooms: [] } })],
    },
    comes: 'differs: House/acme/home create -> update [rooms]',
  },
  {
    says: 'somebody else created it with our claim on it, but not our birth mark: it is no creation cut short',
    approved: create,
    fresh: { ...create, live: [live(home, { claim: 'mine', spec: { colour: 'red', rooms: ['a', 'b'] } })] },
    comes: 'differs: House/acme/home create -> update [colour]',
  },
  {
    says: 'it has no birth mark of ours, but the ledger knows that we created this very one',
    approved: create,
    fresh: {
      ...create,
      live: [live(home, { claim: 'mine', spec: { colour: 'red', rooms: ['a', 'b'] } })],
      records: { 'House/acme/home': record({ id: 'id-home' }) },
    },
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'what was to be deleted is gone',
    approved: removal(),
    fresh: { records: { 'House/acme/home': record({ id: 'id-home' }) } },
    comes: 'subset, done: House/acme/home',
  },
  {
    says: 'what was to be deleted was not looked for everywhere',
    approved: removal(),
    fresh: { records: { 'House/acme/home': record({ id: 'id-home' }) }, incomplete: ['page 3 was refused'] },
    comes: 'differs: House/acme/home delete -> nothing []',
  },
  {
    says: 'what was to be deleted is declared again',
    approved: removal(),
    fresh: { ...removal(), desired: [desired(home)] },
    comes: 'differs: House/acme/home delete -> nothing []',
  },
  {
    says: 'what was to be deleted would be kept now',
    approved: removal(),
    fresh: removal({ facts: { inhabited: true } }),
    comes: 'differs: House/acme/home delete -> nothing []',
  },
  {
    says: 'what was to be deleted would be released now',
    approved: removal(),
    fresh: removal({ claim: 'mine:release' }),
    comes: 'differs: House/acme/home delete -> release [claim]',
  },
  {
    says: 'what was to be released bears no claim any more',
    approved: removal({ claim: 'mine:release' }),
    fresh: removal({ claim: undefined }),
    comes: 'subset, done: House/acme/home',
  },
  {
    says: 'a safe delete was approved, and a forced one is asked for',
    approved: tombstone('safe'),
    fresh: tombstone('force'),
    comes: 'differs: House/acme/home delete -> delete [remove]',
  },
  {
    says: 'the adoption has claimed it, and has not changed it yet',
    approved: adoption({}),
    fresh: adoption({ claim: 'mine' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the adoption is complete',
    approved: adoption({}),
    fresh: adoption({ claim: 'mine', spec: { colour: 'blue' } }),
    comes: 'subset, done: House/acme/home',
  },
  {
    says: 'an adoption was approved, and it moved before it was claimed',
    approved: adoption({}),
    fresh: adoption({ spec: { colour: 'green' } }),
    comes: 'differs: House/acme/home adopt -> adopt [colour]',
  },
  {
    says: 'what can bear no claim was to be adopted, and the ledger knows it by now',
    approved: doorway({}),
    fresh: doorway({ records: { 'Door/acme/front': record() } }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'some elements of a set are there, and others gone, already',
    approved: rooms(['x', 'y'], ['a', 'b']),
    fresh: rooms(['y', 'a'], ['a', 'b']),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a set has an element that was not there when its removal was approved',
    approved: rooms(['x'], ['a']),
    fresh: rooms(['x', 'z'], ['a']),
    comes: 'differs: House/acme/home update -> update [rooms]',
  },
  {
    says: 'a set lacks an element that it was to keep',
    approved: rooms(['x', 'k'], ['a', 'k']),
    fresh: rooms(['x'], ['a', 'k']),
    comes: 'differs: House/acme/home update -> update [rooms]',
  },
  {
    says: 'one key of a map is as approved',
    approved: labels({ a: '1' }, { a: '2', b: '3' }),
    fresh: labels({ a: '2' }, { a: '2', b: '3' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a key of a map that was to go is gone',
    approved: labels({ a: '1', b: '2' }, { a: '3' }),
    fresh: labels({ a: '1' }, { a: '3' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a key appeared in a map that is managed whole',
    approved: labels({ a: '1' }, { a: '2' }),
    fresh: labels({ a: '1', z: '9' }, { a: '2' }),
    comes: 'differs: House/acme/home update -> update [labels.z]',
  },
  {
    says: 'one member of an object is as approved',
    approved: box({ lid: 'tin', key: '1' }),
    fresh: box({ lid: 'oak', key: '1' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a role of ours, written whole, is as approved although the ledger has not heard of it',
    approved: { desired: [desired(at('Door', 'front'), { colour: 'blue' })] },
    fresh: {
      desired: [desired(at('Door', 'front'), { colour: 'blue' })],
      live: [live(at('Door', 'front'), { spec: { colour: 'blue' } })],
    },
    comes: 'subset, done: Door/acme/front',
  },
  {
    says: 'what was to be let go is declared again',
    approved: fence(),
    fresh: { ...fence(), desired: [desired(at('Fence', 'config'))] },
    comes: 'differs: Fence/acme/config release -> nothing []',
  },
  {
    says: 'what was to be let go is forgotten',
    approved: fence(),
    fresh: { ...fence(), records: {} },
    comes: 'subset, done: Fence/acme/config',
  },
  {
    says: 'the stack has another target by now',
    approved: update,
    fresh: { ...update, target: { url: 'https://other.test' } },
    comes: 'elsewhere',
  },
  {
    says: 'the stack has another name by now',
    approved: update,
    fresh: { ...update, stack: { name: 'yours', renamedFrom: 'mine' } },
    comes: 'elsewhere',
  },
];

function removal(about: LiveAbout = {}): World {
  return {
    live: [live(home, { ...ours, ...about })],
    records: { 'House/acme/home': record({ id: 'id-home' }) },
  };
}

function tombstone(remove: 'safe' | 'force'): World {
  return { ...removal(), desired: [desired(home, {}, { remove })] };
}

function adoption(about: LiveAbout): World {
  return {
    desired: [desired(home, { colour: 'blue' }, { adopt: true })],
    live: [live(home, { spec: { colour: 'red' }, ...about })],
  };
}

function doorway(about: World): World {
  const front = at('Door', 'front');
  const wanted = desired(front, { colour: 'blue' }, { adopt: true });
  return { desired: [wanted], live: [live(front, { spec: { colour: 'red' } })], ...about };
}

function rooms(before: readonly string[], after: readonly string[]): World {
  return house({ rooms: before }, { rooms: after });
}

function labels(before: Spec, after: Spec): World {
  return house({ labels: before }, { labels: after });
}

function box(before: Spec): World {
  return house({ box: before }, { box: { lid: 'oak', key: '2' } });
}

function house(before: Spec, after: Spec): World {
  return { desired: [desired(home, after)], live: [live(home, { ...ours, spec: before })] };
}

function fence(): World {
  const config = at('Fence', 'config');
  return {
    live: [live(config, { spec: { colour: 'red', timer: 0, rooms: [] } })],
    records: { 'Fence/acme/config': record({ fields: { colour: 'red' } }) },
  };
}
