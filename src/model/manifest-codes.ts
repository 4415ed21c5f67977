/** Codes of problems in the files of a stack. All are found offline. */
import type { CodeTable } from './code-entry.ts';

export const manifestCodes = {
  // the files
  'no-stack': {
    title: 'There is no stack where one was looked for',
    class: ['failure', 'invalid'],
    fix: 'give the path of a stack, or write one: a document of kind "Stack"',
  },
  'foreign-stack': {
    title: 'A stack file in a parent directory belongs to another user',
    class: 'failure',
    fix: 'read it, and give its path if you trust it',
  },
  'second-stack': {
    title: 'There is more than one Stack among the documents',
    class: 'invalid',
    fix: 'keep one Stack, and give each other one a directory of its own',
  },
  'no-input': {
    title: 'Standard input was to be read, and cannot be',
    class: 'incomplete',
    fix: 'pipe the manifests into the command',
  },
  'no-document': {
    title: 'Standard input holds no document',
    class: 'invalid',
    fix: 'see why what should have written the manifests wrote none; a stack that is to have none says "manifests: []"',
  },
  'empty-file': {
    title: 'A file of manifests holds no document',
    class: 'incomplete',
    warning: true,
    fix: 'fill it, or take it out of "spec.manifests"',
  },
  'no-file': {
    title: 'A file that "spec.manifests" names does not exist',
    class: 'incomplete',
    fix: 'correct the path, or mark the pattern as optional',
  },
  'no-manifests': {
    title: 'A pattern of "spec.manifests" stands for no file',
    class: 'incomplete',
    warning: true,
    fix: 'correct the pattern, or mark it as optional',
  },
  'partial-checkout': {
    title: 'The checkout lacks manifests that git tracks',
    class: 'incomplete',
    warning: true,
    fix: 'check out the submodules, and all files that "spec.manifests" matches',
  },
  unreadable: {
    title: 'A path of "spec.manifests" cannot be read',
    class: 'incomplete',
    fix: 'let the user that runs trueup read it',
  },
  'unreadable-file': {
    title: 'A file cannot be read',
    class: 'incomplete',
    fix: 'check that it exists and may be read',
  },
  'outside-repository': {
    title: 'A file lies outside the repository',
    class: 'invalid',
    fix: 'keep the files of a stack in its repository',
  },
  'no-regular-file': {
    title: 'A file is a directory, a pipe or a device',
    class: 'invalid',
    fix: 'put the text itself there; what a program writes can be piped in, with "-" as the path',
  },
  'not-utf-8': {
    title: 'A file is not UTF-8 text',
    class: 'invalid',
    fix: 'save it as UTF-8',
  },
  'too-long': {
    title: 'A text or a file is longer than it may be',
    class: 'invalid',
    fix: 'shorten it, or divide a file of manifests among several',
  },
  // their text
  'yaml-syntax': {
    title: 'The text is no YAML',
    class: 'invalid',
    fix: 'correct it at the place that is shown',
  },
  'missing-separator': {
    title: 'Two documents have nothing between them',
    class: 'invalid',
    fix: 'put a line "---" between them',
  },
  'duplicate-field': {
    title: 'A field stands twice in one map',
    class: 'invalid',
    fix: 'keep one of them',
  },
  'endless-alias': {
    title: 'An alias stands inside its own anchor',
    class: 'invalid',
    fix: 'write the value out',
  },
  'too-many-aliases': {
    title: 'An alias stands for more values than may be',
    class: 'invalid',
    fix: 'use fewer aliases of aliases, or split the document',
  },
  'lone-surrogate': {
    title: 'A text or a key has half of a surrogate pair, which is no character',
    class: 'invalid',
    fix: 'write the character itself, or its whole code, such as "\\U0001F600"',
  },
  // its shape
  'unknown-field': {
    title: 'There is no such field',
    class: 'invalid',
    fix: 'write the field that was meant, or remove it; "trueup schema" lists them',
  },
  'missing-field': {
    title: 'A field that has to be there is missing',
    class: 'invalid',
    fix: 'add the field',
  },
  'not-allowed': {
    title: 'A value, or a field in this place, is not allowed',
    class: 'invalid',
    fix: 'write one of the values that are allowed, or remove the field',
  },
  pattern: {
    title: 'A text is not well formed',
    class: 'invalid',
    fix: 'write it as the message says',
  },
  empty: {
    title: 'A text is empty',
    class: 'invalid',
    fix: 'give it a value, or leave the field out',
  },
  'too-short': {
    title: 'A text is too short',
    class: 'invalid',
    fix: 'write a longer one',
  },
  'too-few': {
    title: 'A list or map has too few members',
    class: 'invalid',
    fix: 'add what is missing',
  },
  'too-many': {
    title: 'A list or map has too many members',
    class: 'invalid',
    fix: 'remove some',
  },
  repeated: {
    title: 'A list has a member twice',
    class: 'invalid',
    fix: 'remove one of the two',
  },
  'out-of-range': {
    title: 'A number is too small or too large',
    class: 'invalid',
    fix: 'write one within the bounds that are shown',
  },
  'wrong-type': {
    title: 'A value has the wrong type',
    class: 'invalid',
    fix: 'write a value of the type that is allowed; quotes make a text of anything',
  },
  'no-default': {
    title: 'A field is null and has no default that null could stand for',
    class: 'invalid',
    fix: 'give it a value, or leave it out',
  },
  'literal-secret': {
    title: 'A secret stands where its source belongs',
    class: 'invalid',
    fix: 'put it in a variable or a file and name that; replace a secret that was ever committed',
  },
  'unknown-kind': {
    title: 'trueup knows no such kind',
    class: 'invalid',
    fix: 'write one of the kinds that are listed',
  },
  contradiction: {
    title: 'Two fields of "metadata" say what cannot hold together',
    class: 'invalid',
    fix: 'keep one of them',
  },
  // the stack
  'renamed-from-itself': {
    title: 'A stack names itself as the one that it goes on for',
    class: 'invalid',
    fix: 'give the name that the stack had before, or leave "renamedFrom" out',
  },
  'raised-and-allowed': {
    title: 'A guard is both raised and allowed',
    class: 'invalid',
    fix: 'keep it in one of the two lists',
  },
  'not-for-service': {
    title: 'A target has a field that is for another service',
    class: 'invalid',
    fix: 'remove the field',
  },
  url: {
    title: "A target's address cannot be used",
    class: 'invalid',
    fix: 'write "embedded", or an http(s) address without login and parameters',
  },
  mount: {
    title: "A target's mount is not written as a bare name",
    class: 'invalid',
    fix: 'write the name below "auth/", without slashes around it',
  },
  namespace: {
    title: "A target's namespace is not written as the path of one",
    class: 'invalid',
    fix: 'write it as "team" or "org/team"',
  },
  'unknown-dialect': {
    title: 'A service has no such dialect',
    class: 'invalid',
    fix: 'write one of the dialects that are listed',
  },
  'one-place': {
    title: 'Two targets are one place',
    class: 'invalid',
    fix: 'make one target of them, or let each own other names',
  },
  'embedded-dialects': {
    title: 'Two targets speak different dialects to the one embedded service',
    class: 'invalid',
    fix: 'write one dialect for both',
  },
  // what the documents say together
  duplicate: {
    title: 'Two documents are about the same thing',
    class: 'invalid',
    fix: 'keep one of them',
  },
  'same-name': {
    title: 'Two names are one name to the service',
    class: 'invalid',
    fix: 'give one of them another name',
  },
  'outside-owns': {
    title: 'A name is none of those that its target owns',
    class: 'invalid',
    fix: 'rename it, or add a pattern to "owns" of the target',
  },
  'renamed-and-declared': {
    title: 'A resource is declared, and another is to be renamed from it',
    class: 'invalid',
    fix: 'remove the old document, or "renamedFrom" of the new one',
  },
  'renamed-twice': {
    title: 'Two resources are to be renamed from one',
    class: 'invalid',
    fix: 'keep "renamedFrom" in one of them',
  },
  'reference-to-removed': {
    title: 'A reference leads to what is to be removed',
    class: 'invalid',
    fix: 'remove the reference, or keep what it refers to',
  },
  'reference-to-renamed': {
    title: 'A reference uses a name from before a rename',
    class: 'invalid',
    fix: 'write the new name',
  },
  'source-not-admitted': {
    title: 'A secret is to come from a source that the stack does not admit',
    class: 'invalid',
    fix: 'use a source that is admitted, or add it to "spec.secrets" of the stack',
  },
  'no-target': {
    title: 'No target of the stack serves this kind',
    class: 'invalid',
    fix: 'add a target of its service to the stack',
  },
  'ambiguous-target': {
    title: 'Several targets serve this kind, and none is named',
    class: 'invalid',
    fix: 'name one in "metadata.target"',
  },
  'unknown-target': {
    title: 'The stack has no such target',
    class: ['invalid', 'failure'],
    fix: 'write the name of one of its targets',
  },
  'wrong-service': {
    title: 'A target does not serve this kind',
    class: 'invalid',
    fix: 'name a target of the right service',
  },
} as const satisfies CodeTable;
