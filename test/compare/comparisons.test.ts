import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../src/model/field.ts';
import { type Json, sameJson } from '../../src/model/json.ts';
import {
  cidrSet,
  duration,
  list,
  minute,
  optionalText,
  pem,
  pemSet,
  scalar,
  secretVersion,
  set,
  stringMap,
  text,
  wholeValue,
  wordOr,
} from '../../src/compare/comparisons.ts';

const comparisons: Readonly<Record<string, Comparison>> = {
  cidrSet,
  duration,
  list,
  minute,
  optionalText,
  pem,
  pemSet,
  scalar,
  secretVersion,
  set,
  stringMap,
  text,
  whole: wholeValue,
  wordOr: wordOr('unset'),
};

/** Values that fit a comparison, and values that do not. */
const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant('::ffff:10.1.2.3'));
const block = fc.oneof(
  address,
  fc.tuple(address, fc.integer({ min: 0, max: 140 })).map(([ip, bits]) => `${ip}/${bits}`),
);
const spelling = fc.oneof(
  block,
  fc.constantFrom('1h', '90m', '7d', '1.5h', '-5', 'soon', '3600', ' a , b,', '2024-05-06T07:08:09+02:00'),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.string(),
  fc.stringMatching(/^[ \t\r\na-z-]{0,12}$/),
);
const scalarValue = fc.oneof(
  spelling,
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.constant(null),
);
const anything = fc.oneof(
  scalarValue,
  fc.array(scalarValue, { maxLength: 4 }),
  fc.dictionary(fc.string({ maxLength: 4 }), scalarValue, { maxKeys: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
) as fc.Arbitrary<Json>;

function areEqual(comparison: Comparison, one: Json, other: Json): boolean {
  return sameJson(comparison.canonical(one), comparison.canonical(other));
}

describe.each(Object.entries(comparisons))('%s', (_, comparison) => {
  it('gives every value a canonical form, which is its own canonical form', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const once = comparison.canonical(value);
        expect(once).not.toBeUndefined();
        expect(comparison.canonical(once)).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });
});

describe('values that mean the same are equal', () => {
  it.each<[string, Comparison, Json, Json]>([
    ['an hour in any spelling', duration, '1h', 3600],
    ['an hour and a half', duration, '1.5h', '1h30m'],
    ['seconds as text', duration, '3600', 3600],
    ['a week in days', duration, '7d', '168h'],
    ['an empty duration and 0', duration, '', 0],
    ['half a second, which the service rounds down', duration, '500ms', 0],
    ['a set in another order', set, ['b', 'a'], ['a', 'b']],
    ['a set with a repeated element', set, ['a', 'a'], ['a']],
    ['a set and its elements separated by commas', set, 'a, b', ['b', 'a']],
    ['null and an empty set', set, null, []],
    ['an empty text and null', text, '', null],
    ['an empty word and null', optionalText, '', null],
    ['an empty word and its default', wordOr('default'), '', 'default'],
    ['a host with and without its prefix length', cidrSet, ['10.0.0.1/32'], ['10.0.0.1']],
    ['a long and a short IPv6 host', cidrSet, ['2001:0DB8:0:0::1/128'], ['2001:db8::1']],
    ['an IPv4 block written as IPv6', cidrSet, ['::ffff:10.0.0.0/104'], ['10.0.0.0/8']],
    ['blocks in another order', cidrSet, ['10.0.0.0/8', '1.2.3.4'], '1.2.3.4,10.0.0.0/8'],
    ['a port behind a long and a short IPv6 host', cidrSet, ['[FD00:0::1]:443'], ['[fd00::1]:443']],
    ['a port behind IPv4 written as IPv6', cidrSet, ['[::ffff:10.0.0.1]:80'], ['10.0.0.1:80']],
    ['no port and port 0', cidrSet, ['10.0.0.1:0'], ['10.0.0.1']],
    [
      'a PEM from another editor',
      pem,
      '-----A-----\r\nx  \r\n-----B-----\r\n',
      '-----A-----\nx\n-----B-----',
    ],
    ['no PEM and an empty one', pem, null, ''],
    ['keys in another order', pemSet, ['k2\n', 'k1'], ['k1', 'k2']],
    ['no keys and one that is empty', pemSet, [''], null],
    ['a time in two time zones', minute, '2024-05-06T07:08:09+02:00', '2024-05-06T05:08:59.999Z'],
    ['labels in another order', stringMap, { a: '1', b: '' }, { b: null, a: 1 }],
    [
      'a secret without a version and with version 1',
      secretVersion,
      { env: 'A' },
      { set: true, version: 1, env: 'A' },
    ],
  ])('%s', (_, comparison, one, other) => {
    expect(areEqual(comparison, one, other)).toBe(true);
  });

  it('any number of seconds, in every spelling', () => {
    const seconds = fc.nat({ max: 10_000_000 });
    fc.assert(
      fc.property(seconds, fc.nat({ max: 999 }), (whole, rest) => {
        const hours = Math.floor(whole / 3600);
        for (const spelled of [`${whole}`, `${whole}s`, `${hours}h${whole % 3600}s`, `${whole}s${rest}ms`])
          expect(areEqual(duration, spelled, whole)).toBe(true);
      }),
    );
  });
});

describe('values with different meanings differ', () => {
  it.each<[string, Comparison, Json, Json]>([
    ['a list in another order', list, ['b', 'a'], ['a', 'b']],
    ['a list with a repeated element', list, ['a', 'a'], ['a']],
    ['a set with one more', set, ['a'], ['a', 'b']],
    ['an element with a comma and two elements', set, ['a,b'], ['a', 'b']],
    ['a word in another case', scalar, 'A', 'a'],
    ['a number and its text', scalar, 1, '1'],
    ['null and false', scalar, null, false],
    ['a block and one of its hosts', cidrSet, ['10.0.0.0/24'], ['10.0.0.0']],
    ['blocks with other host bits', cidrSet, ['10.0.0.1/24'], ['10.0.0.2/24']],
    ['a mapped block that is wider than IPv4', cidrSet, ['::ffff:0:0/90'], ['0.0.0.0']],
    ['two texts that are not blocks', cidrSet, ['10.0.0.0/x'], ['10.0.0.0/y']],
    ['a path that begins like a block', cidrSet, ['10.0.0.0/8/sock'], ['10.0.0.0/8']],
    ['an impossible prefix length', cidrSet, ['10.0.0.0/99'], ['10.0.0.0']],
    ['a number and the address that it could mean', cidrSet, ['10'], ['0.0.0.10']],
    ['times in two minutes', minute, '2024-05-06T07:08:59Z', '2024-05-06T07:09:00Z'],
    ['a secret and no secret', secretVersion, { env: 'A' }, null],
    ['a secret from two variables', secretVersion, { env: 'A', version: 2 }, { env: 'B', version: 2 }],
    ['a secret from a variable and from a file', secretVersion, { env: 'A' }, { file: 'A' }],
    ['a secret with a source and one without', secretVersion, { env: 'A' }, { set: true, version: 1 }],
    ['two versions of a secret', secretVersion, { env: 'A' }, { env: 'A', version: 2 }],
    ['an empty label and a missing one', stringMap, { a: '' }, {}],
    ['seconds and a negative number', duration, '-5', 5],
  ])('%s', (_, comparison, one, other) => {
    expect(areEqual(comparison, one, other)).toBe(false);
  });

  it('a time without a zone is kept, because its meaning depends on the machine', () => {
    expect(minute.canonical('2024-05-06T07:08:09')).toBe('2024-05-06T07:08:09');
  });
});

it.each(['::ffff:10.0.0.0/90', '10.0.0.0/99', '/run/agent.sock', 'fe80::1%eth0', '10'])(
  '%s is not a block that a token can be bound to, and is kept',
  (text) => {
    expect(cidrSet.canonical([text])).toEqual([text]);
  },
);

it('the canonical form of a secret has the name of its source, but never the secret', () => {
  fc.assert(
    fc.property(anything, fc.constantFrom('bare', 'value', 'set', 'version'), (extra, how) => {
      const secret = 'hvs.planted';
      const written = how === 'bare' ? secret : { [how]: secret, extra, env: 'NAME' };
      expect(JSON.stringify(secretVersion.canonical(written))).not.toContain(secret);
    }),
  );
});
