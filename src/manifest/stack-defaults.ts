/**
 * The defaults of a stack: which of them apply to a document, merged, with the place of each value. `match` sees a document as it was
 * written, without any default.
 */
import type { Diagnostic, Place } from '../model/diagnostic.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  type Path,
  valueAt,
  withValueAt,
} from '../model/json.ts';
import type { Kind, Registry, ResourceProblem } from '../model/kind.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import { type NamedReference, nameKey } from '../model/named-reference.ts';
import { quoted } from '../model/quoted.ts';
import type { Spec } from '../model/resource.ts';
import type { DefaultsEntry, DefaultsMatch, Target } from '../model/stack.ts';
import { type EntrySide, placeIn, typedText, type YamlDocument } from './yaml/yaml-document.ts';

/** The parts of a document that defaults can match. */
interface MatchedDocument {
  readonly name: string | undefined;
  readonly target: string | undefined;
  /** name or id */
  readonly projects: readonly string[];
  readonly tags: JsonObject;
}

/** @param target of the resource; a document may leave it out, or name several */
export function matchedDocument(value: Json, target: string | undefined): MatchedDocument {
  const spec = memberOf(value, 'spec');
  const name = memberOf(memberOf(value, 'metadata'), 'name');
  const tags = memberOf(spec, 'tags');
  const projects = ['project', 'projectId'].map((field) => memberOf(spec, field));
  return {
    name: typeof name === 'string' ? name : undefined,
    target,
    projects: projects.filter((project) => typeof project === 'string'),
    tags: isJsonObject(tags) ? tags : {},
  };
}

function matches({ name, target, project, tags }: DefaultsMatch, document: MatchedDocument): boolean {
  return (
    matchesAny(name, [document.name]) &&
    matchesAny(target, [document.target]) &&
    matchesAny(project, document.projects) &&
    Object.entries(tags ?? {}).every(([key, patterns]) => {
      const value = memberOf(document.tags, key);
      return matchesAny(patterns, [typeof value === 'string' ? value : undefined]);
    })
  );
}

function matchesAny(
  patterns: readonly string[] | undefined,
  values: readonly (string | undefined)[],
): boolean {
  if (patterns === undefined) return true;
  return values.some((value) => value !== undefined && patterns.some((one) => matchesPattern(value, one)));
}

/** The defaults of one kind that apply to a document. */
export interface Defaults {
  /** the document of the stack */
  readonly document: YamlDocument;
  /** merged */
  readonly spec: JsonObject;
  /** the specs that it was merged from; earlier ones win */
  readonly layers: readonly DefaultsLayer[];
}

interface DefaultsLayer {
  readonly spec: JsonObject;
  /** path of `spec` in the document */
  readonly path: Path;
}

/** The place where a value of the defaults was written, or the nearest part around it. @param path below `spec` */
export function placeInDefaults({ document, layers }: Defaults, path: Path, side?: EntrySide): Place {
  return { ...placeIn(document, pathInDefaults(layers, path), side), isDefault: true };
}

export function typedInDefaults({ document, layers }: Defaults, path: Path): string | undefined {
  return typedText(document, pathInDefaults(layers, path));
}

function pathInDefaults(layers: readonly DefaultsLayer[], path: Path): Path {
  const depths = layers.map(({ spec }) => depthOf(spec, path));
  const layer = layers[depths.indexOf(Math.max(...depths))];
  return [...(layer?.path ?? []), ...path];
}

/** Finds the defaults of documents. Documents with the same defaults share one object: a stack may have thousands of documents. */
export class StackDefaults {
  readonly #document: YamlDocument;
  readonly #entries: readonly DefaultsEntry[];
  readonly #kinds: Registry;
  readonly #known = new Map<string, Defaults | undefined>();
  readonly #used = new Set<DefaultsEntry>();
  /** whether documents of one kind may have different defaults */
  readonly mayDiffer: boolean;

  constructor(document: YamlDocument, entries: readonly DefaultsEntry[], kinds: Registry) {
    this.#document = document;
    this.#kinds = kinds;
    this.#entries = entries;
    this.mayDiffer = entries.some(({ match }) => match !== undefined);
  }

