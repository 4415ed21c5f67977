/**
 * From a valid manifest to desired resources: chooses its targets, merges its spec with the stack's defaults, and makes one
 * resource for each target and one more for each short form.
 */
import type { Address } from '../model/address.ts';
import type { Place } from '../model/diagnostic.ts';
import { isJsonObject, type JsonObject, type Path } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { orList, quoted } from '../model/quoted.ts';
import { type DesiredResource, isDeclaration, type Metadata, type Spec } from '../model/resource.ts';
import type { Target } from '../model/stack.ts';
import { type Declaration, type Defaults, depthOf, mergeDefaults } from './declaration.ts';
import { type Problem, quotedMasked } from './problem.ts';
import type { StackReading } from './read-stack.ts';
import { type EntrySide, placeIn, type YamlDocument } from './yaml/yaml-document.ts';

interface Choice {
  readonly targets: readonly Target[];
  readonly problems: readonly Problem[];
}

export function chooseTargets({ kind, value }: Declaration, stack: StackReading): Choice {
  const candidates = stack.targets.filter(({ service }) => service === kind.service);
  const named = namedTargets(value['metadata']);
  const choices =
    named === undefined
      ? [onlyTarget(kind.name, kind.service, candidates)]
      : named.map(({ name, path }) => namedTarget(name, path, { stack, candidates, kind: kind.name }));
  return {
    targets: choices.flatMap(({ targets }) => targets),
    // an invalid target of the stack is reported there, and a name that is unknown here may be its name
    problems: stack.allTargets ? choices.flatMap(({ problems }) => problems) : [],
  };
}

interface Named {
  readonly name: string;
  readonly path: Path;
}

/** Undefined when the manifest names no target. */
function namedTargets(metadata: unknown): Named[] | undefined {
  const { target, targets } = isJsonObject(metadata as never) ? (metadata as Record<string, unknown>) : {};
  if (typeof target === 'string') return [{ name: target, path: ['metadata', 'target'] }];
  if (!Array.isArray(targets)) return undefined;
  return targets.flatMap((name, index) =>
    typeof name === 'string' ? [{ name, path: ['metadata', 'targets', `${index}`] }] : [],
  );
}

function onlyTarget(kind: string, service: string, candidates: readonly Target[]): Choice {
  const [first, second] = candidates;
  if (first !== undefined && second === undefined) return { targets: [first], problems: [] };
  const path = ['metadata', 'target'];
  if (first === undefined) {
    const message = `no target of the stack serves ${kind}`;
    const fix = `add a target of service ${quoted(service)} to the stack`;
    return { targets: [], problems: [{ code: 'no-target', path, side: 'key', message, fix }] };
  }
  const problem: Problem = {
    code: 'ambiguous-target',
    path,
    side: 'key',
    message: `several targets serve ${kind}, and "metadata.target" names none`,
    allowed: orList(candidates.map(({ name }) => quotedMasked(name))),
    fix: `add ${quoted(`target: ${first.name}`)} to "metadata", or another of them`,
  };
  return { targets: [], problems: [problem] };
}

function namedTarget(
  name: string,
  path: Path,
  { stack, candidates, kind }: { stack: StackReading; candidates: readonly Target[]; kind: string },
): Choice {
  const target = candidates.find((candidate) => candidate.name === name);
  if (target !== undefined) return { targets: [target], problems: [] };
  const other = stack.targets.find((candidate) => candidate.name === name);
  const names = candidates.map((candidate) => candidate.name);
  const meant = nearestWord(name, names);
  const problem: Problem = {
    code: other === undefined ? 'unknown-target' : 'wrong-service',
    path,
    message:
      other === undefined
        ? `the stack has no target ${quoted(name)}`
        : `target ${quoted(name)} is of service ${quoted(other.service)}, which does not serve ${kind}`,
    allowed: orList(names.map(quotedMasked)),
    fix: meant === undefined ? fixWithout(names) : `did you mean ${quoted(meant)}?`,
  };
  return { targets: [], problems: [problem] };
}

/** @param names of the targets that serve the kind */
function fixWithout(names: readonly string[]): string {
  const [only, ...more] = names;
  if (only === undefined) return 'add such a target to the stack';
  return more.length === 0 ? `write ${quoted(only)}, or leave "target" out` : 'name one of these';
}

