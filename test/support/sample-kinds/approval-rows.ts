/** What was approved once, what the world is like by now, and what comes of it. */
import type { Spec } from '../../../src/model/resource.ts';
import { at, desired, type LiveAbout, live, record, type World } from './sample-plan.ts';

const app = at('Parent', 'app');
const lib = at('Parent', 'lib');

/** By all evidence created by this stack. */
export const ours: LiveAbout = { ownershipTag: 'mine', creatorStack: 'mine' };

export interface ApprovalRow {
  readonly says: string;
  readonly approved: World;
  readonly fresh: World;
  readonly comes: string;
}

const blueApp = desired(app, { colour: 'blue', timeout: 60 });
const redApp = live(app, { ...ours, spec: { colour: 'red', timeout: 0 } });
const update: World = { desired: [blueApp], live: [redApp] };

/** The whole as it is now, in the world in which the update was approved. */
function now(spec: Spec, about: World = {}): World {
  return { ...update, live: [live(app, { ...ours, spec })], ...about };
}

const create: World = { desired: [desired(app, { colour: 'blue', readers: ['a', 'b'] })] };

export const approvalRows: readonly ApprovalRow[] = [
  { says: 'nothing moved', approved: update, fresh: update, comes: 'equal' },
  {
    says: 'one field is as approved by now',
    approved: update,
    fresh: now({ colour: 'blue', timeout: 0 }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'all fields are as approved by now',
    approved: update,
    fresh: now({ colour: 'blue', timeout: 60 }),
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'a field moved to a third value',
    approved: update,
    fresh: now({ colour: 'green', timeout: 0 }),
    comes: 'differs: Parent/acme/app update -> update [colour]',
  },
  {
    says: 'the manifest asks for another value',
    approved: update,
    fresh: { ...update, desired: [desired(app, { colour: 'white', timeout: 60 })] },
    comes: 'differs: Parent/acme/app update -> update [colour]',
  },
  {
    says: 'the manifest asks for more',
    approved: update,
    fresh: { ...update, desired: [desired(app, { colour: 'blue', timeout: 60, owner: 'ann' })] },
    comes: 'differs: Parent/acme/app update -> update [owner]',
  },
  {
    says: 'the manifest asks for less, and what it dropped is not true',
    approved: update,
    fresh: { ...update, desired: [desired(app, { colour: 'blue' })] },
    comes: 'differs: Parent/acme/app update -> update [timeout]',
  },
  {
    says: 'the manifest asks for less, and what it dropped is true all the same',
    approved: update,
    fresh: now({ colour: 'red', timeout: 60 }, { desired: [desired(app, { colour: 'blue' })] }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the manifest is gone and nothing of what was approved is true',
    approved: update,
    fresh: { live: [live(app, { ...ours, ownershipTag: undefined, spec: { colour: 'red', timeout: 0 } })] },
    comes: 'differs: Parent/acme/app update -> nothing [colour timeout]',
  },
  {
    says: 'what was to be updated is gone, and would be created instead',
    approved: update,
    fresh: { desired: [blueApp] },
    comes: 'differs: Parent/acme/app update -> create [colour timeout claim]',
  },
  {
    says: 'another resource is to change besides',
    approved: update,
    fresh: { desired: [blueApp, desired(lib)], live: [redApp] },
    comes: 'differs: Parent/acme/lib nothing -> create [claim]',
  },
  {
    says: 'the creation has happened',
    approved: create,
    fresh: { ...create, live: [live(app, { ...ours, spec: { colour: 'blue', readers: ['b', 'a'] } })] },
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'the creation was cut short, and what is left differs from what the service made of it',
    approved: create,
    fresh: { ...create, live: [live(app, { ...ours, spec: { colour: 'red', readers: ['b'] } })] },
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the creation was cut short, and the manifest says by now that something else shall be left',
    approved: create,
    fresh: {
      desired: [desired(app, { colour: 'blue', readers: ['a'] })],
      live: [live(app, { ...ours, spec: { colour: 'red', readers: [] } })],
    },
    comes: 'differs: Parent/acme/app create -> update [readers]',
  },
  {
    says: 'the creation was cut short, and the manifest dropped a part of what is left',
    approved: create,
    fresh: {
      desired: [desired(app, { colour: 'blue' })],
      live: [live(app, { ...ours, spec: { colour: 'red', readers: [] } })],
    },
    comes: 'differs: Parent/acme/app create -> update [readers]',
  },
  {
    says: 'somebody else created it with our claim on it, but not our creator mark: it is no creation cut short',
    approved: create,
    fresh: {
      ...create,
      live: [live(app, { ownershipTag: 'mine', spec: { colour: 'red', readers: ['a', 'b'] } })],
    },
    comes: 'differs: Parent/acme/app create -> update [colour]',
  },
  {
    says: 'it has no creator mark of ours, but the ledger knows that we created this very one',
    approved: create,
    fresh: {
      ...create,
      live: [live(app, { ownershipTag: 'mine', spec: { colour: 'red', readers: ['a', 'b'] } })],
      records: { 'Parent/acme/app': record({ id: 'id-app' }) },
    },
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'what was to be deleted is gone',
    approved: removal(),
    fresh: { records: { 'Parent/acme/app': record({ id: 'id-app' }) } },
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'what was to be deleted was not looked for everywhere',
    approved: removal(),
    fresh: { records: { 'Parent/acme/app': record({ id: 'id-app' }) }, incomplete: ['page 3 was refused'] },
    comes: 'differs: Parent/acme/app delete -> nothing []',
  },
  {
    says: 'what was to be deleted is declared again',
    approved: removal(),
    fresh: { ...removal(), desired: [desired(app)] },
    comes: 'differs: Parent/acme/app delete -> nothing []',
  },
  {
    says: 'what was to be deleted would be kept now',
    approved: removal(),
    fresh: removal({ facts: { inUse: true } }),
    comes: 'differs: Parent/acme/app delete -> nothing []',
  },
  {
    says: 'what was to be deleted would be released now',
    approved: removal(),
    fresh: removal({ ownershipTag: 'mine:release' }),
    comes: 'differs: Parent/acme/app delete -> release [claim]',
  },
  {
    says: 'what was to be released bears no claim any more',
    approved: removal({ ownershipTag: 'mine:release' }),
    fresh: removal({ ownershipTag: undefined }),
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'a safe delete was approved, and a forced one is asked for',
    approved: removalRequest('safe'),
    fresh: removalRequest('force'),
    comes: 'differs: Parent/acme/app delete -> delete [remove]',
  },
  {
    says: 'the adoption has claimed it, and has not changed it yet',
    approved: adoption({}),
    fresh: adoption({ ownershipTag: 'mine' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the adoption is complete',
    approved: adoption({}),
    fresh: adoption({ ownershipTag: 'mine', spec: { colour: 'blue' } }),
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'an adoption was approved, and it moved before it was claimed',
    approved: adoption({}),
    fresh: adoption({ spec: { colour: 'green' } }),
    comes: 'differs: Parent/acme/app adopt -> adopt [colour]',
  },
  {
    says: 'what can bear no claim was to be adopted, and the ledger knows it by now',
    approved: doorway({}),
    fresh: doorway({ records: { 'Role/acme/job': record() } }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'some elements of a set are there, and others gone, already',
    approved: readers(['x', 'y'], ['a', 'b']),
    fresh: readers(['y', 'a'], ['a', 'b']),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a set has an element that was not there when its removal was approved',
    approved: readers(['x'], ['a']),
    fresh: readers(['x', 'z'], ['a']),
    comes: 'differs: Parent/acme/app update -> update [readers]',
  },
  {
    says: 'a set lacks an element that it was to keep',
    approved: readers(['x', 'k'], ['a', 'k']),
    fresh: readers(['x'], ['a', 'k']),
    comes: 'differs: Parent/acme/app update -> update [readers]',
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
    comes: 'differs: Parent/acme/app update -> update [labels.z]',
  },
  {
    says: 'one member of an object is as approved',
    approved: access({ note: 'tin', key: '1' }),
    fresh: access({ note: 'prod', key: '1' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a role of ours, written whole, is as approved although the ledger has not heard of it',
    approved: { desired: [desired(at('Role', 'job'), { colour: 'blue' })] },
    fresh: {
      desired: [desired(at('Role', 'job'), { colour: 'blue' })],
      live: [live(at('Role', 'job'), { spec: { colour: 'blue' } })],
    },
    comes: 'subset, done: Role/acme/job',
  },
  {
    says: 'what was to be let go is declared again',
    approved: settings(),
    fresh: { ...settings(), desired: [desired(at('Settings', 'config'))] },
    comes: 'differs: Settings/acme/config release -> nothing []',
  },
  {
    says: 'what was to be let go is forgotten',
    approved: settings(),
    fresh: { ...settings(), records: {} },
    comes: 'subset, done: Settings/acme/config',
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
    live: [live(app, { ...ours, ...about })],
    records: { 'Parent/acme/app': record({ id: 'id-app' }) },
  };
}

function removalRequest(remove: 'safe' | 'force'): World {
  return { ...removal(), desired: [desired(app, {}, { remove })] };
}

function adoption(about: LiveAbout): World {
  return {
    desired: [desired(app, { colour: 'blue' }, { adopt: true })],
    live: [live(app, { spec: { colour: 'red' }, ...about })],
  };
}

function doorway(about: World): World {
  const job = at('Role', 'job');
  const wanted = desired(job, { colour: 'blue' }, { adopt: true });
  return { desired: [wanted], live: [live(job, { spec: { colour: 'red' } })], ...about };
}

function readers(before: readonly string[], after: readonly string[]): World {
  return whole({ readers: before }, { readers: after });
}

function labels(before: Spec, after: Spec): World {
  return whole({ labels: before }, { labels: after });
}

function access(before: Spec): World {
  return whole({ access: before }, { access: { note: 'prod', key: '2' } });
}

function whole(before: Spec, after: Spec): World {
  return { desired: [desired(app, after)], live: [live(app, { ...ours, spec: before })] };
}

function settings(): World {
  const config = at('Settings', 'config');
  return {
    live: [live(config, { spec: { colour: 'red', timeout: 0, readers: [] } })],
    records: { 'Settings/acme/config': record({ fields: { colour: 'red' } }) },
  };
}
