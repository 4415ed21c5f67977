/**
 * From a valid manifest to desired resources: merges its spec with the stack's defaults, and makes one resource for each target and
 * one more for each short form.
 */
import { type Address, knownAddress } from '../model/address.ts';
import type { Place } from '../model/diagnostic.ts';
import { isJsonObject, type JsonObject, type Path } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { joined, none } from '../model/lists.ts';
import { type DesiredResource, isDeclaration, type Metadata, type Spec } from '../model/resource.ts';
import type { Target } from '../model/stack.ts';
import type { Declaration } from './declaration.ts';
import { type Defaults, depthOf, mergeDefaults, placeInDefaults, withoutReplaced } from './stack-defaults.ts';
import { type EntrySide, placeIn, type YamlDocument } from './yaml/yaml-document.ts';

// Merges a spec with the stack's defaults. Deprecated names are replaced before the merge, so that an old and a new name are the
// same field.

interface MergedSpec {
  /** merged, with deprecated names replaced */
  readonly spec: Spec;
  /** top-level fields that the manifest itself does not have */
  readonly fromDefaults: readonly string[];
}

/** @param declaration valid */
function mergeSpec({ kind, document, defaults }: Declaration): MergedSpec {
  const own = upgraded(kind, specOf(document));
  if (defaults === undefined) return { spec: own, fromDefaults: none };
  const below = withoutReplaced(kind, upgraded(kind, defaults.spec), own);
  return {
    spec: mergeDefaults(below, own),
    fromDefaults: Object.keys(below).filter((name) => !Object.hasOwn(own, name)),
  };
}

function specOf({ value }: YamlDocument): JsonObject {
  const spec = isJsonObject(value) ? value['spec'] : undefined;
  return isJsonObject(spec) ? spec : {};
}

function upgraded(kind: Kind, written: JsonObject): JsonObject {
  return kind.upgrade?.(written) ?? written;
}

interface Layer {
  readonly written: JsonObject;
  readonly document: YamlDocument;
  /** path of `written` in its document */
  readonly base: Path;
}

/**
 * The place where a field of a merged spec was written: in the layer that has most segments of the path, in the upper one when both have
 * the same. Undefined when no part of the path was written.
 */
function placeInLayers(
  { kind, document, defaults }: Declaration,
  path: Path,
  side: EntrySide | undefined,
): Place | undefined {
  const layers: Layer[] = [{ written: specOf(document), document, base: ['spec'] }];
  for (const { spec, path: base } of defaults?.layers ?? [])
    layers.push({ written: spec, document: defaults?.document ?? document, base });
  const depths = layers.map(({ written }) => depthOf(upgraded(kind, written), path));
  const deepest = Math.max(...depths);
  const layer = layers[depths.indexOf(deepest)];
  const [field, ...rest] = path;
  if (layer === undefined || field === undefined || deepest === 0) return undefined;
  const place = placeIn(layer.document, [...layer.base, spellingOf(kind, layer, field), ...rest], side);
  return layer === layers[0] ? place : { ...place, isDefault: true };
}

/** The name under which a field was written, which may be a deprecated one. */
function spellingOf(kind: Kind, { written }: Layer, field: string): string {
  if (Object.hasOwn(written, field) || kind.upgrade === undefined) return field;
  const old = Object.entries(written).find(([name, value]) =>
    Object.hasOwn(kind.upgrade?.({ [name]: value }) ?? {}, field),
  );
  return old?.[0] ?? field;
}

// Desired resources: one for each target, and one more for each short form in the spec, which is the same as that of a separate
// document. Places are computed on request.

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
  const { kind, value } = declaration;
  const metadata = readMetadata(value['metadata']);
  if (metadata === undefined) return [];
  const merged = isDeclaration({ metadata }) ? mergeSpec(declaration) : nothing;
  const shortForms = shortFormsIn(
    kind,
    valid ? merged.spec : isJsonObject(value['spec']) ? value['spec'] : {},
  );
  const writtenName = metadata.name;
  const address = addressOf(kind, target, writtenName);
  const resource = () => new ManifestResource(address, metadata, { declaration, merged, shortForms });
  const main: Entry = {
    ...{ declaration, target, writtenName, address },
    ...(valid ? { resource: resource() } : {}),
  };
  const children = shortForms.flatMap((shortForm): Entry[] => {
    const childKind = context.kinds.get(kind.shortForms?.[shortForm]?.kind ?? '');
    if (childKind === undefined) return [];
    const child = {
      ...{ declaration, target, writtenName, shortForm },
      address: addressOf(childKind, target, writtenName),
    };
    return [valid ? { ...child, resource: makeChild(child, { merged, parent: metadata }, context) } : child];
  });
  return [main, ...children];
}

/** Where an entry is declared. */
export function placeOfEntry({ declaration, shortForm }: Pick<Entry, 'declaration' | 'shortForm'>): Place {
  return shortForm === undefined
    ? declaration.where.place(['metadata', 'name'])
    : declaration.where.place(['spec', shortForm], 'key');
}

