/**
 * The fields of a kind: how their values are compared, and the differences between values, also as RFC 6902 operations.
 * Also converts the names of fields between the API and manifests.
 */
import type { AddressText } from './address.ts';
import { canonicalText, isJsonObject, type Json, type JsonObject, ownMember, type Path } from './json.ts';

/** How a report shows a value. Comparing needs only the canonical form. */
export type Shape = 'scalar' | 'text' | 'list' | 'set' | 'map' | 'duration' | 'secret';

/**
 * One way to compare. Two values are equal when their canonical forms are the same JSON, so that `1h` and `3600`,
 * or two orders of one set, are no difference. `canonical` is idempotent, and works for every value that the schema allows.
 */
export interface Comparison {
  readonly shape: Shape;
  canonical(value: Json): Json;
}

export interface Field {
  readonly compare: Comparison;
  /** what `null` means: the service's "Default on create". Absent: there is no default, and `null` is invalid. */
  readonly default?: Json;
  /** the effect of that default, if the value alone is not clear: "what the mount gives" for 0 seconds */
  readonly defaultMeans?: string;
  /** sent only when the resource is created; a later difference is a note */
  readonly createOnly?: true;
  /** holds the creator mark, unless a manifest sets the field */
  readonly isCreatorMark?: true;
  /** the service never returns it: it is compared with the ledger */
  readonly writeOnly?: true;
  /** an instruction to trueup itself, not part of the live resource */
  readonly local?: true;
  /** for an object whose members are separate fields: absent members are not managed */
  readonly members?: FieldTable;
}

/** Every field of a kind's spec, by its name in manifests. */
export type FieldTable = Readonly<Record<string, Field>>;

/** The field table of a kind whose specs have the type `S`, without the names in `Other`. A missing or additional name does not compile. */
export type FieldsOf<S, Other extends keyof S = never> = {
  readonly [Name in Exclude<keyof S, Other>]-?: Field;
};

/** A field that will change. A missing `before` or `after` means that the member does not exist on that side. */
export interface FieldChange {
  readonly path: Path;
  /** canonical */
  readonly before?: Json;
  /** canonical */
  readonly after?: Json;
  readonly shape: Shape;
  /** why the value before is unknown; absent if it is known */
  readonly unknown?: string;
  /** where the value comes from, if not from the manifest: "default", "no longer declared" */
  readonly origin?: string;
  /** the names of the objects whose ids the values contain; only for display */
  readonly names?: readonly ShownName[];
  /** for a value that was redacted as a whole: its hash, from which the digest is built. The value itself is then the placeholder */
  readonly redacted?: { readonly before?: string; readonly after?: string };
}

/** Fields of a resource that applies may have written without a record, the oldest first. They may be live, or not. */
export interface BegunResource {
  readonly address: AddressText;
  /** the id of the resource then; absent if it has none, or was not known */
  readonly id?: string;
  readonly fields: readonly FieldChange[];
}

/** An object that a value gives by its id, with the name that it has in the target. */
export type ShownName = {
  /** path of the id, below the path of the change; empty if the whole value is the id */
  readonly at: Path;
  readonly before?: string;
  readonly after?: string;
};

const plannerFields: ReadonlySet<string> = new Set([
  'claim',
  'remove',
  'overrides',
  'inherited',
  'stack',
  'movedFrom',
]);

/**
 * Whether a field belongs to the planner and no manifest can declare it: the ownership tag (`claim`) or owner, the mode of a removal and
 * what it overrides, or a value that a parent gives.
 */
export function isPlannerField([name = '']: Path): boolean {
  return plannerFields.has(name);
}

// The one rule that converts API names to manifest names and back: `execution-mode` and `token_max_ttl` ⇄ `executionMode`, `tokenMaxTtl`.

export function camelCase(wireName: string): string {
  return wireName.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A cache: there are few names of fields, and each is converted for thousands of resources. */
const kebabNames = new Map<string, string>();

export function kebabCase(fieldName: string): string {
  const known = kebabNames.get(fieldName);
  if (known !== undefined) return known;
  const name = fieldName.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  kebabNames.set(fieldName, name);
  return name;
}

export function snakeCase(fieldName: string): string {
  return fieldName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// Field changes as RFC 6902 operations. Applied one after another, they turn the live canonical spec into the desired one, up
// to the order of sets: a set that grows by one element is one `add`, not a rewrite of every later index.

type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** `/tags/a~1b`: a path as RFC 6901 writes it; the empty path is the whole document. */
export function jsonPointer(path: Path): string {
  return path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * The operations of all changes of one resource, in the order of the changes. For a new resource they start from `{}`. The
 * differ guarantees that the document has the object around a nested change.
 */
export function toJsonPatch(changes: readonly FieldChange[]): PatchOperation[] {
  return changes.flatMap(operationsOf);
}

function operationsOf({ path, before, after, shape }: FieldChange): PatchOperation[] {
  const pointer = jsonPointer(path);
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path: pointer }];
  if (before === undefined) return [{ op: 'add', path: pointer, value: after }];
  if (shape === 'set' && Array.isArray(before) && Array.isArray(after)) {
    return setOperations(pointer, before, after);
  }
  if (shape === 'map' && isJsonObject(before) && isJsonObject(after)) {
    return mapOperations(path, before, after);
  }
  return [{ op: 'replace', path: pointer, value: after }];
}

/** Removes from the end, so that no removal shifts the index of a later one; then adds at the end. */
function setOperations(pointer: string, before: readonly Json[], after: readonly Json[]): PatchOperation[] {
  const wanted = new Set(after.map(canonicalText));
  const found = new Set(before.map(canonicalText));
  const removals = before
    .flatMap((item, index) => (wanted.has(canonicalText(item)) ? [] : [index]))
    .reverse()
    .map((index): PatchOperation => ({ op: 'remove', path: `${pointer}/${index}` }));
  const additions = after
    .filter((item) => !found.has(canonicalText(item)))
    .map((value): PatchOperation => ({ op: 'add', path: `${pointer}/-`, value }));
  return [...removals, ...additions];
}

function mapOperations(path: Path, before: JsonObject, after: JsonObject): PatchOperation[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key): PatchOperation[] => {
    const pointer = jsonPointer([...path, key]);
    const [was, becomes] = [ownMember(before, key), ownMember(after, key)];
    if (canonicalText(was) === canonicalText(becomes)) return [];
    if (becomes === undefined) return [{ op: 'remove', path: pointer }];
    return [{ op: was === undefined ? 'add' : 'replace', path: pointer, value: becomes }];
  });
}
