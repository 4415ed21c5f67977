/** Random specs of a parent, and other ways to write the same spec. */
import fc from 'fast-check';
import { formatDuration } from '../../../src/model/duration.ts';
import type { Json } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';

/** Words that break code which is careless about keys or paths. */
export const word = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'a.b', 'c/d', 'e~f', '', '0', '10', 'constructor', 'toString', '__proto__'),
  fc.string({ maxLength: 3 }),
);
const words = fc.array(word, { maxLength: 5 });
const seconds = fc.oneof(fc.constantFrom(0, 60, 90, 3600, 5400, 86_400), fc.nat({ max: 1_000_000 }));

function orNull(value: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) });
}

/** Any field may be absent; fields with a default may be null. */
export const parentSpec: fc.Arbitrary<Spec> = fc.record(
  {
    colour: orNull(word),
    about: orNull(word),
    readers: orNull(words),
    steps: orNull(words),
    timeout: orNull(seconds),
    labels: orNull(fc.dictionary(word, word, { maxKeys: 4 })),
    owner: word,
    access: orNull(fc.record({ note: orNull(word), users: orNull(words), key: word }, { requiredKeys: [] })),
    hint: word,
  },
  { requiredKeys: [] },
);

/** A spec from a service: all fields that it returns. */
export const liveParent: fc.Arbitrary<Spec> = fc.record({
  colour: word,
  about: orNull(word),
  readers: words,
  steps: words,
  timeout: seconds,
  labels: fc.dictionary(word, word, { maxKeys: 4 }),
  owner: word,
  access: orNull(fc.record({ note: orNull(word), users: words, key: word })),
});

/** The same spec in other words: keys and sets in another order, elements twice, durations in other units. */
export function rewritten(spec: Spec): fc.Arbitrary<Spec> {
  const entries = Object.entries(spec).map(([name, value]) => rewrittenField(name, value));
  return fc
    .tuple(...entries)
    .chain((fields) => fc.shuffledSubarray(fields, { minLength: fields.length }))
    .map((fields) => Object.fromEntries(fields));
}

function rewrittenField(name: string, value: Json): fc.Arbitrary<readonly [string, Json]> {
  const named = (arbitrary: fc.Arbitrary<Json>) => arbitrary.map((other) => [name, other] as const);
  if (name === 'readers' && Array.isArray(value)) return named(reordered(value));
  if (name === 'timeout' && typeof value === 'number') {
    const spellings = [value, `${value}`, `${value}s`, formatDuration(value), `${value}.0s`];
    return named(fc.constantFrom(...spellings));
  }
  if ((name === 'labels' || name === 'access') && typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]) =>
      key === 'users' && name === 'access' && Array.isArray(member)
        ? reordered(member).map((other): [string, Json] => [key, other])
        : fc.constant<[string, Json]>([key, member]),
    );
    return named(
      fc
        .tuple(...members)
        .chain((pairs) => fc.shuffledSubarray(pairs, { minLength: pairs.length }))
        .map((pairs): Json => Object.fromEntries(pairs)),
    );
  }
  return fc.constant([name, value] as const);
}

function reordered(items: readonly Json[]): fc.Arbitrary<Json> {
  return fc
    .tuple(fc.shuffledSubarray([...items], { minLength: items.length }), fc.subarray([...items]))
    .map(([all, twice]) => [...all, ...twice]);
}