function addressOf(kind: Kind, target: Target, name: string): Address {
  return knownAddress({ kind: kind.name, target: target.name, name: kind.names.fold?.(name) ?? name });
}

const nothing: MergedSpec = { spec: {}, fromDefaults: none };

/** A class: with thousands of objects, getters and functions in each of them would take more memory than everything else. */
abstract class Resource implements DesiredResource {
  readonly address: Address;
  readonly spec: Spec;
  readonly metadata: Metadata;
  readonly fromDefaults: readonly string[];

  constructor({ address, spec, metadata, fromDefaults }: Omit<DesiredResource, 'place' | 'placeOf'>) {
    this.address = address;
    this.spec = spec;
    this.metadata = metadata;
    this.fromDefaults = fromDefaults;
  }

  get place(): Place {
    return this.find([]);
  }

  /** The function also works when it is taken out of its resource. */
  get placeOf(): DesiredResource['placeOf'] {
    return (path, side) => this.find(path, side);
  }

  protected abstract find(path: Path, side?: EntrySide): Place;
}

/** The resource that a document declares, without its short forms. */
class ManifestResource extends Resource {
  readonly #declaration: Declaration;

  constructor(
    address: Address,
    metadata: Metadata,
    about: {
      readonly declaration: Declaration;
      readonly merged: MergedSpec;
      readonly shortForms: readonly string[];
    },
  ) {
    const { spec, fromDefaults } = about.merged;
    const isOwn = (name: string) => !about.shortForms.includes(name);
    const own = Object.entries(spec).filter(([name]) => isOwn(name));
    super({
      address,
      metadata,
      spec: about.shortForms.length === 0 ? spec : Object.fromEntries(own),
      fromDefaults: fromDefaults.length === 0 ? none : fromDefaults.filter(isOwn),
    });
    this.#declaration = about.declaration;
  }

  protected find(path: Path, side?: EntrySide): Place {
    const written = isDeclaration(this) ? placeInLayers(this.#declaration, path, side) : undefined;
    return written ?? placeIn(this.#declaration.document, ['metadata', 'name']);
  }
}

type ShortFormEntry = Entry & { readonly shortForm: string };

/** The resource of a short form. The defaults of its kind apply, and it is renamed together with its parent. */
function makeChild(
  child: ShortFormEntry,
  { merged, parent }: { readonly merged: MergedSpec; readonly parent: Metadata },
  { defaultsOf }: ResolveContext,
): DesiredResource {
  const { address, declaration, shortForm, writtenName } = child;
  const value = merged.spec[shortForm] ?? null;
  const spec: Spec = declaration.kind.shortForms?.[shortForm]?.spec(value) ?? {};
  const defaults = defaultsOf(address.kind);
  const fromParent = merged.fromDefaults.includes(shortForm) ? Object.keys(spec) : none;
  const added =
    defaults === undefined ? none : Object.keys(defaults.spec).filter((name) => !Object.hasOwn(spec, name));
  return new ShortFormResource(
    {
      address,
      spec: defaults === undefined ? spec : mergeDefaults(defaults.spec, spec),
      metadata: {
        name: writtenName,
        ...(parent.renamedFrom === undefined ? {} : { renamedFrom: parent.renamedFrom }),
      },
      fromDefaults: joined<string>(fromParent, added),
    },
    { declaration, shortForm, ...(defaults === undefined ? {} : { defaults, own: spec }) },
  );
}

interface ShortFormOrigin extends Pick<ShortFormEntry, 'declaration' | 'shortForm'> {
  /** the defaults of its kind */
  readonly defaults?: Defaults;
  /** its spec without these defaults */
  readonly own?: Spec;
}

class ShortFormResource extends Resource {
  readonly #origin: ShortFormOrigin;

  constructor(members: Omit<DesiredResource, 'place' | 'placeOf'>, origin: ShortFormOrigin) {
    super(members);
    this.#origin = origin;
  }

  protected find(path: Path, side?: EntrySide): Place {
    const { declaration, shortForm, defaults, own = {} } = this.#origin;
    const [field, ...rest] = path;
    if (field === undefined) return placeOfEntry(this.#origin);
    if (defaults !== undefined && depthOf(defaults.spec, path) > depthOf(own, path))
      return placeInDefaults(defaults, path, side);
    return placeInLayers(declaration, [shortForm, ...rest], side) ?? placeOfEntry(this.#origin);
  }
}

function shortFormsIn({ shortForms }: Kind, spec: JsonObject): string[] {
  return Object.keys(shortForms ?? {}).filter((field) => Object.hasOwn(spec, field));
}

/** The metadata without `target`, `targets` and `defaults`; undefined when the name is not a text. */
function readMetadata(value: unknown): Metadata | undefined {
  const written = isJsonObject(value as JsonObject | undefined) ? (value as JsonObject) : {};
  // The schema allows no other members, and only the name of an invalid manifest is used.
  if (typeof written['name'] !== 'string') return undefined;
  if (['target', 'targets', 'defaults'].every((name) => written[name] === undefined))
    return written as unknown as Metadata;
  const { target: _, targets: __, defaults: ___, ...metadata } = written;
  return metadata as unknown as Metadata;
}
