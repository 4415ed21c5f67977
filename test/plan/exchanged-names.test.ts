/** Names that refer to another resource, which has no record in the ledger. */
import { describe, expect, it } from 'vitest';
import { at, desired, live, record, type World } from '../support/sample-kinds/sample-plan.ts';
import { firedGuards } from '../support/sample-kinds/watched-resources.ts';

const app = at('Parent', 'app');
const other = at('Parent', 'other');

describe('A resource whose name is recorded for another resource', () => {
  const world: World = {
    desired: [desired(app), desired(other)],
    live: [
      live(app, { id: 'id-new', ownershipTag: 'mine' }),
      live(other, { id: 'id-app', ownershipTag: 'mine' }),
    ],
    records: { 'Parent/acme/app': record({ id: 'id-app' }), 'Parent/acme/other': record({ id: 'id-app' }) },
  };

  it('is not recorded silently, although no field differs', () => {
    expect(firedGuards(world)).toEqual(['reference-changed blocks 1']);
  });

  it('needs no guard if an interrupted apply began to create it under a name that a rename freed', () => {
    expect(firedGuards({ ...world, begunCreations: [app] })).toEqual([]);
  });
});