  /** The same object for the same defaults; undefined without any. @param document is not needed where they do not differ */
  find(kind: string, document?: MatchedDocument): Defaults | undefined {
    const found = this.#entries.filter(
      ({ match, kinds }) =>
        Object.hasOwn(kinds, kind) &&
        (match === undefined || (document !== undefined && matches(match, document))),
    );
    if (found.length === 0) return undefined;
    const key = [kind, ...found.map((entry) => this.#entries.indexOf(entry))].join(' ');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    for (const entry of found) this.#used.add(entry);
    const merged = this.#merge(kind, found);
    this.#known.set(key, merged);
    return merged;
  }

  /** A warning for each entry whose `match` matched no document: otherwise, a misspelt `match` would go unnoticed. */
  unused(): Diagnostic[] {
    return this.#entries
      .filter((entry) => entry.match !== undefined && !this.#used.has(entry))
      .map(({ path }) => ({
        code: 'unused-default',
        severity: 'warning',
        class: 'invalid',
        message: 'no manifest matches this entry of "spec.defaults", so its values have no effect',
        place: placeIn(this.#document, [...path, 'match'], 'key'),
        fix: 'correct its "match", which sees manifests as they are written, before any default; or remove the entry',
      }));
  }

  #merge(kind: string, found: readonly DefaultsEntry[]): Defaults {
    const layers = found
      .map(({ kinds, path }) => ({ spec: kinds[kind] ?? {}, path: [...path, kind] }))
      .reverse();
    const [first = { spec: {} }, ...below] = layers;
    const spec = below.reduce(
      (merged, layer) => mergeUnder(this.#kinds.get(kind), layer.spec, merged),
      first.spec,
    );
    return { document: this.#document, spec, layers };
  }
}

/** The values that a stack puts under a document of a kind. @param entries in order */
export function defaultsUnder(
  entries: readonly DefaultsEntry[],
  kind: Kind,
  document: MatchedDocument,
): JsonObject {
  const found = entries.filter(({ match }) => match === undefined || matches(match, document));
  return found.reduce<JsonObject>(
    (below, { kinds }) => mergeUnder(kind, below, memberObject(kinds, kind.name)),
    {},
  );
}

function memberObject(kinds: DefaultsEntry['kinds'], kind: string): JsonObject {
  return Object.hasOwn(kinds, kind) ? (kinds[kind] ?? {}) : {};
}

/** Targets of a document for which the same defaults apply. */
interface TargetGroup {
  readonly targets: readonly Target[];
  defaultsOf(kind: string): Defaults | undefined;
}

/** Groups targets by their defaults: one group for all, or one for each if an entry has a `match`. @param value of the document */
export function groupTargets(
  value: Json,
  targets: readonly Target[],
  defaults: StackDefaults | undefined,
): readonly TargetGroup[] {
  const none = memberOf(memberOf(value, 'metadata'), 'defaults') === false;
  if (defaults === undefined || none) return [{ targets, defaultsOf: noDefaults }];
  if (!defaults.mayDiffer) return [{ targets, defaultsOf: (kind) => defaults.find(kind) }];
  const groupOf = (target: Target | undefined): TargetGroup => {
    const document = matchedDocument(value, target?.name);
    return {
      targets: target === undefined ? [] : [target],
      defaultsOf: (kind) => defaults.find(kind, document),
    };
  };
  return targets.length === 0 ? [groupOf(undefined)] : targets.map(groupOf);
}

function noDefaults(): undefined {
  return undefined;
}

// Merges values over defaults: maps by key at any depth, everything else as a whole.

/** Values of `own` always win; `defaults` only fill in missing ones. `null`, `{}` and `[]` in `own` are not missing. */
export function mergeDefaults(defaults: JsonObject, own: JsonObject): JsonObject {
  const names = new Set([...Object.keys(own), ...Object.keys(defaults)]);
  return Object.fromEntries(
    [...names].map((name) => [name, mergeMember(ownMember(defaults, name), ownMember(own, name))]),
  );
}

/** Ignores inherited members: a field may be called `constructor`. */
function ownMember(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function mergeMember(fallback: Json | undefined, own: Json | undefined): Json {
  if (own === undefined) return fallback ?? null;
  return isJsonObject(own) && isJsonObject(fallback) ? mergeDefaults(fallback, own) : own;
}

/** How many segments of a path, from its start, exist in a value. */
export function depthOf(value: Json | undefined, path: readonly string[]): number {
  let at = value;
  for (const [depth, name] of path.entries()) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return depth;
    at = Array.isArray(at) ? at[Number(name)] : isJsonObject(at) ? at[name] : undefined;
  }
  return path.length;
}

// Fields that give the same object by its name or by its id: the one in a manifest replaces the other one in the defaults.

/** Merges a spec over defaults; in both, an object may be given by its name or by its id. */
export function mergeUnder(kind: Kind | undefined, defaults: JsonObject, own: JsonObject): JsonObject {
  return mergeDefaults(kind === undefined ? defaults : withoutReplaced(kind, defaults, own), own);
}

/** The defaults without the name of an object that a spec gives by its id, and without the id of one that it gives by its name. */
export function withoutReplaced({ named }: Kind, defaults: JsonObject, own: JsonObject): JsonObject {
  const replaced = (named?.references ?? []).flatMap((reference): readonly Path[] => {
    const ids = idsOf(reference);
    const isGiven = (path: Path) => valueAt(own, path) !== undefined;
    if (isGiven(reference.name)) return ids;
    return ids.some(isGiven) ? [reference.name] : [];
  });
  return replaced.reduce((into, path) => withValueAt(into, path, undefined), defaults);
}

function idsOf({ id, besides = [] }: NamedReference): readonly Path[] {
  return [id, ...besides];
}

/** A problem for each object that a spec gives by its name and by an id. */
export function namesWithIds({ named }: Kind, spec: Spec): ResourceProblem[] {
  return (named?.references ?? []).flatMap((reference): ResourceProblem[] => {
    const id = idsOf(reference).find((path) => valueAt(spec, path) !== undefined);
    if (id === undefined || valueAt(spec, reference.name) === undefined) return [];
    const [byName, byId] = [nameKey(reference.name), nameKey(id)];
    return [
      {
        code: 'name-and-id',
        severity: 'error',
        path: reference.name,
        side: 'key',
        message: `${quoted(byName)} and ${quoted(byId)} are both given`,
        allowed: `one of ${quoted(byName)} and ${quoted(byId)}`,
        fix: 'keep the name or the id',
        related: { message: 'the id', path: id },
      },
    ];
  });
}
