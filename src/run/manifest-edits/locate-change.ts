/**
 * Finds where a value is written, or would be: the document, the path in it, and the value as a manifest writes it. The spelling
 * in the manifest stays if it means the same.
 */
import { resolve } from 'node:path';
import { findShared, type ValueEdit } from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import type { Manifests } from '../../manifest/read-manifests.ts';
import { MadeFromTemplate } from '../../manifest/templates/template.ts';
import type { Span } from '../../manifest/yaml/locate.ts';
import { placeIn, type SourceText, toPlace, type YamlDocument } from '../../manifest/yaml/yaml-document.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import { formatDuration } from '../../model/duration.ts';
import type { Comparison, Field, FieldTable } from '../../model/field.ts';
import {
  isJsonObject,
  type Json,
  memberOf,
  type Path,
  sameJson,
  textsOf,
  valueAt,
} from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import type { NamedReference } from '../../model/named-reference.ts';
import { quoted } from '../../model/quoted.ts';
import type { Spec } from '../../model/resource.ts';
import { exportSpec } from '../../plan/export-spec.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';

type Entry = Manifests['entries'][number];

export interface LocatedChange {
  readonly accepted: AcceptedChange;
  /** absolute */
  readonly file: string;
  readonly source: SourceText;
  readonly place: Place;
  readonly edit: FileEdit;
}

type FileEdit =
  /** `remove` removes the whole document */
  | { readonly document: YamlDocument; readonly values: readonly ValueEdit[] | 'remove' }
  /** a cell of a CSV file, with its quotes */
  | { readonly cell: Span; readonly text: string };

export interface PlacingContext {
  /** the declared resources, by address */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly kinds: Registry;
  readonly cwd: string;
}

/** The entries of manifests by their addresses. */
export function entriesByAddress(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(entries.map((entry) => [formatAddress(entry.address), entry] as const));
}

/** Where one value is written; if a template made the document, the change to make in it. */
export function locateChange(
  accepted: AcceptedChange,
  { entries, kinds, cwd }: PlacingContext,
): LocatedChange | TemplateChange | Refusal {
  const text = formatAddress(accepted.address);
  const entry = entries.get(text);
  const kind = kinds.get(accepted.address.kind);
  if (entry === undefined || kind === undefined)
    return refuse(accepted, 'unknown-address', {
      message: `no manifest declares ${quoted(text)}`,
      fix: 'write the address as the plan shows it',
    });
  const { document } = entry.declaration;
  const named = namedAt(kind, entry.resource?.spec ?? {}, accepted.path);
  const where = named === undefined ? pathInDocument(accepted, entry, kind) : ['spec', ...named.name];
  const refusal = refuseSource(accepted, entry, where);
  if (refusal !== undefined) return refusal;
  const isWhole = accepted.path.length === 0 && entry.shortForm === undefined;
  const place = isWhole ? entry.declaration.where.place(['metadata', 'name']) : placeIn(document, where);
  const values = () =>
    named === undefined
      ? editsAt(accepted, where, { document, entry, kind })
      : namedEdits(accepted, named, { where, field: fieldAt(kind.fields, accepted.path) });
  const edits = isWhole ? 'remove' : values();
  if (document instanceof MadeFromTemplate) return { accepted, document, where, place, edits };
  return editDocument(accepted, { document, where, place, edits, cwd });
}

/** A change in a document that a template made: its text comes from the template, and from a list. */
export interface TemplateChange {
  readonly accepted: AcceptedChange;
  readonly document: MadeFromTemplate;
  /** the path in the document */
  readonly where: Path;
  readonly place: Place;
  readonly edits: readonly ValueEdit[] | 'remove';
}

/** The change of a document's text; refused if aliases share the changed value. */
export function editDocument(
  accepted: AcceptedChange,
  about: Omit<TemplateChange, 'accepted' | 'document'> & {
    readonly document: YamlDocument;
    readonly cwd: string;
  },
): LocatedChange | Refusal {
  const { document, where, place, edits, cwd } = about;
  const { source } = document;
  return (
    refuseShared(accepted, document, where) ?? {
      ...{ accepted, source, place },
      file: resolve(cwd, source.file),
      edit: { document, values: edits },
    }
  );
}

/** The reference whose id is at this path, if the manifest gives it by name. */
function namedAt({ named }: Kind, spec: Spec, path: Path): NamedReference | undefined {
  return named?.references.find(({ name, id }) => sameJson(id, path) && valueAt(spec, name) !== undefined);
}

