import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';

const plain = (text: string) => createSourceText('a.yaml', text);

describe('a place in a text', () => {
  it('counts lines and columns from 1 and shows the whole line', () => {
    const text = 'one: 1\ntwo: 2\n';
    expect(plain(text).place(text.indexOf('2'), text.indexOf('2') + 1)).toEqual({
      file: 'a.yaml',
      line: 2,
      column: 6,
      length: 1,
      text: 'two: 2',
    });
  });

  it('supports the line ends of every system', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['a: 1', 'b: 2', 'c: 3'].join(end);
      const start = text.indexOf('c');
      expect(plain(text).place(start, start + 1)).toMatchObject({ line: 3, column: 1, text: 'c: 3' });
    }
  });

  it('is cut at the end of its line', () => {
    expect(plain('key:   \n  more: 1\n').place(0, 17)).toMatchObject({ line: 1, length: 4 });
  });

  it('counts characters, not their code units', () => {
    const text = '"🚀🚀": x';
    expect(plain(text).place(text.indexOf('x'), text.length)).toMatchObject({ column: 7, length: 1 });
  });

  it('after the end of the text is at its end', () => {
    expect(plain('a: 1').place(99, 100)).toMatchObject({ line: 1, column: 5, length: 1 });
    expect(plain('').place(0, 0)).toMatchObject({ line: 1, column: 1, length: 1, text: '' });
  });

  it('agrees with splitting the text at its line ends', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z: ]{0,8}$/), { minLength: 1 }), fc.nat(), (lines, at) => {
        const text = lines.join('\n');
        const offset = text.length === 0 ? 0 : at % text.length;
        const before = text.slice(0, offset).split('\n');
        const place = plain(text).place(offset, offset + 1);
        expect(place.line).toBe(before.length);
        expect(place.column).toBe((before.at(-1) ?? '').length + 1);
        expect(place.text).toBe(lines[place.line - 1]);
      }),
    );
  });
});
