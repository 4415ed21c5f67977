/** Codes of problems that prevent the apply of a plan, and codes of live values that are not written into manifests. */
import type { CodeTable } from './code-entry.ts';

export const planCodes = {
  'token-uses': {
    title: 'The remaining uses of a token are too few to finish the apply',
    class: 'failure',
    fix: 'give a token with at least as many uses as the message says, or without a limit; or use a login for the target',
  },
  'secret-in-name': {
    title: 'A name or a key contains a secret of this run',
    class: ['invalid', 'failure'],
    warning: true,
    fix: 'use another name, and revoke the secret: names and keys are stored and shown as they are',
  },
  'selector-invalid': {
    title: 'A selector of "--select" cannot be used',
    class: 'invalid',
    fix: 'correct it as the message says',
  },
  'selector-matches-nothing': {
    title: 'A selector, or "--project" of an export, matches nothing, or the exclusions leave nothing',
    class: 'invalid',
    fix: 'correct it; the message shows what is nearest',
  },
  'selection-needs-excluded': {
    title: 'A selected resource needs one that the selection excludes',
    class: 'invalid',
    fix: 'remove the exclusion, or exclude both',
  },
  'plan-shows-other': {
    title: 'A plan file shows other texts or guards than apply finds, or redacts too much',
    class: 'failure',
    fix: 'plan again, and approve again',
  },
  'target-unread': {
    title: 'A target could not be read',
    class: 'incomplete',
    fix: 'make it possible to read it, then plan again',
  },
  'dialect-differs': {
    title: 'A target has another dialect than its service',
    class: 'invalid',
    fix: 'write the dialect of the service into the target',
  },
  'dialect-unknown': {
    title: 'The answers of a service do not show that it speaks the dialect of the target',
    class: 'invalid',
    warning: true,
    fix: 'make sure that the dialect of the target is that of the service',
  },
  'tls-not-used': {
    title: 'A token is sent without encryption: the address of a target begins with "http://"',
    class: 'failure',
    warning: true,
    fix: 'use "https://" in the "url" of the target',
  },
  'target-moved': {
    title: "The target's address changed since the last apply",
    class: 'conflict',
    fix: 'restore its address, declare the new address as a separate target, or use "trueup recover --moved"',
  },
  'exists-unclaimed': {
    title: 'A resource exists and belongs to no stack',
    class: 'conflict',
    fix: 'add "adopt: true" to its metadata to take it over',
  },
  'claimed-by-another-stack': {
    title: 'A resource belongs to another stack',
    class: 'conflict',
    fix: 'remove its manifest here, or move it here with "trueup move"',
  },
  'move-impossible': {
    title: 'A resource cannot be taken over from another stack',
    class: ['conflict', 'incomplete'],
    fix: 'follow the message: it says what the ledger of the other stack has',
  },
  'moved-away': {
    title: 'A resource is declared here, and another stack has taken it over',
    class: 'conflict',
    fix: 'remove its manifest here, or take it back with "metadata.movedFrom"',
  },
  'claimed-by-another-id': {
    title: 'A resource belongs to another stack of the same name',
    class: 'conflict',
    fix: 'rebuild a lost ledger with "trueup recover", rename one of the two stacks, or take over with "trueup recover --adopt-repository"',
  },
  'other-repository': {
    title: 'The ledger was written from another repository, or another stack file',
    class: 'conflict',
    fix: 'rename one of the two stacks, or use "trueup recover --adopt-repository"',
  },
  'claim-inherited': {
    title: 'A project has an ownership tag, which all its workspaces inherit',
    class: 'conflict',
    fix: 'remove that tag binding from the project',
  },
  'not-removable': {
    title: 'A removal request is for a resource that cannot be removed by itself',
    class: 'conflict',
    fix: 'delete its document instead',
  },
  'not-ours': {
    title: 'A removal request is for a resource that this stack does not own',
    class: 'conflict',
    fix: 'adopt it first, or remove it by hand',
  },
  protected: {
    title: 'A removal request is for a protected resource',
    class: 'conflict',
    fix: 'declare it with "protect: false", apply, then write the removal request',
  },
  'protected-destroy': {
    title: 'A change would let the resources of a protected workspace be destroyed',
    class: 'invalid',
    fix: 'leave the schedule out, or declare "protect: false" and acknowledge the guard "scheduled-destroy"',
  },
  'past-destroy-time': {
    title: 'The plan would send a time for a scheduled destroy that has already passed',
    class: 'invalid',
    fix: 'remove the line, or write a future time',
  },
  'unknown-reference': {
    title: 'Reference not found, or not readable',
    class: ['invalid', 'incomplete'],
    fix: 'correct the reference, declare or create what it names, or make it possible to read it',
  },
  'ambiguous-reference': {
    title: 'Several things have the name that a reference gives',
    class: 'invalid',
    fix: 'write the id, or give them different names in the service',
  },
  cycle: {
    title: 'Changes depend on each other in a cycle',
    class: 'invalid',
    fix: 'remove one of the references between them',
  },
  'will-be-refused': {
    title: 'The service will refuse a change of the plan',
    class: 'failure',
    fix: 'give the token the permission, or apply with one that has it',
  },
  'secret-missing': {
    title: 'A secret that the plan sends is missing',
    class: 'failure',
    fix: 'set the variable or fill the file that is named',
  },
  'plan-lacks-secrets': {
    title: 'The plan sends secrets that cannot be read here',
    class: 'failure',
    fix: 'provide them: each missing secret is reported separately',
  },
} as const satisfies CodeTable;

