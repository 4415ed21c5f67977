/**
 * From a valid manifest to desired resources: one for each target, and one more for each short form in its spec, which is the
 * same resource as from a document of its kind. Places are computed only on request.
 */
import type { Address } from '../../model/resource/address.ts';
import type { Place } from '../../model/diagnostic.ts';
import { isJsonObject, type JsonObject, type Path } from '../../model/json/json.ts';
import type { Kind, Registry } from '../../model/kind/kind.ts';
import type { DesiredResource, Metadata, Spec } from '../../model/resource/resource.ts';
import type { Target } from '../../model/stack/target.ts';
import type { Declaration, Defaults } from './declaration.ts';
import { mergeDefaults } from './merge-defaults.ts';
import { layerSpec, type SpecLayers } from './spec-layers.ts';
import { placeIn, type EntrySide } from '../yaml/yaml-document.ts';

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
  const layers = metadata.remove === undefined ? layerSpec(kind, document, defaults) : nothing;
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
  const parts = shortForms.flatMap((field): Entry[] => {
    const partKind = context.kinds.get(kind.shortForms?.[field]?.kind ?? '');
    if (partKind === undefined) return [];
    const part = { ...entry, address: addressOf(partKind, target, metadata.name), shortForm: field };
    return [valid ? { ...part, resource: makePart(part, { layers, whole: metadata }, context) } : part];
  });
  return [main, ...parts];
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

function makeResource(
  address: Address,
  metadata: Metadata,
  declaration: Declaration,
  layers: SpecLayers,
): DesiredResource {
  const shortForms = shortFormsIn(declaration.kind, layers.spec);
  const isOwn = (name: string) => !shortForms.includes(name);
  const place = () => placeIn(declaration.document, ['metadata', 'name']);
  return {
    address,
    spec: Object.fromEntries(Object.entries(layers.spec).filter(([name]) => isOwn(name))),
    metadata,
    get place() {
      return place();
    },
    placeOf: (path, side) => layers.placeOf(path, side) ?? place(),
    fromDefaults: layers.fromDefaults.filter(isOwn),
  };
}

/** The resource of a short form. The defaults of its own kind apply to it, too, and it is renamed together with its whole. */
function makePart(
  part: Entry & { readonly shortForm: string },
  { layers, whole }: { readonly layers: SpecLayers; readonly whole: Metadata },
  { defaultsOf }: ResolveContext,
): DesiredResource {
  const { address, declaration, shortForm, writtenName } = part;
  const value = layers.spec[shortForm] ?? null;
  const spec: Spec = declaration.kind.shortForms?.[shortForm]?.spec(value) ?? {};
  const defaults = defaultsOf(address.kind);
  const inherited = layers.fromDefaults.includes(shortForm) ? Object.keys(spec) : [];
  const added = Object.keys(defaults?.spec ?? {}).filter((name) => !Object.hasOwn(spec, name));
  const place = () => placeOfEntry(part);
  const placeOf = (path: Path, side?: EntrySide) => {
    const [field, ...rest] = path;
    if (field === undefined) return place();
    if (defaults !== undefined && added.includes(field))
      return placeIn(defaults.document, ['spec', 'defaults', address.kind, ...path], side);
    return layers.placeOf([shortForm, ...rest], side) ?? place();
  };
  return {
    address,
    spec: defaults === undefined ? spec : mergeDefaults(defaults.spec, spec),
    metadata: {
      name: writtenName,
      ...(whole.renamedFrom === undefined ? {} : { renamedFrom: whole.renamedFrom }),
    },
    get place() {
      return place();
    },
    placeOf,
    fromDefaults: [...inherited, ...added],
  };
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
