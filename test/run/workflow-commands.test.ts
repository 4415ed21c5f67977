import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutCommands } from '../../src/run/host.ts';

/** The output that the runner reads after these writes. */
function written(...texts: string[]): string {
  let out = '';
  const output = withoutCommands({ write: (text: string) => (out += text) });
  for (const text of texts) output.write(text);
  return out;
}

/** Lines in which the runner of GitHub Actions finds a command (`ActionCommand.TryParseV2` and `TryParse` of actions/runner). */
function commandsIn(text: string): string[] {
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
  it('no line is a command, even if it is written in pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.array(piece).map((parts) => parts.join(''))), (texts) => {
        expect(commandsIn(written(...texts))).toEqual([]);
      }),
    );
  });

  it('a command after many spaces or in a long line is found, too', () => {
    expect(commandsIn(written(' '.repeat(300), '::error::x'))).toEqual([]);
    expect(commandsIn(written(`${'x'.repeat(300)}##`, '[error]x'))).toEqual([]);
  });

  it('other text is written unchanged', () => {
    const text = 'a :: b\n- ::x::\n## [x]\nhttp://[::1]/\n';
    expect(written(text)).toBe(text);
  });

  it('JSON keeps its meaning', () => {
    const value = { a: '##[error]x', b: '::error::y', c: ['\n::z'] };
    expect(JSON.parse(written(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});
