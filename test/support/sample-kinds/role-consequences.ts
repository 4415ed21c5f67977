/** The guards before a role is adopted or deleted, and the origin that the ledger records for it. */
import { declared, removalRequests } from './decision-table.ts';
import {
  type RoleRule,
  there,
  notAsDeclared,
  withRecord,
  withoutRecord,
  deletable,
  mayBeOurs,
} from './role-circumstances.ts';

/** The guard of one role that blocks. */
export const roleGuards: readonly RoleRule[] = [
  {
    says: 'a role that was applied and then deleted by others: the guard asks before it is created again',
    when: { document: declared, live: 'missing', ledger: withRecord },
    comes: 'recreate',
  },
  {
    says: 'a role that never existed: no guard before it is created',
    when: { document: declared, live: 'missing', ledger: withoutRecord },
    comes: '-',
  },
  {
    says: 'a role that is as declared: no guard',
    when: { document: declared, live: 'as declared' },
    comes: '-',
  },
  {
    says: 'an update of a recorded role: no guard',
    when: { document: declared, live: notAsDeclared, ledger: withRecord },
    comes: '-',
  },
  {
    says: 'an adoption: the guard asks',
    when: { document: 'declared', live: notAsDeclared, ledger: withoutRecord },
    comes: 'adopt',
  },
  {
    says: 'an adoption with "adopt: true" in the manifest: no guard',
    when: { document: 'adopt', live: notAsDeclared, ledger: withoutRecord },
    comes: '-',
  },
  {
    says: 'a role that is gone: no guard',
    when: { document: ['none', ...removalRequests], live: 'missing' },
    comes: '-',
  },
  {
    says: 'a role that we created, or that its manifest wanted to be deleted: no guard',
    when: {
      document: ['none', ...removalRequests],
      ledger: [...deletable, 'created:protect', 'created:release'],
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a removal request for an adopted role: no guard',
    when: { document: removalRequests, ledger: 'adopted', live: there },
    comes: '-',
  },
  {
    says: 'the release of an adopted role: no guard',
    when: { document: 'none', ledger: 'adopted', live: there, target: 'shared' },
    comes: '-',
  },
  {
    says: 'a delete of an adopted role in an exclusive target: the guard asks',
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
    says: 'an adopted role in an exclusive target that was changed since, and is kept: no guard',
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
    says: 'an adopted role outside of "owns" of its exclusive target, whose record is removed: no guard',
    when: { document: 'none', owns: 'outside', ledger: 'adopted', live: there, target: 'exclusive' },
    comes: '-',
  },
  {
    says: 'an unrecorded role outside of "owns", which is kept or refused: no guard',
    when: {
      document: ['none', ...removalRequests],
      owns: 'outside',
      ledger: withoutRecord,
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a delete without a record in an exclusive target: the guard asks',
    when: {
      document: ['none', ...removalRequests],
      owns: mayBeOurs,
      ledger: withoutRecord,
      live: there,
      target: 'exclusive',
    },
    comes: 'no-record',
  },
  {
    says: 'a delete without a record by a removal request: the guard asks',
    when: {
      document: removalRequests,
      owns: 'inside',
      ledger: withoutRecord,
      live: there,
      target: 'shared',
    },
    comes: 'no-record',
  },
  {
    says: 'an unrecorded role in a shared target, which is at most a notice: no guard',
    when: { document: 'none', owns: mayBeOurs, ledger: withoutRecord, live: there, target: 'shared' },
    comes: '-',
  },
  {
    says: 'a removal request that is refused, in a target without "owns": no guard',
    when: {
      document: removalRequests,
      owns: 'unsaid',
      ledger: withoutRecord,
      live: there,
      target: 'shared',
    },
    comes: '-',
  },
];

/** The origin that the ledger records for a declared role. */
export const roleOrigins: readonly RoleRule[] = [
  {
    says: 'a missing role is recorded as created',
    when: { document: declared, live: 'missing' },
    comes: 'created',
  },
  {
    says: 'a recorded role keeps its origin: created',
    when: {
      document: declared,
      live: there,
      ledger: ['created', 'created:protect', 'created:release'],
    },
    comes: 'created',
  },
  {
    says: 'a recorded role keeps its origin: adopted',
    when: { document: declared, live: there, ledger: ['adopted', 'adopted:delete'] },
    comes: 'adopted',
  },
  {
    says: 'a role that an interrupted apply was creating, and that is as declared, is recorded as created',
    when: { document: declared, live: 'as declared', ledger: 'begun' },
    comes: 'created',
  },
  {
    says: 'a role that an interrupted apply was creating, but that differs, is recorded as adopted',
    when: { document: declared, live: notAsDeclared, ledger: 'begun' },
    comes: 'adopted',
  },
  {
    says: 'a role that already existed is recorded as adopted, equal or not',
    when: { document: declared, live: there, ledger: ['no ledger', 'no record'] },
    comes: 'adopted',
  },
  {
    says: 'a role that is not declared is not recorded',
    when: { document: ['none', ...removalRequests] },
    comes: '-',
  },
];