/** Writes the name of the object if it is unique, else the id in place of the name. Without an object, removes the name. */
function namedEdits(
  { value, name }: AcceptedChange,
  { id }: NamedReference,
  { where, field }: { readonly where: Path; readonly field: Field | undefined },
): ValueEdit[] {
  if (typeof value !== 'string') return [{ path: where, value: writtenValue(field, value, undefined) }];
  if (name !== undefined) return [{ path: where, value: name }];
  return [
    { path: where, value: undefined },
    { path: ['spec', ...id], value },
  ];
}

/** The path of the value in the document. In a short form, its name takes the place of the child's first field. */
function pathInDocument({ path }: AcceptedChange, { shortForm, declaration }: Entry, kind: Kind): Path {
  const [name, ...rest] = path;
  if (shortForm !== undefined) return ['spec', shortForm, ...rest];
  if (name === undefined) return ['metadata', 'name'];
  return ['spec', spellingOf(kind, memberOf(declaration.document.value, 'spec'), name), ...rest];
}

/** The name under which a field is written, which may be a deprecated one. */
function spellingOf({ upgrade }: Kind, spec: ReturnType<typeof memberOf>, name: string): string {
  if (!isJsonObject(spec) || Object.hasOwn(spec, name) || upgrade === undefined) return name;
  const old = Object.entries(spec).find(([member, value]) =>
    Object.hasOwn(upgrade({ [member]: value }), name),
  );
  return old?.[0] ?? name;
}

/** A deprecated field name stays if it can express the value; else the current name replaces it. */
function editsAt(
  { path, value: live }: AcceptedChange,
  where: Path,
  { document, entry, kind }: { readonly document: YamlDocument; readonly entry: Entry; readonly kind: Kind },
): ValueEdit[] {
  if (path.length === 0) return [{ path: where, value: undefined }];
  const [name = ''] = path;
  const value = writtenValue(fieldAt(kind.fields, path), live, valueAt(document.value, where));
  const [, usedName = ''] = where;
  if (entry.shortForm !== undefined || usedName === name || value === undefined)
    return [{ path: where, value }];
  const upgraded = kind.upgrade?.({ [usedName]: value });
  if (sameJson(upgraded?.[name], value)) return [{ path: where, value }];
  return [
    { path: ['spec', usedName], value: undefined },
    { path: ['spec', ...path], value },
  ];
}

function refuseSource(accepted: AcceptedChange, entry: Entry, where: Path): Refusal | undefined {
  const { declaration, resource } = entry;
  const { document } = declaration;
  const fieldPath = entry.shortForm === undefined ? where.slice(1) : accepted.path;
  // Most changes are not refused, and a place is found by parsing the file again.
  const place = () => resource?.placeOf(fieldPath) ?? placeIn(document, where);
  const named = nameOfAcceptedChange(accepted);
  if (document.source.file === standardInput)
    return refuse(accepted, 'value-from-input', {
      message: `${named} is declared on standard input, which is not written`,
      place: place(),
      fix: 'change it where the input is made',
    });
  const targets = textsOf(memberOf(memberOf(document.value, 'metadata'), 'targets'));
  if (targets.length > 1)
    return refuse(accepted, 'value-for-targets', {
      message: `the document of ${named} declares it in the targets ${targets.map(quoted).join(', ')}, and a value cannot be written for one of them`,
      place: placeIn(document, ['metadata', 'targets']),
      fix: 'give each target a document of its own, or change the value for all by hand',
    });
  const isOwn = valueAt(document.value, where) !== undefined;
  const isDefault = accepted.path.length > 0 && !isOwn && valueAt(resource?.spec, fieldPath) !== undefined;
  const isDefaultChild = accepted.path.length === 0 && entry.shortForm !== undefined && !isOwn;
  if (!isDefault && !isDefaultChild) return undefined;
  return refuse(accepted, 'value-from-defaults', {
    message: `${named} comes from the defaults of the stack, which are not written`,
    place: isDefault ? place() : (resource?.place ?? place()),
    fix: `change the default for all, or write ${quoted(where.slice(1).join('.'))} into the manifest`,
  });
}

function refuseShared(accepted: AcceptedChange, document: YamlDocument, where: Path): Refusal | undefined {
  try {
    const shared = findShared(document, where);
    if (shared === undefined) return undefined;
    const place = toPlace({ source: document.source, base: 0 }, shared.span);
    const named = nameOfAcceptedChange(accepted);
    return refuse(accepted, 'value-from-alias', {
      message:
        shared.by === 'alias'
          ? `${named} comes ${shared.name === '<<' ? 'by a merge key' : `from the anchor ${quoted(`&${shared.name}`)}, by an alias`}`
          : `${named} has the anchor ${quoted(`&${shared.name}`)}, which aliases repeat`,
      place,
      fix: 'write the value out where it must differ, or change it at its anchor for all',
    });
  } catch (error) {
    if (!(error instanceof UnusualYaml)) throw error;
    return notEditable(accepted, error, placeIn(document, where));
  }
}

