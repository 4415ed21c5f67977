/** Names that stand for another resource of which the ledger has no record. */
import { describe, expect, it } from 'vitest';
import { at, desired, live, record, type World } from '../support/sample-kinds/sample-plan.ts';
import { fired } from '../support/sample-kinds/watched-resources.ts';

const app = at('Parent', 'app');
const other = at('Parent', 'other');

describe('A resource without a record, while the ledger has something else under its name that is live elsewhere', () => {
  const world: World = {
    desired: [desired(app), desired(other)],
    live: [
      live(app, { id: 'id-new', ownershipTag: 'mine' }),
      live(other, { id: 'id-app', ownershipTag: 'mine' }),
    ],
    records: { 'Parent/acme/app': record({ id: 'id-app' }), 'Parent/acme/other': record({ id: 'id-app' }) },
  };

  it('is not recorded silently, though nothing of it differs', () => {
    expect(fired(world)).toEqual(['reference-changed blocks 1']);
  });

  it('is no other one if an unfinished apply began to create it, under a name that a rename made free', () => {
    expect(fired({ ...world, begunCreations: [app] })).toEqual([]);
  });
});
