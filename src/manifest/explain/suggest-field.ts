/** Guesses what an unknown field was meant to be: the API's own spelling, a field of another section, a similar name, or one with more words before it. */
import { camelCase } from '../../model/kind/field-names.ts';
import { isJsonObject, type JsonObject, type Path } from '../../model/json/json.ts';
import { quoted } from '../../model/quoted.ts';
import { nearestWord } from './nearest-word.ts';
import type { Problem } from './problem.ts';
import type { ServiceSpellings } from './service-spellings.ts';

interface SuggestContext {
  /** the fields of the map that holds the unknown one */
  readonly known: readonly string[];
  /** of the whole document */
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
      fix: `write ${quoted(ours)}: manifests have one name for it, whatever a service calls it`,
      meant: [...parent, ours],
    };
  const elsewhere = parent.length < 2 ? otherSection(translated, parent, schema) : undefined;
  if (elsewhere !== undefined) return elsewhere;
  const near = nearestWord(name, known) ?? withoutPrefix(translated, known);
  return near === undefined ? {} : { fix: `did you mean ${quoted(near)}?`, meant: [...parent, near] };
}

/** `ttl` for `tokenTtl`, as the API once called it: the shortest field that ends with these words. */
function withoutPrefix(name: string, known: readonly string[]): string | undefined {
  if (name.length < 3) return undefined;
  const ending = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const longer = known.filter((field) => field.endsWith(ending));
  return longer.toSorted((a, b) => a.length - b.length)[0];
}

/** `executionMode` at the top level, `target` in the spec: the right field in the wrong section. */
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
