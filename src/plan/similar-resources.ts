/**
 * Pairs removed resources with similar created ones. Their settings are compared without their own names, because a template puts a name,
 * or a part of it, into other values as well. Each comparison is of texts, so the time is linear in the number of resources. Pure.
 */
import { isJsonObject, type Json } from '../model/json.ts';

/** A resource, and what makes it similar to others: equal keys of the same level. The first levels are the most specific. */
export interface Comparable {
  readonly name: string;
  /** the keys of each level; a create has at most one for each level */
  readonly levels: readonly (readonly string[])[];
}

interface Pair<G, M> {
  readonly gone: G;
  readonly made: M;
}

/**
 * Pairs each removed resource with the create that is most similar to it: by the level of their keys, then by the parts of their names.
 * A create that is left over gets the most similar resource of all, even if that one has a create already.
 * @param gone in the order in which equally similar resources are chosen; the same for `made`
 */
export function pairSimilar<G extends Comparable, M extends Comparable>(
  gone: readonly G[],
  made: readonly M[],
): Pair<G, M>[] {
  const chosen: Choice<G, M> = { goneOf: new Map(), taken: new Set() };
  const depth = Math.max(0, ...new Set(made.map(({ levels }) => levels.length)));
  const byLevel = Array.from({ length: depth }, (_, level) =>
    indexByKey(gone, (one) => one.levels[level] ?? []),
  );
  for (const [level, similar] of byLevel.entries()) {
    const some = made.filter((one) => similar.has(keyAt(one, level)));
    for (const view of nameViews) chooseBy({ level, view }, [gone, some], chosen);
  }
  return made.flatMap((one) => {
    const similar = byLevel.map((keys, level) => keys.get(keyAt(one, level))?.[0]);
    const found = chosen.goneOf.get(one) ?? similar.find((candidate) => candidate !== undefined);
    return found === undefined ? [] : [{ gone: found, made: one }];
  });
}

interface Choice<G, M> {
  readonly goneOf: Map<M, G>;
  readonly taken: Set<G>;
}

function keyAt({ levels }: Comparable, level: number): string {
  return levels[level]?.[0] ?? '';
}

/** Pairs each create that is left with the first free resource that has the same key and the same view of the name. */
function chooseBy<G extends Comparable, M extends Comparable>(
  { level, view }: { readonly level: number; readonly view: (name: string) => string },
  [gone, made]: readonly [readonly G[], readonly M[]],
  { goneOf, taken }: Choice<G, M>,
): void {
  const waiting = made.filter((one) => !goneOf.has(one));
  if (waiting.length === 0) return;
  const withName = (key: string, name: string) => JSON.stringify([key, view(name)]);
  const free = indexByKey(gone.filter((one) => !taken.has(one)).toReversed(), ({ levels, name }) =>
    (levels[level] ?? []).map((key) => withName(key, name)),
  );
  for (const one of waiting) {
    const candidates = free.get(withName(keyAt(one, level), one.name)) ?? [];
    let next = candidates.pop();
    while (next !== undefined && taken.has(next)) next = candidates.pop();
    if (next === undefined) continue;
    taken.add(next);
    goneOf.set(one, next);
  }
}

function indexByKey<T>(all: readonly T[], keysOf: (one: T) => readonly string[]): Map<string, T[]> {
  const index = new Map<string, T[]>();
  for (const one of all)
    for (const key of keysOf(one)) {
      const same = index.get(key);
      if (same === undefined) index.set(key, [one]);
      else same.push(one);
    }
  return index;
}

/** Names with more parts are compared by their first ones. */
const comparedParts = 6;

/** What two names must have in common: first all parts but one, in the same order; at last nothing. */
const nameViews: readonly ((name: string) => string)[] = [
  ...Array.from(
    { length: comparedParts },
    (_, at) => (name: string) =>
      JSON.stringify(partsOf(name).map((part, index) => (index === at ? '' : part))),
  ),
  () => '',
];

function partsOf(name: string): string[] {
  return name.split(/[-_]/);
}

/** A character that replaces a name. No value contains it, because services refuse it. */
const hole = '\u0000';

/**
 * The value without the name of its resource, from the strictest way to the loosest: as it is; without the whole name; without the
 * words that are a part of the name; without these parts anywhere, in upper and lower case; and without the words of all names, because
 * a description may keep the former one. Keys of maps stay as they are.
 * @param allWords see `wordsOfNames`
 */
export function withoutName(
  value: Json,
  name: string,
  allWords: ReadonlySet<string>,
): readonly [Json, Json, Json, Json, Json] {
  const parts = partsOf(name).filter((part) => part !== '');
  const words = parts.filter((part) => !/^\d+$/.test(part));
  const long = parts.filter((part) => part.length > 2);
  return [
    value,
    withTexts(value, (text) => (name === '' ? text : text.replaceAll(name, hole))),
    withTexts(value, replacing(words.length === 0 ? undefined : wordsOf(words, 'g'))),
    withTexts(value, (text) =>
      replacing(parts.length === 0 ? undefined : wordsOf(parts, 'gi'))(
        replacing(long.length === 0 ? undefined : new RegExp(alternatives(long), 'gi'))(text),
      ),
    ),
    withTexts(value, (text) =>
      text
        .replaceAll(/[A-Za-z0-9]+/g, (word) => (allWords.has(word.toLowerCase()) ? hole : word))
        .replaceAll(adjacentHoles, hole),
    ),
  ];
}

/** The parts of these names in lower case, without numbers. */
export function wordsOfNames(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names
      .flatMap((name) => (name.match(/[A-Za-z0-9]+/g) ?? []).filter((word) => !/^\d+$/.test(word)))
      .map((word) => word.toLowerCase()),
  );
}

function wordsOf(parts: readonly string[], flags: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])(?:${alternatives(parts)})(?![A-Za-z0-9])`, flags);
}

/** The longest first: one may begin with another. */
function alternatives(parts: readonly string[]): string {
  return parts
    .toSorted((a, b) => b.length - a.length)
    .map((part) => part.replaceAll(/[^A-Za-z0-9]/g, String.raw`\$&`))
    .join('|');
}

/** Adjacent replacements become one, because the key of one list may have more parts than that of another. */
function replacing(pattern: RegExp | undefined): (text: string) => string {
  return (text) =>
    pattern === undefined ? text : text.replaceAll(pattern, hole).replaceAll(adjacentHoles, hole);
}

const adjacentHoles = new RegExp(`${hole}(?:[-_ ]*${hole})+`, 'g');

function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: Json) => withTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change)]));
}
