/**
 * What a person would write into manifests to take an apply back: for each resource a fragment with the values before,
 * or why nothing can be written. YAML as a whole, with what only a person can do as comments.
 */
import { dump } from 'js-yaml';
import { type Address, parseAddress } from '../../model/resource/address.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import { secretWord } from '../../model/known-secrets.ts';
import type { HistoryChange, HistoryEntry } from '../../model/stack/ledger.ts';
import { formatSecret } from '../format/format-value.ts';
import { printable, printableJson } from '../format/printable.ts';

export interface RevertOptions {
  /** whether resources of this kind stay when their document goes */
  outlives(kind: string): boolean;
}

/** Newest changes first, as one takes things back. */
export function renderRevert(entry: HistoryEntry, { outlives }: RevertOptions): string {
  const head = comment(
    `takes back the apply ${entry.id} of stack "${entry.stack}"; nothing is done by this: change the manifests, then plan`,
  );
  const changes = entry.changes.filter(didSomething).toReversed();
  if (changes.length === 0) return `${head}\n${comment('it changed nothing')}`;
  return [head, ...changes.map((change) => revertChange(change, outlives))].join('\n---\n');
}

function didSomething({ outcome, done = [], inDoubt }: HistoryChange): boolean {
  return (
    outcome === undefined || outcome === 'applied' || outcome === 'unknown' || inDoubt || done.length > 0
  );
}

function revertChange(change: HistoryChange, outlives: RevertOptions['outlives']): string {
  const address = parseAddress(change.address);
  const { remarks, documents } = fragmentOf(change, address, outlives(address.kind));
  const lines = [`${change.address}: ${pastWords[change.action]}${doubt(change)}`, ...remarks];
  return [lines.map(comment).join('\n'), documents.map(yaml).join('\n---\n')].filter(Boolean).join('\n');
}

const pastWords: Readonly<Record<HistoryChange['action'], string>> = {
  create: 'was created',
  update: 'was updated',
  delete: 'was deleted',
  release: 'was released',
  adopt: 'was adopted',
  none: 'was left as it is',
};

/** What is not certain to have happened may need no taking back. */
function doubt({ outcome, done = [], foundTrue }: HistoryChange): string {
  if (outcome === 'applied' || foundTrue) return '';
  return outcome === undefined || outcome === 'unknown' || done.length === 0
    ? ', perhaps: look at it before you take it back'
    : ', in part: look at it before you take it back';
}

interface Fragment {
  readonly remarks: readonly string[];
  /** empty: there is nothing to write */
  readonly documents: readonly JsonObject[];
}

const goesWords = 'remove its document: the next apply takes away what was created';
const staysWords =
  'no document takes it away: without one it is released and stays as it is, so change what it says, or take it away by hand';

function fragmentOf(change: HistoryChange, address: Address, staysBehind: boolean): Fragment {
  const { was = {}, fields } = change;
  switch (change.action) {
    case 'create':
      return { remarks: [staysBehind ? staysWords : goesWords], documents: [] };
    case 'delete':
      return restoreDeleted(change, address);
    case 'release':
      return {
        remarks: ['declare it again, and adopt it', ...gapsIn(was)],
        documents: declareAgain(was, { adopt: true }),
      };
    case 'adopt': {
      const restored = toBeMerged(restoreFields(fields, address));
      const giveUp = 'to give it up again, set these back, apply, then remove its document: it is released';
      return { ...restored, remarks: [giveUp, ...restored.remarks] };
    }
    default:
      return toBeMerged(restoreFields(fields, address));
  }
}

/** A part that was withdrawn has values before; of a whole that was deleted only our own settings are known. */
function restoreDeleted({ fields, was = {} }: HistoryChange, address: Address): Fragment {
  const restored = restoreFields(fields, address);
  if (restored.documents.length > 0) return restored;
  const documents = declareAgain(was);
  const known =
    documents.length === 0
      ? 'its settings are not known either'
      : 'this declares it anew, as it was applied last';
  return {
    remarks: ['what it held besides its settings is gone and cannot be taken back', known, ...gapsIn(was)],
    documents,
  };
}