// Merges a spec with the stack's defaults. Deprecated names are replaced before the merge, so that an old and a new name are the
// same field.

interface SpecLayers {
  /** merged, with deprecated names replaced */
  readonly spec: Spec;
  /** top-level fields that the manifest itself does not have */
  readonly fromDefaults: readonly string[];
  /** The place where a field of `spec` was written; undefined when no part of the path was. */
  placeOf(path: Path, side?: EntrySide): Place | undefined;
}

interface Layer {
  readonly written: JsonObject;
  readonly folded: JsonObject;
  place(path: Path, side?: EntrySide): Place;
}

/** @param document a valid manifest of the kind */
function layerSpec(kind: Kind, document: YamlDocument, defaults: Defaults | undefined): SpecLayers {
  const value = isJsonObject(document.value) ? document.value['spec'] : undefined;
  const own = makeLayer(kind, isJsonObject(value) ? value : {}, (path, side) =>
    placeIn(document, ['spec', ...path], side),
  );
  if (defaults === undefined)
    return {
      spec: own.folded,
      fromDefaults: [],
      placeOf: (path, side) => findPlace(kind, [own], { path, side }),
    };
  const base = ['spec', 'defaults', kind.name];
  const below = makeLayer(kind, defaults.spec, (path, side) =>
    placeIn(defaults.document, [...base, ...path], side),
  );
  return {
    spec: mergeDefaults(below.folded, own.folded),
    fromDefaults: Object.keys(below.folded).filter((name) => !Object.hasOwn(own.folded, name)),
    placeOf: (path, side) => findPlace(kind, [own, below], { path, side }),
  };
}

function makeLayer(kind: Kind, written: JsonObject, place: Layer['place']): Layer {
  return { written, folded: kind.upgrade?.(written) ?? written, place };
}

/** The place in the layer that has most segments of the path; in the upper one when both have the same. */
function findPlace(
  kind: Kind,
  layers: readonly Layer[],
  { path, side }: { readonly path: Path; readonly side: EntrySide | undefined },
): Place | undefined {
  const depths = layers.map((layer) => depthOf(layer.folded, path));
  const deepest = Math.max(...depths);
  const layer = layers[depths.indexOf(deepest)];
  const [field, ...rest] = path;
  if (layer === undefined || field === undefined || deepest === 0) return undefined;
  return layer.place([spellingOf(kind, layer, field), ...rest], side);
}

/** The name under which a field was written, which may be a deprecated one. */
function spellingOf(kind: Kind, { written }: Layer, field: string): string {
  if (Object.hasOwn(written, field) || kind.upgrade === undefined) return field;
  const old = Object.entries(written).find(([name, value]) =>
    Object.hasOwn(kind.upgrade?.({ [name]: value }) ?? {}, field),
  );
  return old?.[0] ?? field;
}

// Desired resources: one for each target, and one more for each short form in the spec, the same as from a document of its kind.
// Places are computed on request.

/** One address that a manifest declares. */
export interface Entry {
  readonly address: Address;
  /** the name as written, before it was folded to the service's form */
  readonly writtenName: string;
  readonly declaration: Declaration;
  readonly target: Target;
  /** the field whose value is a short form, when the entry comes from one */
  readonly shortForm?: string;
  /** absent when the manifest is not valid */
  readonly resource?: DesiredResource;
}

interface ResolveContext {
  readonly kinds: Registry;
  defaultsOf(kind: string): Defaults | undefined;
}

/** The entries that a manifest declares in one target; they have resources only when `valid`. */
export function resolve(
  declaration: Declaration,
  target: Target,
  { valid, context }: { readonly valid: boolean; readonly context: ResolveContext },
): Entry[] {
  const { kind, document, defaults, value } = declaration;
  const metadata = readMetadata(value['metadata']);
  if (metadata === undefined) return [];
  const layers = isDeclaration({ metadata }) ? layerSpec(kind, document, defaults) : nothing;
  const shortForms = shortFormsIn(
    kind,
    valid ? layers.spec : isJsonObject(value['spec']) ? value['spec'] : {},
  );
  const entry = { declaration, target, writtenName: metadata.name };
  const address = addressOf(kind, target, metadata.name);
  const main: Entry = {
    ...entry,
    address,
    ...(valid ? { resource: makeResource(address, metadata, declaration, layers) } : {}),
  };
  const children = shortForms.flatMap((field): Entry[] => {
    const childKind = context.kinds.get(kind.shortForms?.[field]?.kind ?? '');
    if (childKind === undefined) return [];
    const child = { ...entry, address: addressOf(childKind, target, metadata.name), shortForm: field };
    return [valid ? { ...child, resource: makeChild(child, { layers, parent: metadata }, context) } : child];
  });
  return [main, ...children];
}

