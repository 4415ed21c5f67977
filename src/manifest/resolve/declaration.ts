/**
 * One manifest: a document of a known kind, with the stack's defaults under its spec. Every field can be traced to the place
 * where it was written, in the manifest's own file or in `trueup.yaml`.
 */
import type { Place } from '../../model/diagnostic.ts';
import type { Field } from '../../model/kind/field.ts';
import { isJsonObject, type JsonObject, type Path } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { ExplainContext } from '../explain/explain-context.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';
import { leadsToSecret } from '../explain/mask-secrets.ts';
import { depthOf, mergeDefaults } from './merge-defaults.ts';
import type { DocumentPlaces } from '../explain/problem.ts';
import type { ServiceSpellings } from '../explain/service-spellings.ts';
import { placeIn, type EntrySide, typedText, type YamlDocument } from '../yaml/yaml-document.ts';

export interface Declaration {
  readonly kind: Kind;
  readonly document: YamlDocument;
  /** defaults of the kind, where the stack has any; in the stack's own document */
  readonly defaults?: Defaults;
  /** the document, its spec merged over the defaults; may be invalid */
  readonly value: JsonObject;
  readonly where: DocumentPlaces;
  readonly spellings?: ServiceSpellings | undefined;
}

export interface Defaults {
  readonly document: YamlDocument;
  readonly spec: JsonObject;
}

/** @param about.secrets names of the fields that hold or lead to a secret */
export function declare(
  document: YamlDocument,
  kind: Kind,
  about: {
    readonly defaults?: Defaults | undefined;
    readonly secrets: ReadonlySet<string>;
    readonly spellings?: ServiceSpellings;
  },
): Declaration {
  const own = isJsonObject(document.value) ? document.value : {};
  const { defaults, secrets, spellings } = about;
  const spec = own['spec'];
  const value =
    defaults !== undefined && isJsonObject(spec) ? { ...own, spec: mergeDefaults(defaults.spec, spec) } : own;
  const fromDefaults = (path: Path) => value !== own && comesFromDefaults(path, own, defaults?.spec);
  const place = (path: Path, side?: EntrySide): Place =>
    defaults !== undefined && fromDefaults(path)
      ? placeIn(defaults.document, ['spec', 'defaults', kind.name, ...path.slice(1)], side)
      : placeIn(document, path, side);
  return {
    kind,
    document,
    ...(defaults === undefined ? {} : { defaults }),
    value,
    where: { place, fromDefaults, isSecret: (path) => leadsToSecret(path, secrets) },
    spellings,
  };
}

/** Whether the defaults contain more segments of the path than the manifest. */
function comesFromDefaults(path: Path, own: JsonObject, defaults: JsonObject | undefined): boolean {
  if (path[0] !== 'spec' || defaults === undefined) return false;
  return 1 + depthOf(defaults, path.slice(1)) > depthOf(own, path);
}

/** What is needed to explain the errors of a declaration. */
export function explainContextOf({
  kind,
  document,
  defaults,
  where,
  spellings,
}: Declaration): ExplainContext {
  return {
    base: [],
    schema: manifestSchema(kind),
    typed: (path) =>
      defaults !== undefined && where.fromDefaults(path)
        ? typedText(defaults.document, ['spec', 'defaults', kind.name, ...path.slice(1)])
        : typedText(document, path),
    field: (path) => (path[0] === 'spec' ? fieldAt(kind, path.slice(1)) : undefined),
    isSecret: where.isSecret,
    absent: kind.absent,
    spellings,
  };
}

function fieldAt(kind: Kind, path: Path): Field | undefined {
  let field: Field | undefined;
  for (const [depth, name] of path.entries()) {
    const table = depth === 0 ? kind.fields : field?.members;
    field = table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  }
  return field;
}
