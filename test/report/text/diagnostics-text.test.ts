import { describe, expect, it } from 'vitest';
import { renderDiagnosticsJson } from '../../../src/report/json/render-json.ts';
import { renderDiagnostics } from '../../../src/report/text/diagnostics.ts';
import { plain } from '../../../src/report/text/layout.ts';
import { place, problem } from '../../support/report/small-plan.ts';

const paint = plain;
const misspelt = problem({
  code: 'unknown-field',
  class: 'invalid',
  message: 'Unknown field "colr"',
  place: place({ file: 'toys/a.yaml', line: 12, column: 3, length: 4, text: '  colr: red' }),
  found: '"colr"',
  allowed: 'colour, friends, labels',
  fix: 'write "colour"',
});

describe('problems as text', () => {
  it('point at the span, list what is allowed and the fix, and are counted', () => {
    expect(renderDiagnostics([misspelt], { paint })).toMatchInlineSnapshot(`
      "error[unknown-field] toys/a.yaml:12:3
        Unknown field "colr"
        12 |   colr: red
           |   ^^^^
        found: "colr"
        allowed: colour, friends, labels
        fix: write "colour"

      1 error in 1 file"
    `);
  });

  it('show the second place too', () => {
    const twice = problem({
      code: 'duplicate',
      message: 'Toy "ball" is declared twice',
      place: place({ line: 103 }),
      related: [{ message: 'first declared here', place: place({ file: 'more.yaml', line: 7 }) }],
    });
    const unused = problem({ code: 'no-manifests', severity: 'warning', message: 'No manifest was found' });
    expect(renderDiagnostics([unused, twice], { paint })).toMatchInlineSnapshot(`
      "warning[no-manifests]
        No manifest was found

      error[duplicate] toys.yaml:103:9
        Toy "ball" is declared twice
        103 |   name: ball
            |         ^^^^
        see: first declared here, more.yaml:7:9
          7 |   name: ball
            |         ^^^^

      1 error, 1 warning in 1 file"
    `);
  });

  it('underline the printed span, even if escaped characters make it longer', () => {
    const hidden = problem({ place: place({ column: 7, length: 3, text: 'a\u001bb\t: \u202exy' }) });
    const [, , shown, underline] = renderDiagnostics([hidden], { paint }).split('\n');
    expect(shown).toBe('  4 | a\\u001bb : \\u202exy');
    expect(underline).toBe(`    | ${' '.repeat(11)}^^^^^^^^`);
  });

  it('cut a very long line around the span', () => {
    const text = `${'x'.repeat(300)}BAD${'y'.repeat(300)}`;
    const long = problem({ place: place({ column: 301, length: 3, text }) });
    const [, , shown = '', underline = ''] = renderDiagnostics([long], { paint }).split('\n');
    expect(shown.length).toBeLessThan(110);
    expect(shown.slice(underline.indexOf('^'), underline.lastIndexOf('^') + 1)).toBe('BAD');
  });

  it('are empty when there are none', () => {
    expect(renderDiagnostics([], { paint })).toBe('');
  });
});

it('problems as JSON have everything except the excerpt', () => {
  expect(JSON.parse(renderDiagnosticsJson([misspelt]))).toEqual({
    version: 1,
    summary: { errors: 1, warnings: 0, files: 1 },
    diagnostics: [
      {
        code: 'unknown-field',
        severity: 'error',
        class: 'invalid',
        message: 'Unknown field "colr"',
        place: { file: 'toys/a.yaml', line: 12, column: 3 },
        found: '"colr"',
        allowed: 'colour, friends, labels',
        fix: 'write "colour"',
      },
    ],
  });
});

it('errors are shown even after a hundred warnings, in the original order', () => {
  const warning = { code: 'odd', severity: 'warning', class: 'invalid', message: 'odd' } as const;
  const error = { ...warning, code: 'wrong', severity: 'error' } as const;
  const found = [
    ...Array.from({ length: 120 }, () => warning),
    error,
    ...Array.from({ length: 5 }, () => error),
  ];
  const text = renderDiagnostics(found, { paint: plain });
  const shown = [...text.matchAll(/^\w+\[(\w+)\]/gm)].map(([, code]) => code);
  expect(shown).toEqual([
    ...Array.from({ length: 94 }, () => 'odd'),
    ...Array.from({ length: 6 }, () => 'wrong'),
  ]);
  expect(text).toContain('and 26 more, which "--format json" shows\n\n6 errors, 120 warnings');
});
