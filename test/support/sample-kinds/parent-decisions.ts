/**
 * Whose a thing with an ownership tag in the target and a creator mark is, such as a workspace, and what becomes of it:
 * docs/internals/rules/ownership.md as
 * rows, written from the rules and not from the planner.
 */
import { type Combination, declared, documents, type Rule, removalRequests } from './decision-table.ts';

const there = ['as declared', 'different'] as const;

/** The circumstances of a parent. `inherited` is our own ownership tag, handed down by a project. */
export const parentCircumstances = {
  document: documents,
  ownershipTag: ['none', 'ours', 'ours:protect', 'ours:release', "another's", 'inherited'],
  creatorMark: ['ours', "another's", 'none'],
  ledger: ['no ledger', 'no record', 'created', 'adopted', 'record of another id'],
  live: ['missing', ...there],
} as const;

export type ParentCase = Combination<typeof parentCircumstances>;
type ParentRule = Rule<typeof parentCircumstances>;

const ours = ['ours', 'ours:protect', 'ours:release'] as const;
const notOurs = ['none', "another's", 'inherited'] as const;
/** the ledger knows this very whole */
const recorded = ['created', 'adopted'] as const;
const unrecorded = ['no ledger', 'no record', 'record of another id'] as const;
const othersMark = ["another's", 'none'] as const;

/** A thing that is not there bears nothing, and a record of another id is a record like any other then. */
export function isPossibleParent({ live, ownershipTag, creatorMark, ledger }: ParentCase): boolean {
  return (
    live !== 'missing' ||
    (ownershipTag === 'none' && creatorMark === 'none' && ledger !== 'record of another id')
  );
}

