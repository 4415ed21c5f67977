/** The place of a ledger as users write it, in `spec.ledger` and on the command line, and as the run uses it. */
import { jsonSchema } from '../model/define-kind.ts';
import type { Json } from '../model/json.ts';
import type { LedgerPlace, SecretSource } from '../model/stack.ts';
import { explainErrors } from './explain-errors.ts';
import { compileSchema } from './schema/compile-schema.ts';
import type { LedgerDocument } from './schema/place-schemas.ts';
import { stackSchema } from './schema/stack-schema.ts';
import { parseDocuments } from './yaml/parse-documents.ts';
import { createSourceText } from './yaml/yaml-document.ts';

/** The environment variable with the URL of the database, when the stack names no other source. */
const ledgerUrlVariable = 'TRUEUP_LEDGER_URL';

/** @param written valid against the stack's schema */
export function readLedgerPlace(written: LedgerDocument): LedgerPlace {
  if (written === 'local') return { in: 'local' };
  if (written === 'git') return { in: 'git', remote: 'origin' };
  if (written === 'postgres') return { in: 'postgres', url: { env: ledgerUrlVariable } };
  if (written.local !== undefined) return { in: 'local', folder: written.local.folder };
  if (written.git !== undefined) return { in: 'git', remote: written.git.remote ?? 'origin' };
  // the schema allows exactly one member, both here and in the source
  return { in: 'postgres', url: written.postgres?.url as SecretSource };
}

/** The shortest value of `spec.ledger` that means this place. */
export function ledgerDocument(place: LedgerPlace): Json {
  switch (place.in) {
    case 'local':
      return place.folder === undefined ? 'local' : { local: { folder: place.folder } };
    case 'git':
      return place.remote === 'origin' ? 'git' : { git: { remote: place.remote } };
    case 'postgres': {
      const isDefault = 'env' in place.url && place.url.env === ledgerUrlVariable;
      return isDefault ? 'postgres' : { postgres: { url: { ...place.url } } };
    }
  }
}

/** The same as YAML on one line: `{ git: { remote: upstream } }`. */
export function ledgerText(place: LedgerPlace): string {
  return flowText(ledgerDocument(place));
}

function flowText(value: Json): string {
  if (typeof value !== 'object' || value === null)
    return isPlainText(String(value)) ? String(value) : JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${key}: ${flowText(member)}`);
  return `{ ${members.join(', ')} }`;
}

/** Whether a text needs no quotes in YAML. Others mean something else without quotes, or might. */
function isPlainText(text: string): boolean {
  return /^[A-Za-z_./][A-Za-z0-9_./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
}

export function isSamePlace(one: LedgerPlace, other: LedgerPlace): boolean {
  return ledgerText(one) === ledgerText(other);
}

/**
 * A place from the command line, or from a stored ledger, which another program may have written.
 * @param text YAML, as the value of `spec.ledger`
 * @returns a place, or a sentence about what is wrong
 */
export function parseLedgerPlace(text: string): LedgerPlace | string {
  const { documents, diagnostics } = parseDocuments(createSourceText('-', text));
  const [document] = documents;
  if (document === undefined || documents.length > 1 || diagnostics.length > 0)
    return 'it is not the YAML of one value, such as git or { git: { remote: upstream } }';
  const schema = jsonSchema(stackSchema);
  const at = ['spec', 'ledger'];
  const stack = { spec: { ledger: document.value } };
  const errors = compileSchema(
    stackSchema,
    () => schema,
  )(stack).filter(({ instancePath }) => instancePath.startsWith(`/${at.join('/')}`));
  const [problem] = explainErrors(errors, {
    base: [],
    schema,
    typed: () => undefined,
    field: () => undefined,
    // A user may have written the URL of a database, which is a secret.
    isSecret: () => true,
    absent: 'unmanaged',
  });
  if (problem === undefined) return readLedgerPlace(document.value as LedgerDocument);
  const { message, allowed } = problem;
  return `${message.replace('"spec.ledger"', 'it')}${allowed === undefined ? '' : `; allowed: ${allowed}`}`;
}
