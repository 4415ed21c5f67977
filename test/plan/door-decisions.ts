/**
 * Whose a thing is that can bear no mark, such as a role, and what becomes of it: RULES 22-24 as rows, written from the
 * rules and not from the planner.
 */
import { type Combination, declared, documents, type Rule, tombstones } from './decision-table.ts';

/**
 * The circumstances of a door. `unsaid`: its target has no `owns`; `begun`: the ledger does not know it, and an apply that was
 * cut short had begun to create it; `adopted:delete`: its last manifest said so.
 */
export const doorCircumstances = {
  document: documents,
  owns: ['inside', 'outside', 'unsaid'],
  ledger: [
    'no ledger',
    'no record',
    'begun',
    'created',
    'adopted',
    'adopted:delete',
    'created:protect',
    'created:release',
  ],
  live: ['missing', 'as declared', 'as last written', 'changed since'],
  target: ['shared', 'exclusive'],
} as const;

export type DoorCase = Combination<typeof doorCircumstances>;
type DoorRule = Rule<typeof doorCircumstances>;

const doorThere = ['as declared', 'as last written', 'changed since'] as const;
const notAsDeclared = ['as last written', 'changed since'] as const;
const doorRecorded = ['created', 'adopted', 'adopted:delete', 'created:protect', 'created:release'] as const;
const doorUnrecorded = ['no ledger', 'no record', 'begun'] as const;
/** those that the manifest meant to be deleted with it */
const doorDeletable = ['created', 'adopted:delete'] as const;
const mayBeOurs = ['inside', 'unsaid'] as const;

/** A name outside of `owns` cannot be declared at all: validation refuses it (RULES 24). */
export function isPossibleDoor({ document, owns }: DoorCase): boolean {
  return owns !== 'outside' || !(declared as readonly string[]).includes(document);
}