/** What the plan does. `colour` stands for the live difference, which is shown completely. */
export const parentActions: readonly ParentRule[] = [
  // Nothing there.
  {
    says: 'declared and not there: created, with its claim',
    when: { document: declared, live: 'missing' },
    comes: 'create, claim none → mine, colour',
  },
  {
    says: 'not declared and not there: nobody speaks of it',
    when: { document: 'none', live: 'missing', ledger: ['no ledger', 'no record'] },
    comes: 'nothing',
  },
  {
    says: 'not declared, and gone since it was recorded: forgotten',
    when: { document: 'none', live: 'missing', ledger: recorded },
    comes: 'nothing, forgotten',
  },
  {
    says: 'a removal request that has done its work is a hint to delete it',
    when: { document: removalRequests, live: 'missing', ledger: ['no ledger', 'no record'] },
    comes: 'nothing, says "its removal request can be deleted"',
  },
  {
    says: 'a removal request that has done its work, and the ledger forgets',
    when: { document: removalRequests, live: 'missing', ledger: recorded },
    comes: 'nothing, says "its removal request can be deleted", forgotten',
  },

  // Declared and there.
  {
    says: 'declared, with a claim that a project hands down: an error',
    when: { document: declared, ownershipTag: 'inherited', live: there },
    comes: 'conflict claim-inherited',
  },
  {
    says: "declared, with another stack's claim: a conflict, whatever else speaks for us",
    when: { document: declared, ownershipTag: "another's", live: there },
    comes: 'conflict claimed-by-another-stack',
  },
  {
    says: 'declared, ours and as declared: nothing to do',
    when: { document: declared, ownershipTag: 'ours', live: 'as declared' },
    comes: 'nothing',
  },
  {
    says: 'declared, ours and different: updated',
    when: { document: declared, ownershipTag: 'ours', live: 'different' },
    comes: 'update, colour',
  },
  {
    says: 'declared without protection, protected in the target: the flag goes',
    when: { document: declared, ownershipTag: 'ours:protect', live: 'as declared' },
    comes: 'update, claim mine:protect → mine',
  },
  {
    says: 'the same, along with what differs',
    when: { document: declared, ownershipTag: 'ours:protect', live: 'different' },
    comes: 'update, claim mine:protect → mine, colour',
  },
  {
    says: 'declared without release, to be released by the target: the flag goes',
    when: { document: declared, ownershipTag: 'ours:release', live: 'as declared' },
    comes: 'update, claim mine:release → mine',
  },
  {
    says: 'the same, along with what differs',
    when: { document: declared, ownershipTag: 'ours:release', live: 'different' },
    comes: 'update, claim mine:release → mine, colour',
  },
  {
    says: 'declared, its ownership tag removed, and the ledger has its id: the tag is restored',
    when: {
      document: declared,
      ownershipTag: 'none',
      ledger: recorded,
      live: 'as declared',
    },
    comes: 'update, claim none → mine',
  },
  {
    says: 'the same, along with what differs',
    when: { document: declared, ownershipTag: 'none', ledger: recorded, live: 'different' },
    comes: 'update, claim none → mine, colour',
  },
  {
    says: 'declared, and nothing says that it is ours: an error that shows "adopt: true"',
    when: {
      document: 'declared',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: there,
    },
    comes: 'conflict exists-unclaimed',
  },
  {
    says: 'adopted, and as declared: only the claim is written',
    when: {
      document: 'adopt',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: 'as declared',
    },
    comes: 'adopt, claim none → mine',
  },
  {
    says: 'adopted, and different: the whole difference is shown',
    when: {
      document: 'adopt',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: 'different',
    },
    comes: 'adopt, claim none → mine, colour',
  },

  // Not declared and there.
  {
    says: "not declared, not ours, never recorded: nobody's concern",
    when: { document: 'none', ownershipTag: notOurs, ledger: ['no ledger', 'no record'], live: there },
    comes: 'nothing',
  },
  {
    says: 'the same, and the record tells of one that is gone: that record is forgotten',
    when: { document: 'none', ownershipTag: notOurs, ledger: 'record of another id', live: there },
    comes: 'nothing, forgotten',
  },
  {
    says: 'not declared, recorded, and it no longer has our ownership tag: left alone, and reported',
    when: { document: 'none', ownershipTag: notOurs, ledger: recorded, live: there },
    comes: 'nothing, says "no longer has the ownership tag of this stack", forgotten',
  },
  {
    says: 'not declared, protected: kept, whatever else is known',
    when: { document: 'none', ownershipTag: 'ours:protect', live: there },
    comes: 'nothing, says "protected: it is kept"',
  },
  {
    says: 'not declared, marked for release: released, whatever else is known',
    when: { document: 'none', ownershipTag: 'ours:release', live: there },
    comes: 'release, claim mine:release → none',
  },
  {
    says: 'not declared, ours, created by us as the ledger says: deleted',
    when: { document: 'none', ownershipTag: 'ours', ledger: 'created', live: there },
    comes: 'delete',
  },
  {
    says: 'not declared, ours, adopted as the ledger says: released, whatever the creator mark says',
    when: { document: 'none', ownershipTag: 'ours', ledger: 'adopted', live: there },
    comes: 'release, claim mine → none',
  },
  {
    says: 'not declared, ours by claim and creator mark, without a record: deleted',
    when: { document: 'none', ownershipTag: 'ours', creatorMark: 'ours', ledger: unrecorded, live: there },
    comes: 'delete',
  },
  {
    says: 'not declared, and our claim is all that there is: a clone or a lost ledger, never written',
    when: {
      document: 'none',
      ownershipTag: 'ours',
      creatorMark: othersMark,
      ledger: unrecorded,
      live: there,
    },
    comes: 'nothing, says "nothing proves that this stack created it"',
  },

  // Removal requests.
  {
    says: 'a removal request of what does not bear our claim is refused',
    when: { document: removalRequests, ownershipTag: notOurs, live: there },
    comes: 'conflict not-ours',
  },
  {
    says: 'a removal request of what is protected is refused',
    when: { document: removalRequests, ownershipTag: 'ours:protect', live: there },
    comes: 'conflict protected',
  },
  {
    says: 'a safe removal request deletes what is ours, also what was adopted',
    when: { document: 'safe removal request', ownershipTag: ['ours', 'ours:release'], live: there },
    comes: 'delete',
  },
  {
    says: 'only a removal request that forces deletes by force',
    when: { document: 'force removal request', ownershipTag: ['ours', 'ours:release'], live: there },
    comes: 'delete, by force',
  },
];