/** @param metadata more of it for the resource itself, which stands first; its parts take none */
function declareAgain(was: HistoryChange['was'] & object, metadata: JsonObject = {}): JsonObject[] {
  return Object.entries(was).map(([address, spec], index) => {
    const { kind, name, target } = parseAddress(address);
    const known = Object.fromEntries(Object.entries(spec).filter(([, value]) => !isGap(value)));
    return manifest(kind, { name, target, ...(index === 0 ? metadata : {}) }, known);
  });
}

/** A remark on each field that was kept without the secret in its value. */
function gapsIn(was: HistoryChange['was'] & object): string[] {
  return Object.entries(was).flatMap(([address, spec]) =>
    Object.entries(spec).flatMap(([name, value]) =>
      isGap(value) ? [heldSecret(`${name} of ${address}`)] : [],
    ),
  );
}

function isGap(value: Json): boolean {
  return JSON.stringify(value).includes(secretWord);
}

function heldSecret(what: string): string {
  return `${what} cannot be taken back: its value held a secret, which is not kept`;
}

function manifest(kind: string, metadata: JsonObject, spec: JsonObject): JsonObject {
  return { apiVersion: 'trueup.dev/v1', kind, metadata, spec };
}

/** A document with these fields alone would ask for the default of all others. */
function toBeMerged({ remarks, documents }: Fragment): Fragment {
  if (documents.length === 0) return { remarks, documents };
  const how = 'merge this into the document that declares it: all that it says besides stays as it is';
  return { remarks: [...remarks, how], documents };
}

/** A fragment to be merged into the document: other fields of it stay as they are. */
function restoreFields(fields: readonly FieldChange[], { kind, name, target }: Address): Fragment {
  const remarks: string[] = [];
  const spec: Record<string, Json> = {};
  let renamed: JsonObject | undefined;
  for (const field of fields) {
    if (isRename(field)) renamed = { name: field.before ?? null, target, renamedFrom: name };
    else if (isOfTrueup(field)) continue;
    else if (field.before === undefined || field.shape === 'secret' || isGap(field.before))
      remarks.push(cannotRestore(field));
    else put(spec, field.path, field.before);
  }
  if (Object.keys(spec).length === 0 && renamed === undefined) return { remarks, documents: [] };
  return { remarks, documents: [manifest(kind, renamed ?? { name, target }, spec)] };
}

function isRename({ path, before }: FieldChange): boolean {
  return path.length === 1 && path[0] === 'name' && before !== undefined;
}

/** The claim, and how a removal is made: no fields of a manifest. */
function isOfTrueup({ path }: FieldChange): boolean {
  return path.length === 1 && (path[0] === 'claim' || path[0] === 'remove');
}

function cannotRestore({ path, shape, before, unknown }: FieldChange): string {
  const name = path.join('.');
  if (shape === 'secret')
    return `${name} cannot be taken back: it is a secret, and its former value is not kept${formerSource(before)}`;
  if (unknown !== undefined)
    return `${name} cannot be taken back: its value before was not known (${unknown})`;
  if (before !== undefined) return heldSecret(name);
  return `remove ${name}: it did not exist before`;
}

/** What the source holds today may be another value, so it is told and not written. */
function formerSource(before: Json | undefined): string {
  return before === undefined ? '' : `; it was ${formatSecret(before)}`;
}

/** Sets a member below objects that are made on the way. */
function put(into: Record<string, Json>, [name = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    define(into, name, value);
    return;
  }
  const known = Object.hasOwn(into, name) ? into[name] : undefined;
  const below = (known ?? {}) as Record<string, Json>;
  put(below, rest, value);
  define(into, name, below);
}

/** Users choose keys: `__proto__` is one like any other. */
function define(into: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

function comment(text: string): string {
  return `# ${printable(text)}`;
}

/** Text that would not print as it is stands in quotes, with its escapes: JSON is YAML, too. */
function yaml(document: object): string {
  const text = dump(document, { lineWidth: -1, noRefs: true }).trimEnd();
  const plain = text.split('\n').every((line) => printable(line) === line);
  return plain ? text : printableJson(JSON.stringify(document, null, 2));
}
