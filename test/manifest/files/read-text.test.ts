import { expect, it } from 'vitest';
import { decodeText, maxTextBytes } from '../../../src/manifest/files/read-text.ts';

it('a text of 32 MB is accepted, and one more byte is too long', () => {
  expect(String(decodeText('a.yaml', new Uint8Array(maxTextBytes))).length).toBe(maxTextBytes);
  expect(decodeText('a.yaml', new Uint8Array(maxTextBytes + 1))).toMatchObject({
    code: 'too-long',
    class: 'invalid',
    message: '"a.yaml" has more than 32 MB',
    place: { file: 'a.yaml', text: '' },
  });
});

it.each<[string, number[], { line: number; column: number } | undefined]>([
  ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61], undefined],
  ['a character of four bytes', [0xf0, 0x9f, 0x98, 0x80], undefined],
  ['a replacement character in the file', [0xef, 0xbf, 0xbd], undefined],
  ['UTF-16', [0xff, 0xfe, 0x61, 0x00], { line: 1, column: 1 }],
  ['an incomplete character at the end', [0x61, 0x0a, 0xc3, 0xa4, 0xc3], { line: 2, column: 2 }],
  [
    'an invalid byte after a replacement character in the file',
    [0xef, 0xbf, 0xbd, 0x0d, 0x0a, 0x80],
    { line: 2, column: 1 },
  ],
])('%s', (_, bytes, place) => {
  const text = decodeText('a.yaml', Uint8Array.from(bytes));
  if (place === undefined) expect(typeof text).toBe('string');
  else expect(text).toMatchObject({ code: 'not-utf-8', place: { file: 'a.yaml', ...place, text: '' } });
});
