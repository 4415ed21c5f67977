/**
 * A mistake in one document, with its path, and the function that turns it into a diagnostic with its place in a file. Also guesses
 * what an unknown field means, from the spellings of services and from similar names.
 */
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import type { Diagnostic, Place, Severity } from '../model/diagnostic.ts';
import { camelCase, type Field } from '../model/field.ts';
import { isJsonObject, type JsonObject, type Path } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { quoted } from '../model/quoted.ts';
import type { Dialect } from '../model/stack.ts';
import { maskUrls, maskPrivateKeys } from '../redaction/mask-text.ts';
import { maskFrom } from './yaml/secret-fields.ts';
import type { EntrySide } from './yaml/yaml-document.ts';

export interface Problem {
  readonly code: DiagnosticCode;
  /** `error` when absent */
  readonly severity?: Severity;
  /** in the whole document: `['spec', 'vcsRepo', 'branch']` */
  readonly path: Path;
  /** whether to point at the key or at the value; the value when absent */
  readonly side?: EntrySide;
  readonly message: string;
  readonly found?: string;
  readonly allowed?: string;
  readonly fix?: string;
  readonly related?: readonly { readonly message: string; readonly path: Path }[];
  /** the field that was probably meant; its absence is not reported as a second problem */
  readonly meant?: Path;
}

/** Finds the place of any part of one manifest, in its own file or in the stack's defaults. */
export interface DocumentPlaces {
  place(path: Path, side?: EntrySide): Place;
  /** whether the value comes from the stack's defaults */
  fromDefaults(path: Path): boolean;
  /** whether the value is a secret, or names the source of one */
  isSecret(path: Path): boolean;
}

/** Appended to a message about a value that is not in the manifest itself. */
export const fromDefaultsNote = ' (a default of the stack)';

