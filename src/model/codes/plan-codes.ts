/** Codes of problems that forbid applying a plan: found when declared, live and recorded state are compared. */
import type { CodeTable } from './code-entry.ts';

export const planCodes = {
  'target-unread': {
    title: 'A target could not be read',
    class: 'incomplete',
    fix: 'make it possible to read it, then plan again',
  },
  'target-moved': {
    title: "A target is another place than the ledger's records are of",
    class: 'conflict',
    fix: 'point it back, give the new place a target of its own, or use "trueup recover --moved"',
  },
  'exists-unclaimed': {
    title: 'A resource exists and belongs to no stack',
    class: 'conflict',
    fix: 'add "adopt: true" to its metadata to take it over',
  },
  'claimed-by-another-stack': {
    title: 'A resource belongs to another stack',
    class: 'conflict',
    fix: 'remove its manifest here, or release it there and adopt it here',
  },
  'claim-inherited': {
    title: 'A claim stands on a project, and would claim all that is in it',
    class: 'conflict',
    fix: 'remove that tag binding from the project',
  },
  'not-removable': {
    title: 'A removal is asked for of what cannot be removed by itself',
    class: 'conflict',
    fix: 'delete its document instead',
  },
  'not-ours': {
    title: "A removal is asked for of what is not this stack's",
    class: 'conflict',
    fix: 'adopt it first, or remove it by hand',
  },
  protected: {
    title: 'A removal is asked for of what is protected',
    class: 'conflict',
    fix: 'declare it with "protect: false", apply, then ask for its removal',
  },
  'unknown-reference': {
    title: 'A reference leads to nothing, or to what nobody could look at',
    class: ['invalid', 'incomplete'],
    fix: 'correct the reference, declare what it leads to, or make it possible to read it',
  },
  cycle: {
    title: 'Changes wait for each other in a circle',
    class: 'invalid',
    fix: 'remove one of the references between them',
  },
  'will-be-refused': {
    title: 'The service will refuse what the plan asks for',
    class: 'failure',
    fix: 'give the token the permission, or apply with one that has it',
  },
} as const satisfies CodeTable;
