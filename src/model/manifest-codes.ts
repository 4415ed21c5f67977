/** Codes of problems in the files of a stack. All are found offline. */
import type { CodeTable } from './code-entry.ts';

export const manifestCodes = {
  // the files
  'no-stack': {
    title: 'No stack was found',
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
    fix: 'keep one Stack, and move each other one to its own directory',
  },
  'no-input': {
    title: 'Standard input cannot be read',
    class: 'incomplete',
    fix: 'pipe the manifests into the command',
  },
  'no-document': {
    title: 'Standard input contains no document',
    class: 'invalid',
    fix: 'check why the program before the pipe wrote no manifests; a stack without manifests has "manifests: []"',
  },
  'empty-file': {
    title: 'A file of manifests contains no document',
    class: 'incomplete',
    warning: true,
    fix: 'fill it, or remove it from "spec.manifests"',
  },
  'no-file': {
    title: 'A file that "spec.manifests" or a command names does not exist',
    class: 'incomplete',
    fix: 'correct the path, or mark the pattern as optional',
  },
  'no-manifests': {
    title: 'A pattern of "spec.manifests" matches no file',
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
    title: 'A file is outside the repository',
    class: 'invalid',
    fix: 'keep the files of a stack in its repository',
  },
  'no-regular-file': {
    title: 'A file is a directory, a pipe or a device',
    class: 'invalid',
    fix: 'use a regular file; the output of a program can be piped in, with "-" as the path',
  },
  'not-utf-8': {
    title: 'A file is not UTF-8 text',
    class: 'invalid',
    fix: 'save it as UTF-8',
  },
  'too-long': {
    title: 'A text or a file is too long',
    class: 'invalid',
    fix: 'shorten it, or split a file of manifests into several',
  },
  // their text
  'yaml-syntax': {
    title: 'The text is not valid YAML',
    class: 'invalid',
    fix: 'correct it at the place in the message',
  },
  'missing-separator': {
    title: 'There is no separator between two documents',
    class: 'invalid',
    fix: 'put a line "---" between them',
  },
  'duplicate-field': {
    title: 'A map has a field twice',
    class: 'invalid',
    fix: 'keep one of them',
  },
  'endless-alias': {
    title: 'An alias is inside its own anchor',
    class: 'invalid',
    fix: 'write the value in place of the alias',
  },
  'too-many-aliases': {
    title: 'An alias expands to too many values',
    class: 'invalid',
    fix: 'use fewer aliases of aliases, or split the document',
  },
  'lone-surrogate': {
    title: 'A text or a key has half of a surrogate pair, which is not a character',
    class: 'invalid',
    fix: 'write the character itself, or its complete code, such as "\\U0001F600"',
  },
  // its shape
  'unknown-field': {
    title: 'A field does not exist',
    class: 'invalid',
    fix: 'correct the name of the field, or remove it; "trueup schema" lists all fields',
  },
  'missing-field': {
    title: 'A required field is missing',
    class: 'invalid',
    fix: 'add the field',
  },
  'not-allowed': {
    title: 'A value, or a field in this place, is not allowed',
    class: 'invalid',
    fix: 'write one of the values that are allowed, or remove the field',
  },
  pattern: {
    title: 'A text does not have the required format',
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
    fix: 'write a number within the range in the message',
  },
  'wrong-type': {
    title: 'A value has the wrong type',
    class: 'invalid',
    fix: 'write a value of the allowed type; quotes make any value a text',
  },
  'no-default': {
    title: 'A field is null, but has no default',
    class: 'invalid',
    fix: 'give it a value, or leave it out',
  },
  'literal-secret': {
    title: 'A secret is written in place of its source',
    class: 'invalid',
    fix: 'put it into a variable or a file, and name that; replace the secret if it was ever committed',
  },
  'unknown-kind': {
    title: 'A kind does not exist',
    class: 'invalid',
    fix: 'write one of the kinds that are listed',
  },
  contradiction: {
    title: 'Two fields of "metadata" contradict each other',
    class: 'invalid',
    fix: 'keep one of them',
  },
  // templates
  'invalid-list': {
    title: 'A list of "metadata.each" cannot be used',
    class: 'invalid',
    fix: 'write a list of texts, a list of maps with a "key", or a map',
  },
  'private-list': {
    title: 'A list is a file that git ignores, or a file of trueup itself',
    class: ['invalid', 'incomplete'],
    fix: 'put the list into a file that git tracks: "trueup render" prints what it holds',
  },
  'csv-syntax': {
    title: 'The text of a list is not valid CSV',
    class: 'invalid',
    fix: 'correct it at the place in the message',
  },
  'empty-list': {
    title: 'A list of "metadata.each" is empty',
    class: ['invalid', 'incomplete'],
    fix: 'add an item, remove the document, or write "optional: true" beside the file',
  },
  'wrong-expression': {
    title: 'A template has an expression that cannot be replaced',
    class: 'invalid',
    fix: 'write ${each.key} or ${each.value.NAME} in a value, and $${ for the characters themselves',
  },
  'missing-member': {
    title: 'An item of a list lacks a value that its template uses',
    class: 'invalid',
    fix: 'add the value to the item, or correct the expression',
  },
  'too-many-resources': {
    title: 'The lists of "metadata.each" would make too many resources, or too much text',
    class: 'invalid',
    fix: 'shorten the lists, or divide the stack',
  },
  // the stack
  'renamed-from-itself': {
    title: 'The former name of a stack is its current name',
    class: 'invalid',
    fix: 'give the name that the stack had before, or leave "renamedFrom" out',
  },
  'approvals-not-needed': {
    title: 'No approval is needed, and methods of approval are named',
    class: 'invalid',
    fix: 'remove "none", or the other methods',
  },
  'raised-and-allowed': {
    title: 'A guard is both raised and allowed',
    class: 'invalid',
    fix: 'keep it in one of the two lists',
  },
  'not-for-service': {
    title: 'A field is not for this service',
    class: 'invalid',
    fix: 'remove the field',
  },
  url: {
    title: "A target's address cannot be used",
    class: 'invalid',
    fix: 'write "embedded", or an http(s) address without credentials and query',
  },
  mount: {
    title: "A target's mount is not a plain name",
    class: 'invalid',
    fix: 'write the name below "auth/", without slashes around it',
  },
  namespace: {
    title: "A target's namespace is not the path of a namespace",
    class: 'invalid',
    fix: 'write it as "team" or "org/team"',
  },
  'unknown-dialect': {
    title: 'A service does not have this dialect',
    class: 'invalid',
    fix: 'write one of the dialects that are listed',
  },
  'one-place': {
    title: 'Two targets have the same address',
    class: 'invalid',
    fix: 'merge them into one target, or let each own different names',
  },
  'embedded-dialects': {
    title: 'Two targets have different dialects for the same embedded service',
    class: 'invalid',
    fix: 'use the same dialect for both',
  },
  // what the documents say together
  duplicate: {
    title: 'Two documents declare the same thing',
    class: 'invalid',
    fix: 'keep one of them',
  },
  'same-name': {
    title: 'Two names are the same name to the service',
    class: 'invalid',
    fix: 'give one of them another name',
  },
  'outside-owns': {
    title: 'A name does not match "owns" of its target',
    class: 'invalid',
    fix: 'rename it, or add a pattern to "owns" of the target',
  },
  'renamed-and-declared': {
    title: 'A resource is declared, and also named in "renamedFrom" of another one',
    class: 'invalid',
    fix: 'remove the old document, or "renamedFrom" of the new one',
  },
  'renamed-twice': {
    title: 'Two resources have the same "renamedFrom"',
    class: 'invalid',
    fix: 'keep "renamedFrom" in one of them',
  },
  'reference-to-removed': {
    title: 'A reference names a resource that a removal request removes',
    class: 'invalid',
    fix: 'remove the reference, or keep what it refers to',
  },
  'reference-to-renamed': {
    title: 'A reference uses the former name of a renamed resource',
    class: 'invalid',
    fix: 'write the new name',
  },
  'name-and-id': {
    title: 'A thing is given by its name and by its id',
    class: 'invalid',
    fix: 'keep the name or the id',
  },
  'source-not-admitted': {
    title: 'A secret has a source that the stack does not allow',
    class: 'invalid',
    fix: 'use a source that is allowed, or add it to "spec.secrets" of the stack',
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
    title: 'The stack does not have this target',
    class: ['invalid', 'failure'],
    fix: 'write the name of one of its targets',
  },
  'wrong-service': {
    title: 'A target does not serve this kind',
    class: 'invalid',
    fix: "name a target of the kind's service",
  },
} as const satisfies CodeTable;
