/**
 * One manifest: a document of a known kind, with the stack's defaults merged under its spec. Every field can be traced
 * to the place where it was written.
 */
import type { Place } from '../model/diagnostic.ts';
import type { Field } from '../model/field.ts';
import { isJsonObject, type JsonObject, type Path } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { type Defaults, depthOf, mergeUnder, placeInDefaults, typedInDefaults } from './stack-defaults.ts';
import type { DocumentPlaces, ExplainContext, ServiceSpellings } from './problem.ts';
import { manifestSchema } from './schema/manifest-schema.ts';
import { leadsToSecret } from './yaml/secret-fields.ts';
import { type EntrySide, placeIn, typedText, type YamlDocument } from './yaml/yaml-document.ts';

export interface Declaration {
  readonly kind: Kind;
  readonly document: YamlDocument;
  /** the defaults of the stack that apply to it; their places are in the stack's document */
  readonly defaults?: Defaults;
  /** the document, its spec merged over the defaults; may be invalid */
  readonly value: JsonObject;
  readonly where: DocumentPlaces;
  readonly spellings?: ServiceSpellings | undefined;
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
  return new Manifest(document, kind, about);
}

/** A class: with thousands of objects, functions in each of them would take more memory than everything else. */
class Manifest implements Declaration {
  readonly kind: Kind;
  readonly document: YamlDocument;
  readonly defaults?: Defaults;
  readonly value: JsonObject;
  readonly spellings?: ServiceSpellings | undefined;
  readonly #secrets: ReadonlySet<string>;

  constructor(
    document: YamlDocument,
    kind: Kind,
    { defaults, secrets, spellings }: Parameters<typeof declare>[2],
  ) {
    const own = writtenIn(document);
    const spec = own['spec'];
    this.kind = kind;
    this.document = document;
    if (defaults !== undefined) this.defaults = defaults;
    this.value =
      defaults !== undefined && isJsonObject(spec)
        ? { ...own, spec: mergeUnder(kind, defaults.spec, spec) }
        : own;
    this.spellings = spellings;
    this.#secrets = secrets;
  }

  get where(): DocumentPlaces {
    return {
      place: (path, side) => this.#place(path, side),
      fromDefaults: (path) => this.#comesFromDefaults(path),
      isSecret: (path) => leadsToSecret(path, this.#secrets),
    };
  }

  #place(path: Path, side?: EntrySide): Place {
    return this.defaults !== undefined && this.#comesFromDefaults(path)
      ? placeInDefaults(this.defaults, path.slice(1), side)
      : placeIn(this.document, path, side);
  }

  /** Whether the defaults contain more segments of the path than the manifest. */
  #comesFromDefaults(path: Path): boolean {
    const isMerged = this.value !== writtenIn(this.document);
    if (path[0] !== 'spec' || this.defaults === undefined || !isMerged) return false;
    return 1 + depthOf(this.defaults.spec, path.slice(1)) > depthOf(writtenIn(this.document), path);
  }
}

function writtenIn({ value }: YamlDocument): JsonObject {
  return isJsonObject(value) ? value : {};
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
        ? typedInDefaults(defaults, path.slice(1))
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
