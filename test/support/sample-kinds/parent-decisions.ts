/**
 * The owner of a resource with an ownership tag and a creator mark in the target, such as a workspace, and what a plan does with it:
 * docs/internals/rules/ownership.md as rows, written from the rules and not from the planner.
 */
import { type Combination, declared, documents, type Rule, removalRequests } from './decision-table.ts';

const there = ['as declared', 'different'] as const;

/** The circumstances of a parent. `inherited` is our own ownership tag, which the workspace inherits from a project. */
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
/** the ledger has a record with the id of this parent */
const recorded = ['created', 'adopted'] as const;
const unrecorded = ['no ledger', 'no record', 'record of another id'] as const;
const othersMark = ["another's", 'none'] as const;

/** A missing parent has no tag and no mark, and no live id from which that of a record could differ. */
export function isPossibleParent({ live, ownershipTag, creatorMark, ledger }: ParentCase): boolean {
  return (
    live !== 'missing' ||
    (ownershipTag === 'none' && creatorMark === 'none' && ledger !== 'record of another id')
  );
}

/** What the plan does. `colour` means that the plan shows the whole difference. */
export const parentActions: readonly ParentRule[] = [
  // Missing.
  {
    says: 'declared and missing: created with its ownership tag',
    when: { document: declared, live: 'missing' },
    comes: 'create, claim none → mine, colour',
  },
  {
    says: 'neither declared nor live nor recorded: not in the plan',
    when: { document: 'none', live: 'missing', ledger: ['no ledger', 'no record'] },
    comes: 'nothing',
  },
  {
    says: 'not declared, and gone since it was recorded: its record is removed',
    when: { document: 'none', live: 'missing', ledger: recorded },
    comes: 'nothing, forgotten',
  },
  {
    says: 'a removal request for a missing resource: a notice to delete the request',
    when: { document: removalRequests, live: 'missing', ledger: ['no ledger', 'no record'] },
    comes: 'nothing, says "its removal request can be deleted"',
  },
  {
    says: 'a removal request for a recorded resource that is gone: a notice, and the record is removed',
    when: { document: removalRequests, live: 'missing', ledger: recorded },
    comes: 'nothing, says "its removal request can be deleted", forgotten',
  },

  // Declared and live.
  {
    says: 'declared, with an ownership tag that a project passes on: an error',
    when: { document: declared, ownershipTag: 'inherited', live: there },
    comes: 'conflict claim-inherited',
  },
  {
    says: "declared, with another stack's ownership tag: a conflict in any case",
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
    says: 'declared without protection, protected in the target: the flag is removed',
    when: { document: declared, ownershipTag: 'ours:protect', live: 'as declared' },
    comes: 'update, claim mine:protect → mine',
  },
  {
    says: 'declared without protection, protected in the target, and different: both in one update',
    when: { document: declared, ownershipTag: 'ours:protect', live: 'different' },
    comes: 'update, claim mine:protect → mine, colour',
  },
  {
    says: 'declared without release, marked for release in the target: the flag is removed',
    when: { document: declared, ownershipTag: 'ours:release', live: 'as declared' },
    comes: 'update, claim mine:release → mine',
  },
  {
    says: 'declared without release, marked for release in the target, and different: both in one update',
    when: { document: declared, ownershipTag: 'ours:release', live: 'different' },
    comes: 'update, claim mine:release → mine, colour',
  },
  {
    says: 'declared, without its ownership tag, and the ledger has its id: the tag is restored',
    when: { document: declared, ownershipTag: 'none', ledger: recorded, live: 'as declared' },
    comes: 'update, claim none → mine',
  },
  {
    says: 'declared, without its ownership tag, recorded and different: both in one update',
    when: { document: declared, ownershipTag: 'none', ledger: recorded, live: 'different' },
    comes: 'update, claim none → mine, colour',
  },
  {
    says: 'declared, without evidence that it is ours: an error that shows "adopt: true"',
    when: {
      document: 'declared',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: there,
    },
    comes: 'conflict exists-unclaimed',
  },
  {
    says: 'adopted, and as declared: only the ownership tag is written',
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

  // Not declared and live.
  {
    says: 'not declared, not ours, never recorded: not in the plan',
    when: { document: 'none', ownershipTag: notOurs, ledger: ['no ledger', 'no record'], live: there },
    comes: 'nothing',
  },
  {
    says: 'not declared, not ours, and recorded with another id: that record is removed',
    when: { document: 'none', ownershipTag: notOurs, ledger: 'record of another id', live: there },
    comes: 'nothing, forgotten',
  },
  {
    says: 'not declared, recorded, without our ownership tag: kept, and reported',
    when: { document: 'none', ownershipTag: notOurs, ledger: recorded, live: there },
    comes: 'nothing, says "no longer has the ownership tag of this stack", forgotten',
  },
  {
    says: 'not declared, protected: kept in any case',
    when: { document: 'none', ownershipTag: 'ours:protect', live: there },
    comes: 'nothing, says "protected: it is kept"',
  },
  {
    says: 'not declared, marked for release: released in any case',
    when: { document: 'none', ownershipTag: 'ours:release', live: there },
    comes: 'release, claim mine:release → none',
  },
  {
    says: 'not declared, ours, created by us according to the ledger: deleted',
    when: { document: 'none', ownershipTag: 'ours', ledger: 'created', live: there },
    comes: 'delete',
  },
  {
    says: 'not declared, ours, adopted according to the ledger: released with any creator mark',
    when: { document: 'none', ownershipTag: 'ours', ledger: 'adopted', live: there },
    comes: 'release, claim mine → none',
  },
  {
    says: 'not declared, ours by ownership tag and creator mark, without a record: deleted',
    when: { document: 'none', ownershipTag: 'ours', creatorMark: 'ours', ledger: unrecorded, live: there },
    comes: 'delete',
  },
  {
    says: 'not declared, with our ownership tag as the only evidence: kept, because it may be a copy',
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
    says: 'a removal request for a resource without our ownership tag is refused',
    when: { document: removalRequests, ownershipTag: notOurs, live: there },
    comes: 'conflict not-ours',
  },
  {
    says: 'a removal request for a protected resource is refused',
    when: { document: removalRequests, ownershipTag: 'ours:protect', live: there },
    comes: 'conflict protected',
  },
  {
    says: 'a safe removal request deletes a resource of ours, also an adopted one',
    when: { document: 'safe removal request', ownershipTag: ['ours', 'ours:release'], live: there },
    comes: 'delete',
  },
  {
    says: 'a forced removal request deletes by force',
    when: { document: 'force removal request', ownershipTag: ['ours', 'ours:release'], live: there },
    comes: 'delete, by force',
  },
];

/** The origin that the ledger records for a declared parent: it decides whether the parent is later deleted or released. */
export const parentOrigins: readonly ParentRule[] = [
  {
    says: 'a resource that is not declared is not recorded',
    when: { document: ['none', ...removalRequests] },
    comes: '-',
  },
  {
    says: 'a missing resource is recorded as created',
    when: { document: declared, live: 'missing' },
    comes: 'created',
  },
  {
    says: 'a conflict records nothing',
    when: { document: declared, ownershipTag: ["another's", 'inherited'], live: there },
    comes: '-',
  },
  {
    says: 'a resource of ours keeps its recorded origin: created',
    when: { document: declared, ownershipTag: ['none', ...ours], ledger: 'created', live: there },
    comes: 'created',
  },
  {
    says: 'a resource of ours keeps its recorded origin: adopted',
    when: { document: declared, ownershipTag: ['none', ...ours], ledger: 'adopted', live: there },
    comes: 'adopted',
  },
  {
    says: 'without a record, the creator mark proves that we created it',
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
    says: 'without record and creator mark it is recorded as adopted',
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
    says: 'a resource that may not be adopted is not recorded',
    when: {
      document: 'declared',
      ownershipTag: 'none',
      ledger: unrecorded,
      live: there,
    },
    comes: '-',
  },
];

/** The guard of one resource that blocks; guards that count resources are not part of this table. */
export const parentGuards: readonly ParentRule[] = [
  {
    says: 'a resource that was applied and then deleted by others: the guard asks before it is created again',
    when: { document: declared, live: 'missing', ledger: recorded },
    comes: 'recreate',
  },
  {
    says: 'a resource that never existed: no guard before it is created',
    when: { document: declared, live: 'missing', ledger: ['no ledger', 'no record'] },
    comes: '-',
  },
  {
    says: 'a declared live resource: no guard, because "adopt: true" is the answer',
    when: { document: declared, ledger: [...recorded, 'no ledger', 'no record'], live: there },
    comes: '-',
  },
  {
    says: 'a resource with the name of a recorded one, and another id: the guard asks before it is adopted',
    when: {
      document: 'adopt',
      ownershipTag: 'none',
      ledger: 'record of another id',
      live: there,
    },
    comes: 'adopt',
  },
  {
    says: 'a resource with our ownership tag: no guard, with any recorded id',
    when: { document: declared, ownershipTag: ours, ledger: 'record of another id', live: there },
    comes: '-',
  },
  {
    says: 'a declared resource that is not ours, which is refused: no guard',
    when: { document: 'declared', ownershipTag: notOurs, ledger: 'record of another id', live: there },
    comes: '-',
  },
  {
    says: 'an adoption from another stack, which is refused: no guard',
    when: {
      document: 'adopt',
      ownershipTag: ["another's", 'inherited'],
      ledger: 'record of another id',
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a resource that is gone: no guard',
    when: { document: ['none', ...removalRequests], live: 'missing' },
    comes: '-',
  },
  {
    says: 'a resource that is not ours, or kept, or released: no guard',
    when: { document: 'none', ownershipTag: [...notOurs, 'ours:protect', 'ours:release'], live: there },
    comes: '-',
  },
  {
    says: 'a delete or a release of a recorded resource: no guard',
    when: { document: 'none', ownershipTag: 'ours', ledger: recorded, live: there },
    comes: '-',
  },
  {
    says: 'a delete without a record: the guard always asks',
    when: { document: 'none', ownershipTag: 'ours', creatorMark: 'ours', ledger: unrecorded, live: there },
    comes: 'no-record',
  },
  {
    says: 'a resource with only a notice: no guard',
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
    says: 'a removal request that is refused: no guard',
    when: { document: removalRequests, ownershipTag: [...notOurs, 'ours:protect'], live: there },
    comes: '-',
  },
  {
    says: 'a removal request for a recorded resource: no guard',
    when: {
      document: removalRequests,
      ownershipTag: ['ours', 'ours:release'],
      ledger: recorded,
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a removal request for a resource without a record: the guard asks',
    when: {
      document: removalRequests,
      ownershipTag: ['ours', 'ours:release'],
      ledger: unrecorded,
      live: there,
    },
    comes: 'no-record',
  },
];