/** What the plan does. What was last written is not what is declared: `as declared` has changed since, too. */
export const doorDeeds: readonly DoorRule[] = [
  // Nothing there.
  {
    says: 'declared and not there: created',
    when: { document: declared, live: 'missing' },
    comes: 'create, colour',
  },
  {
    says: 'not declared and not there: nobody speaks of it',
    when: { document: 'none', live: 'missing', ledger: doorUnrecorded },
    comes: 'nothing',
  },
  {
    says: 'not declared, and gone since it was recorded: forgotten',
    when: { document: 'none', live: 'missing', ledger: doorRecorded },
    comes: 'nothing, forgotten',
  },
  {
    says: 'a tombstone that has done its work is a hint to delete it',
    when: { document: tombstones, live: 'missing', ledger: doorUnrecorded },
    comes: 'nothing, says "its tombstone document can be deleted"',
  },
  {
    says: 'a tombstone that has done its work, and the ledger forgets',
    when: { document: tombstones, live: 'missing', ledger: doorRecorded },
    comes: 'nothing, says "its tombstone document can be deleted", forgotten',
  },

  // Declared and there.
  {
    says: 'declared, never recorded and as declared: an adoption that sends nothing',
    when: { document: declared, live: 'as declared', ledger: ['no ledger', 'no record'] },
    comes: 'adopt',
  },
  {
    says: 'declared, recorded or begun, and as declared: nothing to do',
    when: { document: declared, live: 'as declared', ledger: ['begun', ...doorRecorded] },
    comes: 'nothing',
  },
  {
    says: 'declared, known to the ledger and different: updated',
    when: { document: declared, live: notAsDeclared, ledger: doorRecorded },
    comes: 'update, colour',
  },
  {
    says: 'declared, never recorded and different: an adoption, shown whole',
    when: { document: declared, live: notAsDeclared, ledger: doorUnrecorded },
    comes: 'adopt, colour',
  },

  // Not declared and there.
  {
    says: "not declared, outside of what the target owns, never recorded: nobody's concern",
    when: { document: 'none', owns: 'outside', ledger: doorUnrecorded, live: doorThere },
    comes: 'nothing',
  },
  {
    says: 'not declared, recorded, and outside of what the target owns by now: left alone',
    when: { document: 'none', owns: 'outside', ledger: doorRecorded, live: doorThere },
    comes: 'nothing, says "not among the names that its target owns", forgotten',
  },
  {
    says: 'not declared, protected by its last manifest: kept',
    when: { document: 'none', owns: mayBeOurs, ledger: 'created:protect', live: doorThere },
    comes: 'nothing, says "protected: it is kept"',
  },
  {
    says: 'not declared, to be released by its last manifest: it stays, and leaves the ledger',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'created:release',
      live: doorThere,
      target: 'shared',
    },
    comes: 'release',
  },
  {
    says: 'the same in an exclusive target: it stays recorded, or the next plan would delete it as unknown',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'created:release',
      live: doorThere,
      target: 'exclusive',
    },
    comes: 'nothing, says "remembered for as long as its target is exclusive"',
  },
  {
    says: 'not declared, created by us and as we last wrote it: deleted',
    when: { document: 'none', owns: mayBeOurs, ledger: doorDeletable, live: 'as last written' },
    comes: 'delete',
  },
  {
    says: 'not declared, changed since our last write: reported, also where the target is exclusive',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: doorDeletable,
      live: ['as declared', 'changed since'],
    },
    comes: 'nothing, says "changed since our last write"',
  },
  {
    says: 'not declared, and adopted: released, however it is by now',
    when: { document: 'none', owns: mayBeOurs, ledger: 'adopted', live: doorThere, target: 'shared' },
    comes: 'release',
  },
  {
    says: 'not declared, adopted and as it was recorded, in an exclusive target: deleted',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'adopted',
      live: 'as last written',
      target: 'exclusive',
    },
    comes: 'delete',
  },
  {
    says: 'the same, changed since: reported',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'adopted',
      live: ['as declared', 'changed since'],
      target: 'exclusive',
    },
    comes: 'nothing, says "changed since our last write"',
  },
  {
    says: 'not declared, never recorded, in an exclusive target: deleted',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'exclusive',
    },
    comes: 'delete',
  },
  {
    says: 'not declared, never recorded, inside what a shared target owns: reported',
    when: { document: 'none', owns: 'inside', ledger: doorUnrecorded, live: doorThere, target: 'shared' },
    comes: 'nothing, says "never written by this stack"',
  },
  {
    says: "not declared, never recorded, in a target that owns no names: nobody's concern",
    when: { document: 'none', owns: 'unsaid', ledger: doorUnrecorded, live: doorThere, target: 'shared' },
    comes: 'nothing',
  },

  // Tombstones.
  {
    says: 'a tombstone of what is protected is refused',
    when: { document: tombstones, ledger: 'created:protect', live: doorThere },
    comes: 'conflict protected',
  },
  {
    says: 'a safe tombstone insists on the removal of what we wrote, changed or not',
    when: {
      document: 'safe tombstone',
      ledger: ['created', 'adopted', 'adopted:delete', 'created:release'],
      live: doorThere,
    },
    comes: 'delete',
  },
  {
    says: 'the same by force',
    when: {
      document: 'force tombstone',
      ledger: ['created', 'adopted', 'adopted:delete', 'created:release'],
      live: doorThere,
    },
    comes: 'delete, by force',
  },
  {
    says: 'a safe tombstone removes what we never wrote inside what the target owns',
    when: { document: 'safe tombstone', owns: 'inside', ledger: doorUnrecorded, live: doorThere },
    comes: 'delete',
  },
  {
    says: 'the same by force',
    when: { document: 'force tombstone', owns: 'inside', ledger: doorUnrecorded, live: doorThere },
    comes: 'delete, by force',
  },
  {
    says: 'a tombstone of what we never wrote outside of that is refused, however exclusive the target is',
    when: { document: tombstones, owns: 'outside', ledger: doorUnrecorded, live: doorThere },
    comes: 'conflict not-ours',
  },
  {
    says: 'a tombstone of what we never wrote is refused where no names are owned',
    when: {
      document: tombstones,
      owns: 'unsaid',
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'shared',
    },
    comes: 'conflict not-ours',
  },
  {
    says: 'an exclusive target without names is owned as a whole: a safe tombstone removes from it',
    when: {
      document: 'safe tombstone',
      owns: 'unsaid',
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'exclusive',
    },
    comes: 'delete',
  },
  {
    says: 'the same by force',
    when: {
      document: 'force tombstone',
      owns: 'unsaid',
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'exclusive',
    },
    comes: 'delete, by force',
  },
];