/** Which origin the ledger shall tell of what is declared: on it depends whether it is deleted or released one day. */
export const parentOrigins: readonly ParentRule[] = [
  {
    says: 'what is not declared is not recorded',
    when: { document: ['none', ...removalRequests] },
    comes: '-',
  },
  { says: 'what is not there is created', when: { document: declared, live: 'missing' }, comes: 'created' },
  {
    says: 'a conflict records nothing',
    when: { document: declared, ownershipTag: ["another's", 'inherited'], live: there },
    comes: '-',
  },
  {
    says: 'what is ours keeps the origin that the ledger has: created',
    when: { document: declared, ownershipTag: ['none', ...ours], ledger: 'created', live: there },
    comes: 'created',
  },
  {
    says: 'what is ours keeps the origin that the ledger has: adopted',
    when: { document: declared, ownershipTag: ['none', ...ours], ledger: 'adopted', live: there },
    comes: 'adopted',
  },
  {
    says: 'without a record of it the creator mark tells that we created it',
    when: {
      document: declared,
      ownershipTag: ours,
      creatorMark: 'ours',
      ledger: unrecorded,
      live: there,
    },
    comes: 'created',
  },
  {
    says: 'without record and creator mark it was adopted',
    when: {
      document: declared,
      ownershipTag: ours,
      creatorMark: othersMark,
      ledger: unrecorded,
      live: there,
    },
    comes: 'adopted',
  },
  {
    says: 'an adoption is recorded as one',
    when: {
      document: 'adopt',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: there,
    },
    comes: 'adopted',
  },
  {
    says: 'what may not be taken over is not recorded',
    when: {
      document: 'declared',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: there,
    },
    comes: '-',
  },
];

/** Which guard asks first; those that count are not asked here. */
export const parentGuards: readonly ParentRule[] = [
  {
    says: 'what we had applied and somebody deleted is not created again without a word',
    when: { document: declared, live: 'missing', ledger: recorded },
    comes: 'recreate',
  },
  {
    says: 'what never was there is created without asking',
    when: { document: declared, live: 'missing', ledger: ['no ledger', 'no record'] },
    comes: '-',
  },
  {
    says: 'what is declared and there never asks: "adopt: true" is an answer already',
    when: { document: declared, ledger: [...recorded, 'no ledger', 'no record'], live: there },
    comes: '-',
  },
  {
    says: 'what has the name of a recorded one, and another id, asks before it is adopted',
    when: {
      document: 'adopt',
      ownershipTag: 'none',
      ledger: 'record of another id',
      live: there,
    },
    comes: 'adopt',
  },
  {
    says: 'what is ours by its claim is no adoption, whatever id the ledger knows',
    when: { document: declared, ownershipTag: ours, ledger: 'record of another id', live: there },
    comes: '-',
  },
  {
    says: 'what is refused asks nothing, whatever id the ledger knows',
    when: { document: 'declared', ownershipTag: notOurs, ledger: 'record of another id', live: there },
    comes: '-',
  },
  {
    says: 'what another stack claims asks nothing, whatever id the ledger knows',
    when: {
      document: 'adopt',
      ownershipTag: ["another's", 'inherited'],
      ledger: 'record of another id',
      live: there,
    },
    comes: '-',
  },
  {
    says: 'what is gone asks nothing',
    when: { document: ['none', ...removalRequests], live: 'missing' },
    comes: '-',
  },
  {
    says: 'what is not provably ours, or kept, or released, asks nothing',
    when: { document: 'none', ownershipTag: [...notOurs, 'ours:protect', 'ours:release'], live: there },
    comes: '-',
  },
  {
    says: 'a delete or release that the ledger knows about asks nothing',
    when: { document: 'none', ownershipTag: 'ours', ledger: recorded, live: there },
    comes: '-',
  },
  {
    says: 'a delete without a record always asks',
    when: { document: 'none', ownershipTag: 'ours', creatorMark: 'ours', ledger: unrecorded, live: there },
    comes: 'no-record',
  },
  {
    says: 'what is only mentioned asks nothing',
    when: {
      document: 'none',
      ownershipTag: 'ours',
      creatorMark: othersMark,
      ledger: unrecorded,
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a removal request that is refused asks nothing',
    when: { document: removalRequests, ownershipTag: [...notOurs, 'ours:protect'], live: there },
    comes: '-',
  },
  {
    says: 'a removal request of what the ledger knows asks nothing',
    when: {
      document: removalRequests,
      ownershipTag: ['ours', 'ours:release'],
      ledger: recorded,
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a removal request of what the ledger does not know asks, however explicit it is',
    when: {
      document: removalRequests,
      ownershipTag: ['ours', 'ours:release'],
      ledger: unrecorded,
      live: there,
    },
    comes: 'no-record',
  },
];
