/** Codes of values that are not written into manifests, and why. */
import type { CodeTable } from './code-entry.ts';

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