export function notEditable(accepted: AcceptedChange, { message }: UnusualYaml, place: Place): Refusal {
  return refuse(accepted, 'not-editable', {
    message: `the document of ${nameOfAcceptedChange(accepted)} cannot be edited in place: ${message}`,
    place,
    fix: 'change it by hand',
  });
}

// A live value as a manifest writes it: in the spelling of the manifest, if that means the same.

/** @param live canonical @param current the value in the manifest now */
function writtenValue(
  field: Field | undefined,
  live: Json | undefined,
  current: Json | undefined,
): Json | undefined {
  if (field === undefined || live === undefined) return live;
  const { compare, members } = field;
  // Without a default, a manifest cannot express null.
  if (live === null && field.default === undefined) return undefined;
  if (members !== undefined && isJsonObject(live)) return exportSpec({ fields: members, live, defaults: {} });
  if (compare.shape === 'set' && Array.isArray(live)) return writtenSet(compare, live, current);
  if (compare.shape === 'duration' && typeof live === 'number')
    return typeof current === 'number' ? live : formatDuration(live);
  return typeof live === 'string' ? withoutFraction(compare, live) : live;
}

/** A timestamp without a fraction of zero, if that means the same. */
function withoutFraction(compare: Comparison, live: string): string {
  const short = live.replace(/(?<=:\d\d)\.000Z$/, 'Z');
  return sameJson(compare.canonical(short), live) ? short : live;
}

/** Items that stay keep their order and spelling, so that their lines do not change; new items follow them. */
function writtenSet(compare: Comparison, live: readonly Json[], current: Json | undefined): Json {
  const canonical = (item: Json): Json => {
    const form = compare.canonical([item]);
    return Array.isArray(form) && form.length === 1 ? (form[0] ?? null) : item;
  };
  const items: readonly Json[] = Array.isArray(current) ? current : [];
  const kept = items.filter((item) => live.some((other) => sameJson(other, canonical(item))));
  const added = live.filter((item) => !kept.some((other) => sameJson(canonical(other), item)));
  return [...kept, ...added];
}

// A change of the manifests that a command was asked to make: one value of a resource, or the removal of its
// declaration.

export interface AcceptedChange {
  readonly address: Address;
  /** the path of the field; empty for the whole resource */
  readonly path: Path;
  /** canonical; undefined removes the member, or the resource */
  readonly value: Json | undefined;
  /** if the value is the id of an object: its name, if it is known and no other object has it */
  readonly name?: string;
}

/** A value that is not written, and why. */
export interface Refusal {
  readonly accepted: Pick<AcceptedChange, 'address' | 'path'>;
  readonly why: Diagnostic;
}

/** A key for one value of one resource. */
export function acceptedChangeKey({ address, path }: Pick<AcceptedChange, 'address' | 'path'>): string {
  return JSON.stringify([formatAddress(address), ...path]);
}

/** `autoApply of Workspace/acme/app`, or only the address. */
export function nameOfAcceptedChange({ address, path }: Pick<AcceptedChange, 'address' | 'path'>): string {
  const field = path.length === 0 ? '' : `${quoted(path.join('.'))} of `;
  return `${field}${quoted(formatAddress(address))}`;
}

export function refuse(
  accepted: Refusal['accepted'],
  code: DiagnosticCode,
  about: { readonly message: string; readonly fix: string; readonly place?: Place | undefined },
): Refusal {
  const { message, fix, place } = about;
  const why = { code, severity: 'error', class: 'failure', message, fix } as const;
  return { accepted, why: place === undefined ? why : { ...why, place } };
}

/** The refusal of a value that is a secret, or whose text the patch for the review would mask: such a value is never written. */
export function refuseSecret(accepted: Refusal['accepted'], place: Place | undefined): Refusal {
  return refuse(accepted, 'value-secret', {
    message: `${nameOfAcceptedChange(accepted)} is a secret, or holds one: it is not written into a file`,
    place,
    fix: 'name its source in the manifest, or write a value that is not secret by hand',
  });
}

/** The field of a path; undefined for a key that users choose. */
export function fieldAt(fields: FieldTable, [name = '', ...rest]: Path): Field | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return rest.length === 0 ? field : field?.members && fieldAt(field.members, rest);
}
