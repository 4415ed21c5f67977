/** How old the read before a write is. */
import { expect, it } from 'vitest';
import { ResourceReads } from '../../src/apply/check-before-write.ts';
import { PageReads, ParentReads } from '../../src/apply/shared-reads.ts';
import type { Call } from '../../src/model/call.ts';
import type { Answer } from '../../src/model/http.ts';
import type { Session } from '../../src/model/kind.ts';
import { registryOf, parentKind } from '../support/sample-kinds/sample-kind.ts';
import { app, desired, live, planOf, recorded, target } from '../support/sample-kinds/sample-plan.ts';

const [shape, colour]: readonly [Call, Call] = [called('shape'), called('colour')];

function called(field: string): Call {
  return {
    id: `Parent/acme/app#${field}`,
    target: 'acme',
    method: 'PATCH',
    path: [],
    order: 5,
    needs: [],
    success: [200],
    repeatable: true,
    writes: [field],
  };
}

it('The read before one call does not make the check of another call of the same change recent', async () => {
  const found = live(app, { ownershipTag: 'mine', spec: { colour: 'red' } });
  const world = { desired: [desired(app, { colour: 'green' })], live: [found], records: recorded() };
  const planning = planOf({ ...world, kinds: registryOf(parentKind) });
  const [change] = planning.plan.changes;
  if (change === undefined) throw new Error('nothing is planned');
  let now = 0;
  const none: Answer = { method: 'GET', url: '', status: 404, body: null, words: '' };
  const session: Session = {
    target,
    dialect: {
      name: '',
      service: 'workspaces',
      spokenBy: '',
      rename: {},
      tokenHeader: '',
      capabilities: new Set(),
    },
    stack: 'mine',
    reader: { get: async () => none, list: async () => none },
    lacks: new Set(),
    once: (_, read) => read(),
  };
  const kind = {
    ...parentKind,
    readOne: async (given: Session) => {
      await given.reader.get('/app');
      return found;
    },
  };
  const reads = new ResourceReads(change, {
    ...{ planning, kind, session, ids: new Map(), createdAt: new Map() },
    ...{ openSession: () => session, parents: new ParentReads(), pages: new PageReads(), now: () => now },
  });
  expect(await reads.before(shape, false)).toEqual({ is: 'send' });
  now += 10_000;
  // The other call was refused with 429, and is checked again.
  expect(await reads.before(colour, true)).toEqual({ is: 'send' });
  expect([reads.age(shape), reads.age(colour)]).toEqual([10_000, 0]);
});
