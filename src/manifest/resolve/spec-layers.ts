/**
 * Puts a spec together: the manifest's own fields over the stack's defaults. Deprecated names are replaced in each before the
 * merge, so that an old name in one and the new name in the other are the same field.
 */
import type { Place } from '../../model/diagnostic.ts';
import { isJsonObject, type JsonObject, type Path } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { Spec } from '../../model/resource/resource.ts';
import type { Defaults } from './declaration.ts';
import { depthOf, mergeDefaults } from './merge-defaults.ts';
import { placeIn, type EntrySide, type YamlDocument } from '../yaml/yaml-document.ts';

export interface SpecLayers {
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
export function layerSpec(kind: Kind, document: YamlDocument, defaults: Defaults | undefined): SpecLayers {
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
