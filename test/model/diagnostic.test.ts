import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShownDiagnostic, hasErrors, sortDiagnostics } from '../../src/model/diagnostic.ts';

function diagnostic(
  about: Partial<ShownDiagnostic> & { readonly file?: string; readonly line?: number } = {},
): ShownDiagnostic {
  const { file, line = 1, ...rest } = about;
  return {
    code: 'a-code',
    severity: 'error',
    class: 'invalid',
    message: 'a message',
    ...(file === undefined ? {} : { place: { file, line, column: 1, length: 1, text: '' } }),
    ...rest,
  };
}

describe('diagnostics are reported in reading order', () => {
  const inOrder = [
    diagnostic({ message: 'no place' }),
    diagnostic({ file: 'a.yaml', line: 2 }),
    diagnostic({ file: 'a.yaml', line: 10 }),
    diagnostic({ file: 'b.yaml', line: 1, code: 'a' }),
    diagnostic({ file: 'b.yaml', line: 1, code: 'b', message: 'x' }),
    diagnostic({ file: 'b.yaml', line: 1, code: 'b', message: 'y' }),
  ];

  it('for any order in which they were found', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(inOrder, { minLength: inOrder.length }), (found) => {
        expect(sortDiagnostics(found)).toEqual(inOrder);
      }),
    );
  });
});

it('warnings alone are not errors', () => {
  const warning = diagnostic({ severity: 'warning' });
  expect(hasErrors([warning])).toBe(false);
  expect(hasErrors([warning, diagnostic()])).toBe(true);
});
