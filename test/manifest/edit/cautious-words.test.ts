/** Words that this parser reads as text and others do not, compared with what the YAML library quotes. */
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { expect, it } from 'vitest';
import { isAmbiguousWord } from '../../../src/manifest/edit/value-text.ts';
import { jsonLikeSchema } from '../../../src/manifest/yaml/parse-documents.ts';

/** Whether the library writes it unquoted with our schema, but quoted with its default one. */
function isQuotedForOthers(word: string): boolean {
  const [own, others] = [dump([word], { schema: jsonLikeSchema }), dump([word])];
  return own === `- ${word}\n` && others !== own;
}

const words = fc.oneof(
  fc.stringMatching(/^[A-Za-z][\w.+:-]{0,8}$/),
  fc
    .constantFrom('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null', 'nan', 'inf', 'e1', 'x')
    .chain((word) => fc.constantFrom(word, word.toUpperCase(), `${word[0]?.toUpperCase()}${word.slice(1)}`)),
);

it('A word is treated as ambiguous exactly when the library quotes it for other parsers', () => {
  fc.assert(
    fc.property(words, (word) => {
      expect(isAmbiguousWord(word)).toBe(isQuotedForOthers(word));
    }),
    { numRuns: 2000 },
  );
});