export function diagnose(problem: Problem, where: DocumentPlaces): Diagnostic {
  const { code, path, message, allowed, fix } = problem;
  const isFromDefaults = where.fromDefaults(path);
  // A secret is hidden. For an unknown field, `found` can only be the name of the field, which is not secret.
  const found = hidesSecret(problem, where) && code !== 'unknown-field' ? undefined : problem.found;
  const related = [
    ...(problem.related ?? []).map((other) => ({ message: other.message, place: where.place(other.path) })),
    ...(isFromDefaults
      ? [{ message: 'applies to this manifest', place: where.place(['metadata', 'name']) }]
      : []),
  ];
  return {
    code,
    severity: problem.severity ?? 'error',
    class: 'invalid',
    message: `${message}${isFromDefaults ? fromDefaultsNote : ''}`,
    place: placeOf(problem, where),
    ...(found === undefined ? {} : { found }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(fix === undefined ? {} : { fix }),
    ...(related.length === 0 ? {} : { related }),
  };
}

function placeOf(problem: Problem, where: DocumentPlaces): Place {
  const { path, side = 'value' } = problem;
  const place = where.place(path, side);
  return hidesSecret(problem, where) ? maskedPlace(place, side) : place;
}

/** A key that is equal for diagnostics with the same code at the same place. */
export function diagnosticKey({ code, place }: Diagnostic): string {
  const list = place?.list;
  const at = list === undefined ? [] : [list.file, list.line, list.column];
  return JSON.stringify([code, place?.file, place?.line, place?.column, ...at]);
}

/** The place with the value of a secret masked in its line, and in the line of its list. */
export function maskedPlace(place: Place, side: EntrySide): Place {
  const { text, column, list } = place;
  const masked = { ...place, text: maskFrom(text, column, side) };
  return list === undefined
    ? masked
    : { ...masked, list: { ...list, text: maskFrom(list.text, list.column, 'value') } };
}

/** Whether the excerpt must be masked; a missing field cannot show a secret. */
function hidesSecret({ code, path, meant = path }: Problem, where: DocumentPlaces): boolean {
  return code !== 'missing-field' && (where.isSecret(path) || where.isSecret(meant));
}

/** A path as messages show it: `spec.vcsRepo.branch`, `spec.targets[0].name`, `spec.tags["cost center"]`. */
export function pathText(path: Path): string {
  return path
    .map((segment, index) => {
      if (/^\d+$/.test(segment)) return `[${segment}]`;
      if (!/^[\w$-]+$/.test(segment)) return `[${JSON.stringify(segment)}]`;
      return index === 0 ? segment : `.${segment}`;
    })
    .join('');
}

/** A text in double quotes, with private keys and parts of URLs masked. It is not shortened: a cut secret would not be recognized. */
export function quotedMasked(text: string): string {
  return quoted(maskPrivateKeys(maskUrls(text)));
}

// The names that real services use for fields with neutral names in manifests. Users who know the service's documentation
// write those names, and the message suggests ours.

/** From a service's own name of a field, in camelCase, to ours. */
export type ServiceSpellings = ReadonlyMap<string, string>;

export function serviceSpellings(dialects: ReadonlyMap<string, Dialect>): ServiceSpellings {
  return new Map(
    [...dialects.values()].flatMap(({ rename }) =>
      Object.entries(rename).map(([neutral, wire]) => [camelCase(wire), camelCase(neutral)] as const),
    ),
  );
}

// What is needed to explain the errors of a value: the schema, the source text and the fields of the kind.

export interface ExplainContext {
  /** path of the validated value in the document; `[]` for the document itself */
  readonly base: Path;
  /** the schema of the validated value; used to find fields that are in the wrong section */
  readonly schema: JsonObject;
  /** a scalar as written in the file */
  typed(path: Path): string | undefined;
  /** the kind's definition of the field; undefined when the kind has no such field */
  field(path: Path): Field | undefined;
  isSecret(path: Path): boolean;
  /** the meaning of a field that is left out */
  readonly absent: Kind['absent'];
  /** absent when the value has no fields of a service */
  readonly spellings?: ServiceSpellings | undefined;
}

// Guesses the meaning of an unknown field: the spelling of the API, a field of another section, a similar or a longer name.

interface SuggestContext {
  /** the fields of the map that holds the unknown one */
  readonly known: readonly string[];
  /** the schema of the whole document */
  readonly schema: JsonObject;
  readonly spellings?: ServiceSpellings | undefined;
}

/** @param parent path of the map that holds the unknown field */
export function suggestField(
  name: string,
  parent: Path,
  { known, schema, spellings }: SuggestContext,
): Pick<Problem, 'fix' | 'meant'> {
  const translated = camelCase(name);
  if (translated !== name && known.includes(translated))
    return {
      fix: `write ${quoted(translated)}: fields have the API's names in camelCase`,
      meant: [...parent, translated],
    };
  const ours = spellings?.get(translated);
  if (ours !== undefined && known.includes(ours))
    return {
      fix: `write ${quoted(ours)}: manifests use one name for all services`,
      meant: [...parent, ours],
    };
  const elsewhere = parent.length < 2 ? otherSection(translated, parent, schema) : undefined;
  if (elsewhere !== undefined) return elsewhere;
  const near = nearestWord(name, known) ?? withoutPrefix(translated, known);
  return near === undefined ? {} : { fix: `did you mean ${quoted(near)}?`, meant: [...parent, near] };
}

/** `ttl` for `tokenTtl`, as the API once called it: the shortest field that ends with this name. */
function withoutPrefix(name: string, known: readonly string[]): string | undefined {
  if (name.length < 3) return undefined;
  const ending = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const longer = known.filter((field) => field.endsWith(ending));
  return longer.toSorted((a, b) => a.length - b.length)[0];
}

/** The fix for a right field in the wrong section: `executionMode` at the top level, `target` in the spec. */
function otherSection(
  name: string,
  parent: Path,
  schema: JsonObject,
): Pick<Problem, 'fix' | 'meant'> | undefined {
  const sections: readonly Path[] = [['metadata'], ['spec'], []];
  const home = sections.find(
    (section) => section[0] !== parent[0] && Object.hasOwn(fieldsOf(schema, section), name),
  );
  if (home === undefined) return undefined;
  const place = home[0] === undefined ? 'to the top level' : `under ${quoted(home[0])}`;
  return { fix: `move ${quoted(name)} ${place}`, meant: [...home, name] };
}

function fieldsOf(schema: JsonObject, section: Path): JsonObject {
  let at: JsonObject = schema;
  for (const name of section) {
    const next = isJsonObject(at['properties']) ? at['properties'][name] : undefined;
    if (!isJsonObject(next)) return {};
    at = next;
  }
  return isJsonObject(at['properties']) ? at['properties'] : {};
}