/** Which guard asks first (RULES 8, 22, 24). */
export const doorGuards: readonly DoorRule[] = [
  {
    says: 'what we had applied and somebody deleted is not created again without a word',
    when: { document: declared, live: 'missing', ledger: doorRecorded },
    comes: 'recreate',
  },
  {
    says: 'what never was there is created without asking',
    when: { document: declared, live: 'missing', ledger: doorUnrecorded },
    comes: '-',
  },
  {
    says: 'what is as declared asks nothing',
    when: { document: declared, live: 'as declared' },
    comes: '-',
  },
  {
    says: 'an update of what the ledger knows asks nothing',
    when: { document: declared, live: notAsDeclared, ledger: doorRecorded },
    comes: '-',
  },
  {
    says: 'an adoption asks',
    when: { document: 'declared', live: notAsDeclared, ledger: doorUnrecorded },
    comes: 'adopt',
  },
  {
    says: 'an adoption that the manifest asks for is answered already',
    when: { document: 'adopt', live: notAsDeclared, ledger: doorUnrecorded },
    comes: '-',
  },
  {
    says: 'what is gone asks nothing',
    when: { document: ['none', ...tombstones], live: 'missing' },
    comes: '-',
  },
  {
    says: 'what becomes of one that we created, or were told to delete, asks nothing',
    when: {
      document: ['none', ...tombstones],
      ledger: [...doorDeletable, 'created:protect', 'created:release'],
      live: doorThere,
    },
    comes: '-',
  },
  {
    says: 'a tombstone of an adopted one asks nothing',
    when: { document: tombstones, ledger: 'adopted', live: doorThere },
    comes: '-',
  },
  {
    says: 'to let go of an adopted one asks nothing',
    when: { document: 'none', ledger: 'adopted', live: doorThere, target: 'shared' },
    comes: '-',
  },
  {
    says: 'to delete an adopted one because its target is exclusive asks',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'adopted',
      live: 'as last written',
      target: 'exclusive',
    },
    comes: 'no-record',
  },
  {
    says: 'to keep an adopted one, changed since or outside of what its target owns, asks nothing',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'adopted',
      live: ['as declared', 'changed since'],
      target: 'exclusive',
    },
    comes: '-',
  },
  {
    says: 'to forget an adopted one outside of what its exclusive target owns asks nothing',
    when: { document: 'none', owns: 'outside', ledger: 'adopted', live: doorThere, target: 'exclusive' },
    comes: '-',
  },
  {
    says: 'what is left alone or refused asks nothing',
    when: {
      document: ['none', ...tombstones],
      owns: 'outside',
      ledger: doorUnrecorded,
      live: doorThere,
    },
    comes: '-',
  },
  {
    says: 'a delete without a record always asks: in an exclusive target',
    when: {
      document: ['none', ...tombstones],
      owns: mayBeOurs,
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'exclusive',
    },
    comes: 'no-record',
  },
  {
    says: 'a delete without a record always asks: when a tombstone wants it',
    when: {
      document: tombstones,
      owns: 'inside',
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'shared',
    },
    comes: 'no-record',
  },
  {
    says: 'what a shared target does not own, or only mentions, asks nothing',
    when: { document: 'none', owns: mayBeOurs, ledger: doorUnrecorded, live: doorThere, target: 'shared' },
    comes: '-',
  },
  {
    says: 'a tombstone that is refused where no names are owned asks nothing',
    when: {
      document: tombstones,
      owns: 'unsaid',
      ledger: doorUnrecorded,
      live: doorThere,
      target: 'shared',
    },
    comes: '-',
  },
];

/** What the ledger is told of a declared door. */
export const doorOrigins: readonly DoorRule[] = [
  {
    says: 'what is created is ours from the start',
    when: { document: declared, live: 'missing' },
    comes: 'created',
  },
  {
    says: 'what was recorded stays what it was: ours',
    when: {
      document: declared,
      live: doorThere,
      ledger: ['created', 'created:protect', 'created:release'],
    },
    comes: 'created',
  },
  {
    says: 'what was recorded stays what it was: adopted',
    when: { document: declared, live: doorThere, ledger: ['adopted', 'adopted:delete'] },
    comes: 'adopted',
  },
  {
    says: 'what an apply of ours had begun to create, and is as it was to be, is ours',
    when: { document: declared, live: 'as declared', ledger: 'begun' },
    comes: 'created',
  },
  {
    says: 'the same, but not as it was to be, is adopted: somebody else had a hand in it',
    when: { document: declared, live: notAsDeclared, ledger: 'begun' },
    comes: 'adopted',
  },
  {
    says: 'what was there is adopted, equal or not',
    when: { document: declared, live: doorThere, ledger: ['no ledger', 'no record'] },
    comes: 'adopted',
  },
  {
    says: 'what is not declared is not recorded',
    when: { document: ['none', ...tombstones] },
    comes: '-',
  },
];
