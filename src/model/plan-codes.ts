/** Codes of problems that forbid applying a plan, and of live values that are not written into manifests. */
import type { CodeTable } from './code-entry.ts';

export const planCodes = {
  'token-uses': {
    title: 'A token may not be used often enough to finish the apply',
    class: 'failure',
    fix: 'give a token with more uses, as many as the message names, or one without a limit; or let the target log in',
  },
  'secret-in-name': {
    title: 'A name or a key contains a secret of this run',
    class: ['invalid', 'failure'],
    warning: true,
    fix: 'use another name, and revoke the secret: names and keys are stored and shown as they are',
  },
  'plan-shows-other': {
    title: 'A plan file shows other texts or fewer guards than the plan that apply makes',
    class: 'failure',
    fix: 'plan again, and approve again',
  },
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
  'claimed-by-another-id': {
    title: 'A resource belongs to another stack of the same name',
    class: 'conflict',
    fix: 'rename one of the two stacks, rebuild a lost ledger with "trueup recover", or take over with "trueup recover --adopt-repository"',
  },
  'other-repository': {
    title: 'The ledger was written from another repository, or another stack file',
    class: 'conflict',
    fix: 'rename one of the two stacks, or use "trueup recover --adopt-repository"',
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
  'protected-destroy': {
    title: 'A change would have the resources of a protected resource destroyed',
    class: 'invalid',
    fix: 'leave the schedule out, or declare the resource with "protect: false" first',
  },
  'past-destroy-time': {
    title: 'A time of a destroy that would be sent has passed',
    class: 'invalid',
    fix: 'remove the line, or write a time to come',
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
  'secret-missing': {
    title: 'A secret that the plan sends is not there',
    class: 'failure',
    fix: 'set the variable or fill the file that is named',
  },
  'plan-lacks-secrets': {
    title: 'The plan sends secrets that cannot be read here',
    class: 'failure',
    fix: 'provide them: each that is missing has an entry of its own',
  },
} as const satisfies CodeTable;

// Codes of values that are not written into manifests, and why.

export const editCodes = {
  'unknown-address': {
    title: 'No manifest declares a resource of this address',
    class: 'failure',
    fix: 'write the address as the plan shows it; for what nobody declares there is "trueup export"',
  },
  'no-difference': {
    title: 'The field is as declared, or is none of the resource',
    class: 'failure',
    fix: 'write the path of a field that the plan shows as different',
  },
  'resource-gone': {
    title: 'The resource is gone from its target, and its manifest is kept',
    class: 'failure',
    fix: 'pass --remove to drop its manifest, too; or let apply create it again',
  },
  'resource-renamed': {
    title: 'The resource has another name in its target',
    class: 'failure',
    fix: 'write the new name into "metadata.name" and wherever it is named; or let apply change it back',
  },
  'value-from-alias': {
    title: 'The value comes from an anchor, or aliases repeat it',
    class: 'failure',
    fix: 'write the value out where it is to differ, or change it at its anchor for all',
  },
  'value-from-defaults': {
    title: 'The value comes from the defaults of the stack',
    class: 'failure',
    fix: 'change the default for all, or write the field into the manifest',
  },
  'value-from-input': {
    title: 'The manifest comes from standard input',
    class: 'failure',
    fix: 'change it where the input is made',
  },
  'value-for-targets': {
    title: 'The document stands for several targets, and only one of them differs',
    class: 'failure',
    fix: 'give each target a document of its own, or change the value for all',
  },
  'value-secret': {
    title: 'The value is a secret, or holds one',
    class: 'failure',
    fix: 'name its source in the manifest',
  },
  'value-unknown': {
    title: 'The value is not known',
    class: 'failure',
    fix: 'write it by hand, or let apply set what is declared',
  },
  'value-still-differs': {
    title: 'With the value written the plan would still not be empty',
    class: 'failure',
    fix: 'change the manifest by hand',
  },
  'not-editable': {
    title: 'The manifest is written in a way that is not edited in place',
    class: 'failure',
    fix: 'change it by hand',
  },
  'revert-by-hand': {
    title: 'What was created or removed is not taken back by a value',
    class: 'failure',
    fix: 'change the documents by hand, as "trueup history show ID --revert" says',
  },
  'file-changed': {
    title: 'A file changed while its new text was made',
    class: 'failure',
    fix: 'run the command again',
  },
  'files-partly-written': {
    title: 'Some of the files were written, and then one could not be',
    class: 'failure',
    fix: 'see to the reason that is named, and run the command again: it takes in the rest',
  },
} as const satisfies CodeTable;
