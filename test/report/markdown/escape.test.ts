import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../../src/report/view/printable.ts';
import { code, codeBlock, htmlCode, sentence, tableRow } from '../../../src/report/markdown/escape.ts';
import { markdownAttack } from '../../support/report/markdown-attacks.ts';
import { activeIn, rendered, visibleText } from '../../support/report/rendered-markdown.ts';

const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The forms in which a report puts a text into Markdown. */
const forms: readonly (readonly [string, (text: string) => string])[] = [
  ['as a sentence', (text) => sentence(text)],
  ['as a sentence in a list', (text) => `- ${sentence(text)}\n  - ${sentence(text)}`],
  ['as a sentence after a name', (text) => `- ${code(text)}: ${sentence(text)}`],
  ['as a name', (text) => `- ${code(text)}`],
  ['as a heading', (text) => `## ${code(text)}`],
  ['between fences', (text) => codeBlock(printable(text).split('\n'), 'diff')],
  [
    'in a row of a table',
    (text) =>
      [tableRow(['a', 'b']), tableRow(['---', '---']), tableRow([code(text), sentence(text)])].join('\n'),
  ],
  ['in a folded part', (text) => `<details><summary>${htmlCode(text)}</summary>\n\nx\n\n</details>`],
];

describe('a text from outside', () => {
  it.each(forms)('has no active content %s', (_, form) => {
    fc.assert(
      fc.property(markdownAttack, (text) => {
        expect(activeIn(form(text))).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });

  it('is shown unchanged, in a sentence and as a name', () => {
    fc.assert(
      fc.property(markdownAttack, (text) => {
        const shown = squeezed(printable(text));
        fc.pre(shown !== '');
        expect(squeezed(visibleText(sentence(text))).replaceAll('"', '')).toBe(
          squeezed(shown.replaceAll('"', '')),
        );
        expect(squeezed(visibleText(`x ${code(text)}`))).toBe(`x ${shown}`);
      }),
      { numRuns: 120 },
    );
  });

  it('fills one cell of a row, even with pipes and backslashes', () => {
    fc.assert(
      fc.property(markdownAttack, markdownAttack, (one, other) => {
        const rows = [
          ['a', 'b'],
          ['---', '---'],
          [code(one), sentence(other)],
        ].map(tableRow);
        const [, ...cells] = rendered(rows.join('\n')).split('<td>');
        expect(cells).toHaveLength(2);
      }),
      { numRuns: 120 },
    );
  });
});

it('quoted names in a sentence become code, which can be copied', () => {
  expect(sentence('"web_api" may read the state of "a|b"')).toBe('`web_api` may read the state of `a|b`');
  expect(sentence('an "odd" quote " stays, and "" too')).toBe('an `odd` quote " stays, and "" too');
});

it('a whole commit id becomes code, which can be copied and is not linked', () => {
  const id = 'c0ffee11'.repeat(5);
  expect(sentence(`2 of origin/main at commit ${id}, and at ${id}`)).toBe(
    `2 of origin/main at commit \`${id}\`, and at \`${id}\``,
  );
  expect(sentence(`at ${id}"name"`)).not.toContain(id);
});

it('a text that a platform would link gets an invisible character', () => {
  expect(sentence('@ann closed #12')).toBe('@&#8203;ann closed #&#8203;12');
  expect(sentence('see https://e.vil or www.e.vil')).toBe('see https:&#8203;//e.vil or www&#8203;.e.vil');
  expect(sentence('at 7fc0301b')).toBe('at 7fc030&#8203;1b');
});

it('a text that is too long is cut, and has its full length', () => {
  expect(code('x'.repeat(300))).toBe(`\`${'x'.repeat(200)}… (cut, 300 characters in all)\``);
});
