/** Rows with an approved world, the world at the time of the apply, and the expected comparison of both plans. */
import type { Spec } from '../../../src/model/resource.ts';
import { at, desired, type LiveAbout, live, record, type World } from './sample-plan.ts';

const app = at('Parent', 'app');
const lib = at('Parent', 'lib');

/** Ownership evidence that this stack created the resource. */
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

/** The world in which the update was approved, with these live values. */
function now(spec: Spec, about: World = {}): World {
  return { ...update, live: [live(app, { ...ours, spec })], ...about };
}

const create: World = { desired: [desired(app, { colour: 'blue', readers: ['a', 'b'] })] };

export const approvalRows: readonly ApprovalRow[] = [
  { says: 'nothing changed', approved: update, fresh: update, comes: 'equal' },
  {
    says: 'one field already has the approved value',
    approved: update,
    fresh: now({ colour: 'blue', timeout: 0 }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'all fields already have the approved values',
    approved: update,
    fresh: now({ colour: 'blue', timeout: 60 }),
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'a field changed to a third value',
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
    says: 'the manifest dropped a field whose approved value is not live',
    approved: update,
    fresh: { ...update, desired: [desired(app, { colour: 'blue' })] },
    comes: 'differs: Parent/acme/app update -> update [timeout]',
  },
  {
    says: 'the manifest dropped a field whose approved value is live',
    approved: update,
    fresh: now({ colour: 'red', timeout: 60 }, { desired: [desired(app, { colour: 'blue' })] }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the manifest is gone, and none of the approved values is live',
    approved: update,
    fresh: { live: [live(app, { ...ours, ownershipTag: undefined, spec: { colour: 'red', timeout: 0 } })] },
    comes: 'differs: Parent/acme/app update -> nothing [colour timeout]',
  },
  {
    says: 'the resource of an approved update is gone, and would be created',
    approved: update,
    fresh: { desired: [blueApp] },
    comes: 'differs: Parent/acme/app update -> create [colour timeout claim]',
  },
  {
    says: 'the plan also changes another resource',
    approved: update,
    fresh: { desired: [blueApp, desired(lib)], live: [redApp] },
    comes: 'differs: Parent/acme/lib nothing -> create [claim]',
  },
  {
    says: 'the approved creation is complete',
    approved: create,
    fresh: { ...create, live: [live(app, { ...ours, spec: { colour: 'blue', readers: ['b', 'a'] } })] },
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'the creation was interrupted, and the remaining fields differ from the defaults of the service',
    approved: create,
    fresh: { ...create, live: [live(app, { ...ours, spec: { colour: 'red', readers: ['b'] } })] },
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the creation was interrupted, and the manifest changed a remaining field',
    approved: create,
    fresh: {
      desired: [desired(app, { colour: 'blue', readers: ['a'] })],
      live: [live(app, { ...ours, spec: { colour: 'red', readers: [] } })],
    },
    comes: 'differs: Parent/acme/app create -> update [readers]',
  },
  {
    says: 'the creation was interrupted, and the manifest dropped a remaining field',
    approved: create,
    fresh: {
      desired: [desired(app, { colour: 'blue' })],
      live: [live(app, { ...ours, spec: { colour: 'red', readers: [] } })],
    },
    comes: 'differs: Parent/acme/app create -> update [readers]',
  },
  {
    says: 'another user created the resource with our ownership tag, but without our creator mark',
    approved: create,
    fresh: {
      ...create,
      live: [live(app, { ownershipTag: 'mine', spec: { colour: 'red', readers: ['a', 'b'] } })],
    },
    comes: 'differs: Parent/acme/app create -> update [colour]',
  },
  {
    says: 'the resource lacks our creator mark, but the ledger has its id as created by us',
    approved: create,
    fresh: {
      ...create,
      live: [live(app, { ownershipTag: 'mine', spec: { colour: 'red', readers: ['a', 'b'] } })],
      records: { 'Parent/acme/app': record({ id: 'id-app' }) },
    },
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'the resource of an approved delete is gone',
    approved: removal(),
    fresh: { records: { 'Parent/acme/app': record({ id: 'id-app' }) } },
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'the read for the resource of an approved delete was incomplete',
    approved: removal(),
    fresh: { records: { 'Parent/acme/app': record({ id: 'id-app' }) }, incomplete: ['page 3 was refused'] },
    comes: 'differs: Parent/acme/app delete -> nothing []',
  },
  {
    says: 'the resource of an approved delete is declared again',
    approved: removal(),
    fresh: { ...removal(), desired: [desired(app)] },
    comes: 'differs: Parent/acme/app delete -> nothing []',
  },
  {
    says: 'the resource of an approved delete would now be kept',
    approved: removal(),
    fresh: removal({ facts: { inUse: true } }),
    comes: 'differs: Parent/acme/app delete -> nothing []',
  },
  {
    says: 'the resource of an approved delete would now be released',
    approved: removal(),
    fresh: removal({ ownershipTag: 'mine:release' }),
    comes: 'differs: Parent/acme/app delete -> release [claim]',
  },
  {
    says: 'the resource of an approved release has no ownership tag any more',
    approved: removal({ ownershipTag: 'mine:release' }),
    fresh: removal({ ownershipTag: undefined }),
    comes: 'subset, done: Parent/acme/app',
  },
  {
    says: 'a safe delete was approved, and the manifest now asks for a forced one',
    approved: removalRequest('safe'),
    fresh: removalRequest('force'),
    comes: 'differs: Parent/acme/app delete -> delete [remove]',
  },
  {
    says: 'the adoption has set the ownership tag, but no field yet',
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
    says: 'the resource of an approved adoption changed before it got the ownership tag',
    approved: adoption({}),
    fresh: adoption({ spec: { colour: 'green' } }),
    comes: 'differs: Parent/acme/app adopt -> adopt [colour]',
  },
  {
    says: 'the ledger already records an approved adoption of a resource without ownership tags',
    approved: doorway({}),
    fresh: doorway({ records: { 'Role/acme/job': record() } }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'some elements of a set were already added, and others removed',
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
    says: 'a set lacks an element that the approved plan keeps',
    approved: readers(['x', 'k'], ['a', 'k']),
    fresh: readers(['x'], ['a', 'k']),
    comes: 'differs: Parent/acme/app update -> update [readers]',
  },
  {
    says: 'one key of a map already has the approved value',
    approved: labels({ a: '1' }, { a: '2', b: '3' }),
    fresh: labels({ a: '2' }, { a: '2', b: '3' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a key of a map whose removal was approved is gone',
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
    says: 'one member of an object already has the approved value',
    approved: access({ note: 'tin', key: '1' }),
    fresh: access({ note: 'prod', key: '1' }),
    comes: 'subset, done: nothing whole',
  },
  {
    says: 'a role was already created as approved, but is not in the ledger yet',
    approved: { desired: [desired(at('Role', 'job'), { colour: 'blue' })] },
    fresh: {
      desired: [desired(at('Role', 'job'), { colour: 'blue' })],
      live: [live(at('Role', 'job'), { spec: { colour: 'blue' } })],
    },
    comes: 'subset, done: Role/acme/job',
  },
  {
    says: 'a resource without deletes, whose release was approved, is declared again',
    approved: settings(),
    fresh: { ...settings(), desired: [desired(at('Settings', 'config'))] },
    comes: 'differs: Settings/acme/config release -> nothing []',
  },
  {
    says: 'a resource without deletes, whose release was approved, is no longer in the ledger',
    approved: settings(),
    fresh: { ...settings(), records: {} },
    comes: 'subset, done: Settings/acme/config',
  },
  {
    says: 'the stack now has another target',
    approved: update,
    fresh: { ...update, target: { url: 'https://other.test' } },
    comes: 'elsewhere',
  },
  {
    says: 'the stack now has another name',
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
