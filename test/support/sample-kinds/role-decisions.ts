/**
 * The owner of a resource without ownership tag and creator mark, such as a role, and what a plan does with it:
 * docs/internals/rules/ownership.md as rows, written from the rules and not from the planner.
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

/** What the plan does. The last written value differs from the declared one, so `as declared` has also changed since. */
export const roleActions: readonly RoleRule[] = [
  // Missing.
  {
    says: 'declared and missing: created',
    when: { document: declared, live: 'missing' },
    comes: 'create, colour',
  },
  {
    says: 'neither declared nor live nor recorded: not in the plan',
    when: { document: 'none', live: 'missing', ledger: withoutRecord },
    comes: 'nothing',
  },
  {
    says: 'not declared, and gone since it was recorded: its record is removed',
    when: { document: 'none', live: 'missing', ledger: withRecord },
    comes: 'nothing, forgotten',
  },
  {
    says: 'a removal request for a missing role: a notice to delete the request',
    when: { document: removalRequests, live: 'missing', ledger: withoutRecord },
    comes: 'nothing, says "its removal request can be deleted"',
  },
  {
    says: 'a removal request for a recorded role that is gone: a notice, and the record is removed',
    when: { document: removalRequests, live: 'missing', ledger: withRecord },
    comes: 'nothing, says "its removal request can be deleted", forgotten',
  },

  // Declared and live.
  {
    says: 'declared, never recorded and as declared: an adoption that sends nothing',
    when: { document: declared, live: 'as declared', ledger: ['no ledger', 'no record'] },
    comes: 'adopt',
  },
  {
    says: 'declared, recorded or left by an interrupted apply, and as declared: nothing to do',
    when: { document: declared, live: 'as declared', ledger: ['begun', ...withPlainRecord] },
    comes: 'nothing',
  },
  {
    says: 'declared without the recorded protection: only the protection is removed',
    when: { document: declared, live: 'as declared', ledger: 'created:protect' },
    comes: 'update, protect',
  },
  {
    says: 'declared without the recorded "onRemove": only that is removed',
    when: { document: declared, live: 'as declared', ledger: ['created:release', 'adopted:delete'] },
    comes: 'update, onRemove',
  },
  {
    says: 'declared, recorded and different: updated',
    when: { document: declared, live: notAsDeclared, ledger: withPlainRecord },
    comes: 'update, colour',
  },
  {
    says: 'declared, different, and without the recorded protection: both in one update',
    when: { document: declared, live: notAsDeclared, ledger: 'created:protect' },
    comes: 'update, colour, protect',
  },
  {
    says: 'declared, different, and without the recorded "onRemove": both in one update',
    when: { document: declared, live: notAsDeclared, ledger: ['created:release', 'adopted:delete'] },
    comes: 'update, colour, onRemove',
  },
  {
    says: 'declared, never recorded and different: an adoption that shows the whole difference',
    when: { document: declared, live: notAsDeclared, ledger: withoutRecord },
    comes: 'adopt, colour',
  },

  // Not declared and live.
  {
    says: 'not declared, outside of "owns", never recorded: not in the plan',
    when: { document: 'none', owns: 'outside', ledger: withoutRecord, live: there },
    comes: 'nothing',
  },
  {
    says: 'not declared, recorded, and now outside of "owns": kept, and the record is removed',
    when: { document: 'none', owns: 'outside', ledger: withRecord, live: there },
    comes: 'nothing, says "its name is not in", forgotten',
  },
  {
    says: 'not declared, protected by its last manifest: kept',
    when: { document: 'none', owns: mayBeOurs, ledger: 'created:protect', live: there },
    comes: 'nothing, says "protected: it is kept"',
  },
  {
    says: 'not declared, with "onRemove: release" in its last manifest: released',
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
    says: 'the same in an exclusive target: it stays recorded, because the next plan would delete it without a record',
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
    says: 'not declared, created by us and as last written: deleted',
    when: { document: 'none', owns: mayBeOurs, ledger: deletable, live: 'as last written' },
    comes: 'delete',
  },
  {
    says: 'not declared, changed since this stack last wrote it: reported, also in an exclusive target',
    when: {
      document: 'none',
      owns: mayBeOurs,
      ledger: deletable,
      live: ['as declared', 'changed since'],
    },
    comes: 'nothing, says "no longer declared, but changed since"',
  },
  {
    says: 'not declared, and adopted: released, with any live values',
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
    says: 'not declared, adopted and changed since, in an exclusive target: reported',
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
    says: 'not declared, never recorded, inside "owns" of a shared target: reported',
    when: {
      document: 'none',
      owns: 'inside',
      ledger: ['no ledger', 'no record'],
      live: there,
      target: 'shared',
    },
    comes: 'nothing, says "never written by this stack"',
  },
  {
    says: 'not declared, begun by an interrupted apply, in a shared target: reported',
    when: { document: 'none', owns: mayBeOurs, ledger: 'begun', live: there, target: 'shared' },
    comes: 'nothing, says "that did not end may have created it"',
  },
  {
    says: 'not declared, never recorded, in a shared target without "owns": not in the plan',
    when: {
      document: 'none',
      owns: 'unsaid',
      ledger: ['no ledger', 'no record'],
      live: there,
      target: 'shared',
    },
    comes: 'nothing',
  },

  // Removal requests.
  {
    says: 'a removal request for a protected role is refused',
    when: { document: removalRequests, ledger: 'created:protect', live: there },
    comes: 'conflict protected',
  },
  {
    says: 'a safe removal request deletes a recorded role, changed or not',
    when: {
      document: 'safe removal request',
      ledger: ['created', 'adopted', 'adopted:delete', 'created:release'],
      live: there,
    },
    comes: 'delete',
  },
  {
    says: 'a forced removal request deletes a recorded role by force',
    when: {
      document: 'force removal request',
      ledger: ['created', 'adopted', 'adopted:delete', 'created:release'],
      live: there,
    },
    comes: 'delete, by force',
  },
  {
    says: 'a safe removal request deletes an unrecorded role inside "owns"',
    when: { document: 'safe removal request', owns: 'inside', ledger: withoutRecord, live: there },
    comes: 'delete',
  },
  {
    says: 'a forced removal request deletes an unrecorded role inside "owns" by force',
    when: { document: 'force removal request', owns: 'inside', ledger: withoutRecord, live: there },
    comes: 'delete, by force',
  },
  {
    says: 'a removal request for an unrecorded role outside of "owns" is refused, also in an exclusive target',
    when: { document: removalRequests, owns: 'outside', ledger: withoutRecord, live: there },
    comes: 'conflict not-ours',
  },
  {
    says: 'a removal request for an unrecorded role is refused in a shared target without "owns"',
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
    says: 'a safe removal request deletes an unrecorded role in an exclusive target without "owns"',
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
    says: 'a forced removal request deletes an unrecorded role in an exclusive target without "owns" by force',
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
