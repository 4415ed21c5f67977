import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutCommands } from '../../src/run/host.ts';

/** What the runner reads of these writes, one after the other. */
function written(...texts: string[]): string {
  let out = '';
  const output = withoutCommands({ write: (text: string) => (out += text) });
  for (const text of texts) output.write(text);
  return out;
}

/** As the runner of GitHub Actions finds a command in a line (`ActionCommand.TryParseV2` and `TryParse` of actions/runner). */
function obeyed(text: string): string[] {
  return text.split(/\r\n|\n|\r/).filter((line) => line.trimStart().startsWith('::') || line.includes('##['));
}

const piece = fc.constantFrom(
  ':',
  '::',
  '#',
  '##[',
  '[',
  ' ',
  '\t',
  '\n',
  '\r',
  '\u00a0',
  'x',
  'error]',
  'warning::',
);

describe('under GitHub Actions', () => {
  it('no line is a command, in whatever pieces it is written', () => {
    fc.assert(
      fc.property(fc.array(fc.array(piece).map((parts) => parts.join(''))), (texts) => {
        expect(obeyed(written(...texts))).toEqual([]);
      }),
    );
  });

  it('a command in a long line that was begun with spaces is found, too', () => {
    expect(obeyed(written(' '.repeat(300), '::error::x'))).toEqual([]);
    expect(obeyed(written(`${'x'.repeat(300)}##`, '[error]x'))).toEqual([]);
  });

  it('what is no command is written as it is', () => {
    const text = 'a :: b\n- ::x::\n## [x]\nhttp://[::1]/\n';
    expect(written(text)).toBe(text);
  });

  it('JSON means the same as before', () => {
    const value = { a: '##[error]x', b: '::error::y', c: ['\n::z'] };
    expect(JSON.parse(written(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});
