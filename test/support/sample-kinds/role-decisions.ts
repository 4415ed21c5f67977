/**
 * Whose a thing is that can bear no mark, such as a role, and what becomes of it: docs/internals/rules/ownership.md as rows, written from
 * the
 * rules and not from the planner.
 */
import { declared, removalRequests } from './decision-table.ts';
import {
  type RoleRule,
  there,
  notAsDeclared,
  withPlainRecord,
  withRecord,
  withoutRecord,
  deletable,
  mayBeOurs,
} from './role-circumstances.ts';

/** What the plan does. What was last written is not what is declared: `as declared` has changed since, too. */
export const roleActions: readonly RoleRule[] = [
  // Nothing there.
  {
    says: 'declared and not there: created',
    when: { document: declared, live: 'missing' },
    comes: 'create, colour',
  },
  {
    says: 'not declared and not there: nobody speaks of it',
    when: { document: 'none', live: 'missing', ledger: withoutRecord },
    comes: 'nothing',
  },
  {
    says: 'not declared, and gone since it was recorded: forgotten',
    when: { document: 'none', live: 'missing', ledger: withRecord },
    comes: 'nothing, forgotten',
  },
  {
    says: 'a removal request that has done its work is a hint to delete it',
    when: { document: removalRequests, live: 'missing', ledger: withoutRecord },
    comes: 'nothing, says "its removal request can be deleted"',
  },
  {
    says: 'a removal request that has done its work, and the ledger forgets',
    when: { document: removalRequests, live: 'missing', ledger: withRecord },
    comes: 'nothing, says "its removal request can be deleted", forgotten',
  },

  // Declared and there.
  {
    says: 'declared, never recorded and as declared: an adoption that sends nothing',
    when: { document: declared, live: 'as declared', ledger: ['no ledger', 'no record'] },
    comes: 'adopt',
  },
  {
    says: 'declared, recorded or begun, and as declared: nothing to do',
    when: { document: declared, live: 'as declared', ledger: ['begun', ...withPlainRecord] },
    comes: 'nothing',
  },
  {
    says: 'declared without the protection that the ledger has: that is dropped, and nothing else',
    when: { document: declared, live: 'as declared', ledger: 'created:protect' },
    comes: 'update, protect',
  },
  {
    says: 'declared without the "onRemove" that the ledger has: that is dropped, and nothing else',
    when: { document: declared, live: 'as declared', ledger: ['created:release', 'adopted:delete'] },
    comes: 'update, onRemove',
  },
  {
    says: 'declared, known to the ledger and different: updated',
    when: { document: declared, live: notAsDeclared, ledger: withPlainRecord },
    comes: 'update, colour',
  },
  {
    says: 'declared, different, and without the protection that the ledger has: both in one update',
    when: { document: declared, live: notAsDeclared, ledger: 'created:protect' },
    comes: 'update, colour, protect',
  },
  {
    says: 'declared, different, and without the "onRemove" that the ledger has: both in one update',
    when: { document: declared, live: notAsDeclared, ledger: ['created:release', 'adopted:delete'] },
    comes: 'update, colour, onRemove',
  },
  {
    says: 'declared, never recorded and different: an adoption, shown whole',
    when: { document: declared, live: notAsDeclared, ledger: withoutRecord },
    comes: 'adopt, colour',
  },

  // Not declared and there.
  {
    says: "not declared, outside of what the target owns, never recorded: nobody's concern",
    when: { document: 'none', owns: 'outside', ledger: withoutRecord, live: there },
    comes: 'nothing',
  },
  {
    says: 'not declared, recorded, and outside of what the target owns by now: left alone',
    when: { document: 'none', owns: 'outside', ledger: withRecord, live: there },
    comes: 'nothing, says "its name is not in", forgotten',
  },
  {
    says: 'not declared, protected by its last manifest: kept',
    when: { document: 'none', owns: mayBeOurs, ledger: 'created:protect', live: there },
    comes: 'nothing, says "protected: it is kept"',
  },
  {
    says: 'not declared, to be released by its last manifest: it stays, and leaves the ledger',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: 'created:release',
      live: there,
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
      live: there,
      target: 'exclusive',
    },
    comes: 'nothing, says "while the target is exclusive"',
  },
  {
    says: 'not declared, created by us and as we last wrote it: deleted',
    when: { document: 'none', owns: mayBeOurs, ledger: deletable, live: 'as last written' },
    comes: 'delete',
  },
  {
    says: 'not declared, changed since this stack last wrote it: reported, also where the target is exclusive',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: deletable,
      live: ['as declared', 'changed since'],
    },
    comes: 'nothing, says "no longer declared, but changed since"',
  },
  {
    says: 'not declared, and adopted: released, however it is by now',
    when: { document: 'none', owns: mayBeOurs, ledger: 'adopted', live: there, target: 'shared' },
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
    comes: 'nothing, says "changed since it was adopted or last written"',
  },
  {
    says: 'not declared, never recorded, in an exclusive target: deleted',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: withoutRecord,
      live: there,
      target: 'exclusive',
    },
    comes: 'delete',
  },
  {
    says: 'not declared, never recorded, inside what a shared target owns: reported',
    when: { document: 'none', owns: 'inside', ledger: withoutRecord, live: there, target: 'shared' },
    comes: 'nothing, says "never written by this stack"',
  },
  {
    says: "not declared, never recorded, in a target that owns no names: nobody's concern",
    when: { document: 'none', owns: 'unsaid', ledger: withoutRecord, live: there, target: 'shared' },
    comes: 'nothing',
  },

  // Removal requests.
  {
    says: 'a removal request of what is protected is refused',
    when: { document: removalRequests, ledger: 'created:protect', live: there },
    comes: 'conflict protected',
  },
  {
    says: 'a safe removal request insists on the removal of what we wrote, changed or not',
    when: {
      document: 'safe removal request',
      ledger: ['created', 'adopted', 'adopted:delete', 'created:release'],
      live: there,
    },
    comes: 'delete',
  },
  {
    says: 'the same by force',
    when: {
      document: 'force removal request',
      ledger: ['created', 'adopted', 'adopted:delete', 'created:release'],
      live: there,
    },
    comes: 'delete, by force',
  },
  {
    says: 'a safe removal request removes what we never wrote inside what the target owns',
    when: { document: 'safe removal request', owns: 'inside', ledger: withoutRecord, live: there },
    comes: 'delete',
  },
  {
    says: 'the same by force',
    when: { document: 'force removal request', owns: 'inside', ledger: withoutRecord, live: there },
    comes: 'delete, by force',
  },
  {
    says: 'a removal request of what we never wrote outside of that is refused, however exclusive the target is',
    when: { document: removalRequests, owns: 'outside', ledger: withoutRecord, live: there },
    comes: 'conflict not-ours',
  },
  {
    says: 'a removal request of what we never wrote is refused where no names are owned',
    when: {
      document: removalRequests,
      owns: 'unsaid',
      ledger: withoutRecord,
      live: there,
      target: 'shared',
    },
    comes: 'conflict not-ours',
  },
  {
    says: 'an exclusive target without names is owned as a whole: a safe removal request removes from it',
    when: {
      document: 'safe removal request',
      owns: 'unsaid',
      ledger: withoutRecord,
      live: there,
      target: 'exclusive',
    },
    comes: 'delete',
  },
  {
    says: 'the same by force',
    when: {
      document: 'force removal request',
      owns: 'unsaid',
      ledger: withoutRecord,
      live: there,
      target: 'exclusive',
    },
    comes: 'delete, by force',
  },
];