// Codes of values that are not written into manifests, and why.

export const editCodes = {
  'unknown-address': {
    title: 'No manifest declares a resource of this address',
    class: 'failure',
    fix: 'write the address as the plan shows it; for an undeclared resource use "trueup export"',
  },
  'no-difference': {
    title: 'The field is as declared, or the resource has no such field',
    class: 'failure',
    fix: 'write the path of a field that the plan shows as different',
  },
  'resource-gone': {
    title: 'The resource no longer exists in its target, and its manifest is kept',
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
    fix: 'write the value in place of the alias, or change it at its anchor for all',
  },
  'value-from-defaults': {
    title: 'The value comes from the defaults of the stack',
    class: 'failure',
    fix: 'change the default for all, or write the field into the manifest',
  },
  'value-from-list': {
    title: 'The value comes from a list, and others use it as well or it cannot be written there',
    class: 'failure',
    fix: 'change it in the list for all that use it, or give each of them a value of its own',
  },
  'value-from-template': {
    title: 'The value comes from a template, and holds for other resources as well',
    class: 'failure',
    fix: 'put an expression in its place and the value into the list, or change the template for all',
  },
  'value-from-input': {
    title: 'The manifest comes from standard input',
    class: 'failure',
    fix: 'change it in the source of the input',
  },
  'value-for-targets': {
    title: 'The document applies to several targets, and only one of them differs',
    class: 'failure',
    fix: 'give each target its own document, or change the value for all',
  },
  'value-secret': {
    title: 'The value is a secret, or contains one',
    class: 'failure',
    fix: 'name its source in the manifest',
  },
  'value-unknown': {
    title: 'The value is not known',
    class: 'failure',
    fix: 'write it by hand, or let apply set the declared value',
  },
  'value-still-differs': {
    title: 'The plan would still not be empty after the value is written',
    class: 'failure',
    fix: 'change the manifest by hand',
  },
  'not-movable': {
    title: 'The documents of the resource cannot be moved to the other stack',
    class: 'failure',
    fix: 'follow the message, or edit both stacks by hand',
  },
  'not-editable': {
    title: 'The manifest is written in a way that cannot be edited in place',
    class: 'failure',
    fix: 'change it by hand',
  },
  'revert-by-hand': {
    title: 'A created or removed resource cannot be reverted by writing a value',
    class: 'failure',
    fix: 'change the documents by hand, as "trueup history show ID --revert" says',
  },
  'not-formattable': {
    title: 'Formatting a file would lose something, or the file has other YAML than manifests',
    class: 'failure',
    fix: 'change what the message names; the file is left as it is',
  },
  'file-changed': {
    title: 'A file changed while trueup edited it',
    class: 'failure',
    fix: 'run the command again',
  },
  'files-partly-written': {
    title: 'Some files were written, and then one could not be written',
    class: 'failure',
    fix: 'fix the reason in the message, and run the command again: it writes the rest',
  },
} as const satisfies CodeTable;
