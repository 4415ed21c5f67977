/**
 * The manifests that would revert an apply: for each resource a fragment with its former values, or why there is none. The text
 * is YAML; steps that only a person can do are comments.
 */
import { dump } from 'js-yaml';
import { type Address, parseAddress } from '../../model/address.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { type FieldChange, isPlannerField } from '../../model/field.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { secretPlaceholder } from '../../redaction/known-secrets.ts';
import type { HistoryChange, HistoryEntry } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { addressMembers, diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { formatSecret } from '../../report/view/value.ts';
import { printable, printableJson } from '../../report/view/printable.ts';

interface RevertOptions {
  /** Whether resources of this kind stay when their document is removed. */
  outlives(kind: string): boolean;
}

/** Valid against `revertSchema`. */
export function renderRevertJson(
  entry: HistoryEntry,
  { outlives }: RevertOptions,
  diagnostics: readonly ShownDiagnostic[],
): string {
  const changes = entry.changes.filter(didSomething).toReversed();
  return renderJson({
    version: 1,
    stack: entry.stack,
    id: entry.id,
    changes: changes.map((change) => {
      const address = parseAddress(change.address);
      const { remarks, documents } = fragmentOf(change, address, outlives(address.kind));
      const certain = uncertainty(change) === '';
      return { ...addressMembers(address), action: change.action, certain, remarks, manifests: documents };
    }),
    ...diagnosticsMember(diagnostics),
  });
}

/** The fragments of all changes, the last change first. */
export function renderRevert(entry: HistoryEntry, { outlives }: RevertOptions): string {
  const head = comment(
    `takes back the apply ${entry.id} of stack ${quoted(entry.stack)}; nothing is done by this: change the manifests, then plan`,
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
  const lines = [`${change.address}: ${pastActions[change.action]}${uncertainty(change)}`, ...remarks];
  return [lines.map(comment).join('\n'), documents.map(yaml).join('\n---\n')].filter(Boolean).join('\n');
}

const pastActions: Readonly<Record<HistoryChange['action'], string>> = {
  create: 'was created',
  update: 'was updated',
  delete: 'was deleted',
  release: 'was released',
  adopt: 'was adopted',
  none: 'was left as it is',
};

/** A hint that the change may not have been carried out, or only in part. */
function uncertainty({ outcome, done = [], foundTrue }: HistoryChange): string {
  if (outcome === 'applied' || foundTrue) return '';
  return outcome === undefined || outcome === 'unknown' || done.length === 0
    ? ', perhaps: check it before you take it back'
    : ', in part: check it before you take it back';
}

interface Fragment {
  readonly remarks: readonly string[];
  /** empty when there is nothing to write */
  readonly documents: readonly JsonObject[];
}

const removalHint = 'remove its document: the next apply takes away what was created';
const releaseHint =
  'without its document it is released and stays as it is: change the values in its document instead, or delete it by hand';

function fragmentOf(change: HistoryChange, address: Address, outlivesDocument: boolean): Fragment {
  const { was = {}, fields } = change;
  switch (change.action) {
    case 'create':
      return { remarks: [outlivesDocument ? releaseHint : removalHint], documents: [] };
    case 'delete':
      return restoreDeleted(change, address);
    case 'release':
      return {
        remarks: ['declare it again, and adopt it', ...secretRemarks(was)],
        documents: declareAgain(was, { adopt: true }),
      };
    case 'adopt': {
      const restored = withMergeRemark(restoreFields(fields, address));
      const values = restored.documents.length === 0 ? '' : 'set these back and ';
      // Without onRemove, the origin of the record decides, and a resource that this stack once created is deleted.
      const giveUp = `to give it up again, ${values}declare "onRemove: release", apply, then remove its document: it is released; a resource that came from another stack goes back with "trueup move"`;
      return { ...restored, remarks: [giveUp, ...restored.remarks] };
    }
    default:
      return withMergeRemark(restoreFields(fields, address));
  }
}

/** The fragment for a delete. A withdrawn child has former values; of a deleted parent, only the settings that we applied are known. */
function restoreDeleted({ fields, was = {} }: HistoryChange, address: Address): Fragment {
  const restored = restoreFields(fields, address);
  if (restored.documents.length > 0) return restored;
  const documents = declareAgain(was);
  const known =
    documents.length === 0
      ? 'its settings are not known either'
      : 'this declares it again, as it was applied last';
  return {
    remarks: [
      'what it held besides its settings is gone and cannot be taken back',
      known,
      ...secretRemarks(was),
    ],
    documents,
  };
}

/** Documents with the former settings, without secrets. @param metadata added to the first document, which is the resource itself */
function declareAgain(was: HistoryChange['was'] & object, metadata: JsonObject = {}): JsonObject[] {
  return Object.entries(was).map(([address, spec], index) => {
    const { kind, name, target } = parseAddress(address);
    const known = Object.fromEntries(Object.entries(spec).filter(([, value]) => !hasSecret(value)));
    return manifest(kind, { name, target, ...(index === 0 ? metadata : {}) }, known);
  });
}

/** A remark for each field whose value was stored without its secret. */
function secretRemarks(was: HistoryChange['was'] & object): string[] {
  return Object.entries(was).flatMap(([address, spec]) =>
    Object.entries(spec).flatMap(([name, value]) =>
      hasSecret(value) ? [lostSecret(`${name} of ${address}`)] : [],
    ),
  );
}

function hasSecret(value: Json): boolean {
  return JSON.stringify(value).includes(secretPlaceholder);
}

function lostSecret(what: string): string {
  return `${what} cannot be taken back: its value held a secret, which is not kept`;
}

function manifest(kind: string, metadata: JsonObject, spec: JsonObject): JsonObject {
  return { apiVersion: 'trueup.dev/v1', kind, metadata, spec };
}

/** Adds a remark to merge the fragment: as a separate document it would reset all other fields. */
function withMergeRemark({ remarks, documents }: Fragment): Fragment {
  if (documents.length === 0) return { remarks, documents };
  const how = 'merge this into the document that declares it: the rest of that document stays as it is';
  return { remarks: [...remarks, how], documents };
}

/** A fragment with the former values, to be merged into the document. */
function restoreFields(fields: readonly FieldChange[], { kind, name, target }: Address): Fragment {
  const remarks: string[] = [];
  const spec: Record<string, Json> = {};
  let renamed: JsonObject | undefined;
  const flags = fields.filter((field) => isFlag(field) && field.before !== undefined);
  for (const field of fields) {
    if (isRename(field)) renamed = { name: field.before ?? null, target, renamedFrom: name };
    else if (isPlannerField(field.path) || flags.includes(field)) continue;
    else if (field.before === undefined || field.shape === 'secret' || hasSecret(field.before))
      remarks.push(cannotRestore(field));
    else setAt(spec, field.path, field.before);
  }
  if (Object.keys(spec).length + flags.length === 0 && renamed === undefined)
    return { remarks, documents: [] };
  return {
    remarks,
    documents: [manifest(kind, { ...(renamed ?? { name, target }), ...flagsBefore(flags) }, spec)],
  };
}

function flagsBefore(flags: readonly FieldChange[]): JsonObject {
  return Object.fromEntries(flags.map(({ path: [name = ''], before = null }) => [name, before]));
}

function isRename({ path, before }: FieldChange): boolean {
  return path.length === 1 && path[0] === 'name' && before !== undefined;
}

/** Whether the field is a setting in the metadata of a manifest; only the ledger stores these settings. */
function isFlag({ path }: FieldChange): boolean {
  return path.length === 1 && (path[0] === 'protect' || path[0] === 'onRemove');
}

function cannotRestore({ path, shape, before, unknown }: FieldChange): string {
  const name = path.join('.');
  if (shape === 'secret')
    return `${name} cannot be taken back: it is a secret, and its former value is not kept${formerSource(before)}`;
  if (unknown !== undefined)
    return `${name} cannot be taken back: its value before was not known (${unknown})`;
  if (before !== undefined) return lostSecret(name);
  return `remove ${name}: it did not exist before`;
}

/** The former source is only in a comment, because it may hold another value now. */
function formerSource(before: Json | undefined): string {
  return before === undefined ? '' : `; it was ${formatSecret(before)}`;
}

/** Sets a member at a path and creates the objects above it. */
function setAt(into: Record<string, Json>, [name = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    setMember(into, name, value);
    return;
  }
  const known = Object.hasOwn(into, name) ? into[name] : undefined;
  const below = (known ?? {}) as Record<string, Json>;
  setAt(below, rest, value);
  setMember(into, name, below);
}

/** Sets a member, also with the key `__proto__`, which users may choose. */
function setMember(into: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

function comment(text: string): string {
  return `# ${printable(text)}`;
}

/** YAML; if it contains unprintable characters, JSON with escapes, which is valid YAML, too. */
function yaml(document: object): string {
  const text = dump(document, { lineWidth: -1, noRefs: true }).trimEnd();
  const plain = text.split('\n').every((line) => printable(line) === line);
  return plain ? text : printableJson(JSON.stringify(document, null, 2));
}
