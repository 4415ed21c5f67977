/** Codes of errors about the ledger of a stack, its lock and its history. */
import type { CodeTable } from './code-entry.ts';

export const ledgerCodes = {
  'ambiguous-apply': {
    title: 'Several applies of the history have this short id',
    class: 'failure',
    fix: 'write more of the id, or the whole id that "trueup history" lists',
  },
  'ledger-unusable': {
    title: 'The ledger cannot be reached, read or written',
    class: 'failure',
    fix: 'follow the message: it has the address and the reason',
  },
  'ledger-address': {
    title: 'The address of the ledger is not valid',
    class: 'failure',
    fix: 'correct "spec.ledger", or the variable in it',
  },
  'ledger-damaged': {
    title: 'The ledger is damaged',
    class: 'failure',
    fix: 'repair the file or database of the ledger, or rebuild it with "trueup recover"',
  },
  'ledger-conflict': {
    title: 'Another run wrote the ledger at the same time',
    class: 'failure',
    fix: 'plan again',
  },
  'ledger-moved': {
    title: 'The ledger of the stack was moved to another place',
    class: 'failure',
    fix: 'write the new place into "spec.ledger" of the stack file, or check out a commit that has it',
  },
  'ledger-move-unfinished': {
    title: 'A move of the ledger was interrupted, and this copy is not the ledger yet',
    class: 'failure',
    fix: 'run "trueup ledger move" again, as the message shows',
  },
  'ledger-elsewhere': {
    title: 'The stack has no ledger at the place that it names, but one at another place',
    class: 'conflict',
    fix: 'move it with "trueup ledger move", or name the other place in "spec.ledger"',
  },
  'ledger-lost': {
    title: 'The stack has a history and no ledger: the history is needed to rebuild it',
    class: 'failure',
    fix: 'rebuild the ledger with "trueup recover"',
  },
  'ledger-exists': {
    title: 'The place that a ledger would move to has another ledger of that name',
    class: 'conflict',
    fix: 'check which one is right; move the other one away, or give one of the stacks another name',
  },
  'nothing-to-move': {
    title: 'There is no ledger to move, or none that has to move',
    class: 'failure',
    fix: 'see the message; --from names the place of the ledger',
  },
  locked: {
    title: 'Another run holds the lock of the stack',
    class: 'failure',
    fix: 'wait for it with --lock-timeout; if that run has certainly ended, use "trueup unlock"',
  },
  'wrong-lock-id': {
    title: 'The stack is not locked with this id',
    class: 'failure',
    fix: 'see who holds the lock, and unlock with that id',
  },
  'lock-lost': {
    title: 'The lock of this run was removed while it was working',
    class: 'failure',
    fix: 'check who else works on this stack, and plan again',
  },
  'lock-left': {
    title: 'The lock of this run could not be released',
    class: 'failure',
    fix: 'remove it with "trueup unlock", as the message shows',
  },
  'history-unwritten': {
    title: 'The history of an apply is incomplete',
    class: 'failure',
    fix: 'repair the file or database of the history, and run "trueup apply" again: it completes the history',
  },
  'history-damaged': {
    title: 'An entry of the history cannot be read',
    class: 'failure',
    fix: 'restore it from a backup, or leave it: nothing else depends on it',
  },
  'stack-renamed': {
    title: 'The stack was renamed, and the new name has taken over its ledger',
    class: 'failure',
    fix: 'plan and apply the renamed stack; to rename it back, add "metadata.renamedFrom" to this one; or give this stack another name',
  },
  'former-ledger-taken': {
    title: 'Another stack has already taken over the ledger of the former name',
    class: 'failure',
    fix: 'correct "metadata.renamedFrom"',
  },
  'former-ledger-waits': {
    title: "The ledger of the stack's former name has not been taken over yet",
    class: 'failure',
    fix: 'apply the stack; if its own ledger is damaged, move that away first',
  },
  'look-incomplete': {
    title: 'Not everything could be read, and unread resources would lose their records',
    class: 'failure',
    fix: 'make it possible to read all of it, then try again',
  },
  'nothing-moved': {
    title: 'There are no records to carry over to another address',
    class: 'failure',
    fix: 'see the message for what the ledger has of the target',
  },
} as const satisfies CodeTable;
