// Values in sentences: quotes show where any value begins and ends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoted, quotedUnlessPlain, splitQuoted } from '../../src/model/quoted.ts';

describe('a value in a sentence', () => {
  it('is printed unchanged, in quotes, when it is plain', () => {
    expect(quoted('network prod/eu-1')).toBe('"network prod/eu-1"');
  });

  it('cannot end its quotes, with any content', () => {
    const hostile = fc.string({ unit: fc.constantFrom('"', '\\', ' ', 'a', '\n', '\u001b', ',') });
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const parts = splitQuoted(`gets ${quoted(one)}, ${quoted(other)} for 1h`);
        expect(parts).toEqual(['gets ', quoted(one), ', ', quoted(other), ' for 1h']);
        expect([parts[1], parts[3]].map((part) => JSON.parse(part ?? ''))).toEqual([one, other]);
      }),
    );
  });

  it('has no quotes as a name or an id only if it has the characters of one', () => {
    expect(['user-1', 'Ann Lee', 'a@b.example', 'apps:deploy/x'].map(quotedUnlessPlain)).toEqual([
      'user-1',
      'Ann Lee',
      'a@b.example',
      'apps:deploy/x',
    ]);
    expect(quotedUnlessPlain('ann), touched by (bob')).toBe('"ann), touched by (bob"');
    expect(quotedUnlessPlain('ann, approved')).toBe('"ann, approved"');
  });
});
