/** The explanation of invalid CSV has to agree with the parser on what is invalid. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findCsvMistake } from '../../src/manifest/templates/csv-file.ts';

const parses = (text: string) => {
  try {
    parse(text, { record_delimiter: ['\r\n', '\n', '\r'], skip_empty_lines: true });
    return true;
  } catch {
    return false;
  }
};

it('A mistake is found in each text that the parser refuses, and in no other text', () => {
  const part = fc.constantFrom('"', '""', ',', '\n', '\r\n', '\r', 'a', ' ', 'é', '"b"');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
      const text = parts.join('');
      expect([text, findCsvMistake(text) === undefined]).toEqual([text, parses(text)]);
    }),
    { numRuns: 5000 },
  );
});
