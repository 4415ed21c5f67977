import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInline, formatSecret, formatString, formatValue } from '../../../src/report/view/value.ts';
import { columns, flow } from '../../../src/report/text/layout.ts';

describe('a formatted value', () => {
  it('has no quotes if it is unambiguous', () => {
    for (const text of ['remote', '~> 1.9.0', '1.8.4', 'acme/network', 'hello, world', '^v\\d+$']) {
      expect(formatString(text)).toBe(text);
    }
  });

  it('has quotes if it would read as something else', () => {
    for (const text of [
      '',
      ' a',
      'true',
      'null',
      '12',
      '1.5',
      '(none)',
      '[a]',
      '- a',
      'a -> b',
      'a: b',
      '\\u001b',
    ]) {
      expect(formatString(text)).toBe(JSON.stringify(text));
    }
  });

  it('is a duration such as 1h30m', () => {
    expect([0, 45, 3600, 5400, 2_764_800].map((seconds) => formatInline(seconds, 'duration'))).toEqual([
      '0s',
      '45s',
      '1h',
      '1h30m',
      '768h',
    ]);
  });

  it('distinguishes null, missing and empty values', () => {
    expect([null, undefined, [], {}, ''].map((value) => formatInline(value, 'scalar'))).toEqual([
      '(none)',
      '(absent)',
      '[]',
      '{}',
      '""',
    ]);
  });

  it('is a list or a map on one line, with commas of texts in quotes', () => {
    expect(formatInline(['a', 'b, c'], 'list')).toBe('[a, "b, c"]');
    expect(formatInline({ branch: 'main', depth: 2 }, 'scalar')).toBe('{branch: main, depth: 2}');
  });

  it('keeps the lines of a long text', () => {
    expect(formatValue('a\nb', 'text')).toEqual({ as: 'lines', lines: ['a', 'b'] });
  });

  it('of a secret has only whether it is set, its version and its source', () => {
    const values = [null, undefined, { set: false }, { set: true }, { set: true, version: 3 }, 'leak'];
    expect(values.map(formatSecret)).toEqual(['unset', 'unset', 'unset', 'set', 'set (version 3)', 'set']);
    const sourced = [
      { set: true, version: 2, env: 'REVIEWER_JWT', value: 'leak' },
      { set: true, file: '/run/jwt\u001b[2J' },
      { set: false, env: 'REVIEWER_JWT' },
    ];
    expect(sourced.map(formatSecret)).toEqual([
      'set (version 2, from env REVIEWER_JWT)',
      'set (from file /run/jwt\\u001b[2J)',
      'unset',
    ]);
  });

  it('differs for different strings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        fc.pre(one !== other);
        expect(formatString(one)).not.toBe(formatString(other));
      }),
      {
        examples: [
          ['\u001b', '\\u001b'],
          ['a\n', 'a\\n'],
        ],
        numRuns: 500,
      },
    );
  });
});

describe('layout', () => {
  it('wide characters take two columns, combining ones none', () => {
    expect([columns('abc'), columns('網路'), columns('e\u0301'), columns('🚀')]).toEqual([3, 4, 1, 2]);
  });

  it('wrapped items are complete, and stay within the width if possible', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/[\s,]/.test(text))),
        (items) => {
          const lines = flow(items, ', ', 20);
          expect(lines.join(' ')).toBe(items.join(', '));
          for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(20);
        },
      ),
    );
  });
});