/** Where an entry is declared. */
export function placeOfEntry({ declaration, shortForm }: Entry): Place {
  return shortForm === undefined
    ? declaration.where.place(['metadata', 'name'])
    : declaration.where.place(['spec', shortForm], 'key');
}

function addressOf(kind: Kind, target: Target, name: string): Address {
  return { kind: kind.name, target: target.name, name: kind.names.fold?.(name) ?? name };
}

const nothing: SpecLayers = { spec: {}, fromDefaults: [], placeOf: () => undefined };

/** A class, because a getter in each object of thousands would take more memory than everything else in it. */
class Resource implements DesiredResource {
  readonly address: Address;
  readonly spec: Spec;
  readonly metadata: Metadata;
  readonly placeOf: DesiredResource['placeOf'];
  readonly fromDefaults: readonly string[];

  constructor(members: Omit<DesiredResource, 'place'>) {
    this.address = members.address;
    this.spec = members.spec;
    this.metadata = members.metadata;
    this.placeOf = members.placeOf;
    this.fromDefaults = members.fromDefaults;
  }

  get place(): Place {
    return this.placeOf([]);
  }
}

function makeResource(
  address: Address,
  metadata: Metadata,
  declaration: Declaration,
  layers: SpecLayers,
): DesiredResource {
  const shortForms = shortFormsIn(declaration.kind, layers.spec);
  const isOwn = (name: string) => !shortForms.includes(name);
  return new Resource({
    address,
    spec: Object.fromEntries(Object.entries(layers.spec).filter(([name]) => isOwn(name))),
    metadata,
    placeOf: (path, side) =>
      layers.placeOf(path, side) ?? placeIn(declaration.document, ['metadata', 'name']),
    fromDefaults: layers.fromDefaults.filter(isOwn),
  });
}

/** The resource of a short form. The defaults of its kind apply, and it is renamed together with its parent. */
function makeChild(
  child: Entry & { readonly shortForm: string },
  { layers, parent }: { readonly layers: SpecLayers; readonly parent: Metadata },
  { defaultsOf }: ResolveContext,
): DesiredResource {
  const { address, declaration, shortForm, writtenName } = child;
  const value = layers.spec[shortForm] ?? null;
  const spec: Spec = declaration.kind.shortForms?.[shortForm]?.spec(value) ?? {};
  const defaults = defaultsOf(address.kind);
  const inherited = layers.fromDefaults.includes(shortForm) ? Object.keys(spec) : [];
  const added = Object.keys(defaults?.spec ?? {}).filter((name) => !Object.hasOwn(spec, name));
  const placeOf = (path: Path, side?: EntrySide) => {
    const [field, ...rest] = path;
    if (field === undefined) return placeOfEntry(child);
    if (defaults !== undefined && added.includes(field))
      return placeIn(defaults.document, ['spec', 'defaults', address.kind, ...path], side);
    return layers.placeOf([shortForm, ...rest], side) ?? placeOfEntry(child);
  };
  return new Resource({
    address,
    spec: defaults === undefined ? spec : mergeDefaults(defaults.spec, spec),
    metadata: {
      name: writtenName,
      ...(parent.renamedFrom === undefined ? {} : { renamedFrom: parent.renamedFrom }),
    },
    placeOf,
    fromDefaults: [...inherited, ...added],
  });
}

function shortFormsIn({ shortForms }: Kind, spec: JsonObject): string[] {
  return Object.keys(shortForms ?? {}).filter((field) => Object.hasOwn(spec, field));
}

/** The metadata without the targets; undefined when the name is no text. */
function readMetadata(value: unknown): Metadata | undefined {
  const written = isJsonObject(value as JsonObject | undefined) ? (value as JsonObject) : {};
  const { target: _, targets: __, ...metadata } = written;
  // the schema admits nothing else beside the name, and of an invalid manifest only the name is used
  return typeof metadata['name'] === 'string' ? (metadata as unknown as Metadata) : undefined;
}
