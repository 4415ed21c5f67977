/** What is asked before something that can bear no mark is taken or taken away, and what the ledger says of it. */
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

/** Which guard asks first. */
export const roleGuards: readonly RoleRule[] = [
  {
    says: 'what we had applied and somebody deleted is not created again without a word',
    when: { document: declared, live: 'missing', ledger: withRecord },
    comes: 'recreate',
  },
  {
    says: 'what never was there is created without asking',
    when: { document: declared, live: 'missing', ledger: withoutRecord },
    comes: '-',
  },
  {
    says: 'what is as declared asks nothing',
    when: { document: declared, live: 'as declared' },
    comes: '-',
  },
  {
    says: 'an update of what the ledger knows asks nothing',
    when: { document: declared, live: notAsDeclared, ledger: withRecord },
    comes: '-',
  },
  {
    says: 'an adoption asks',
    when: { document: 'declared', live: notAsDeclared, ledger: withoutRecord },
    comes: 'adopt',
  },
  {
    says: 'an adoption that the manifest asks for is answered already',
    when: { document: 'adopt', live: notAsDeclared, ledger: withoutRecord },
    comes: '-',
  },
  {
    says: 'what is gone asks nothing',
    when: { document: ['none', ...removalRequests], live: 'missing' },
    comes: '-',
  },
  {
    says: 'what becomes of one that we created, or were told to delete, asks nothing',
    when: {
      document: ['none', ...removalRequests],
      ledger: [...deletable, 'created:protect', 'created:release'],
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a removal request of an adopted one asks nothing',
    when: { document: removalRequests, ledger: 'adopted', live: there },
    comes: '-',
  },
  {
    says: 'to let go of an adopted one asks nothing',
    when: { document: 'none', ledger: 'adopted', live: there, target: 'shared' },
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
    when: { document: 'none', owns: 'outside', ledger: 'adopted', live: there, target: 'exclusive' },
    comes: '-',
  },
  {
    says: 'what is left alone or refused asks nothing',
    when: {
      document: ['none', ...removalRequests],
      owns: 'outside',
      ledger: withoutRecord,
      live: there,
    },
    comes: '-',
  },
  {
    says: 'a delete without a record always asks: in an exclusive target',
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
    says: 'a delete without a record always asks: when a removal request wants it',
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
    says: 'what a shared target does not own, or only notices, asks nothing',
    when: { document: 'none', owns: mayBeOurs, ledger: withoutRecord, live: there, target: 'shared' },
    comes: '-',
  },
  {
    says: 'a removal request that is refused where no names are owned asks nothing',
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

/** What the ledger is told of a declared role. */
export const roleOrigins: readonly RoleRule[] = [
  {
    says: 'what is created is ours from the start',
    when: { document: declared, live: 'missing' },
    comes: 'created',
  },
  {
    says: 'what was recorded stays what it was: ours',
    when: {
      document: declared,
      live: there,
      ledger: ['created', 'created:protect', 'created:release'],
    },
    comes: 'created',
  },
  {
    says: 'what was recorded stays what it was: adopted',
    when: { document: declared, live: there, ledger: ['adopted', 'adopted:delete'] },
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
    when: { document: declared, live: there, ledger: ['no ledger', 'no record'] },
    comes: 'adopted',
  },
  {
    says: 'what is not declared is not recorded',
    when: { document: ['none', ...removalRequests] },
    comes: '-',
  },
];
