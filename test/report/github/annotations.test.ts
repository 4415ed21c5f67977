import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotations } from '../../../src/run/answer.ts';
import { anyDiagnostic } from '../../support/report/arbitrary-plan.ts';
import { markdownAttack } from '../../support/report/markdown-attacks.ts';
import { place, problem } from '../../support/report/small-plan.ts';

const inRepository = (file: string) => `stacks/${file}`;

/** Parses a command like the runner (`ActionCommand.TryParseV2` of actions/runner), which unescapes `%25` last. */
function read(line: string) {
  const [, name = '', properties = '', data = ''] = /^::(\w+) (.*?)::(.*)$/s.exec(line) ?? [];
  const plain = (text: string) =>
    text
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%3A', ':')
      .replaceAll('%2C', ',')
      .replaceAll('%25', '%');
  return {
    name,
    properties: Object.fromEntries(properties.split(',').map((pair) => pair.split('=', 2).map(plain))),
    data: plain(data),
  };
}

describe('an annotation', () => {
  it('has the line of its file in the repository, and what to do', () => {
    const [line] = annotations(
      [problem({ place: place(), found: '"x"', allowed: '"y", "z"', fix: 'write "y"' })],
      inRepository,
    );
    expect(line).toBe(
      '::error file=stacks/toys.yaml,line=4,col=9,title=not-ours::Toy "ball" exists without an ownership tag%0Afound: "x"%0Aallowed: "y", "z"%0Afix: write "y"',
    );
  });

  it('has the lines of its message, without escaped line ends', () => {
    expect(
      annotations([problem({ message: 'not written\n  to do: this\n  to do: that' })], inRepository),
    ).toEqual(['::error title=not-ours::not written%0A  to do: this%0A  to do: that']);
  });

  it('for a place outside of the repository has the place in the text', () => {
    expect(annotations([problem({ place: place({ file: '-' }) })], () => undefined)).toEqual([
      '::error title=not-ours::-:4:9: Toy "ball" exists without an ownership tag',
    ]);
  });

  it('is one line with our properties only, for any texts', () => {
    const any = fc.oneof(
      anyDiagnostic,
      markdownAttack.map((text) =>
        problem({ code: text as 'not-ours', message: text, place: place({ file: text }) }),
      ),
      fc
        .constantFrom('a%0A::error::b', 'x,line=9', '::x::', 'a\r\n::error::b')
        .map((text) => problem({ code: text as 'not-ours', message: text, place: place({ file: text }) })),
    );
    fc.assert(
      fc.property(fc.array(any, { maxLength: 5 }), (found) => {
        const lines = annotations(found, inRepository);
        expect(lines).toHaveLength(found.length);
        for (const line of lines) {
          expect(line).not.toMatch(/[\r\n]/);
          const { name, properties } = read(line);
          expect(name).toMatch(/^(?:error|warning)$/);
          expect(
            Object.keys(properties).filter((key) => !['file', 'line', 'col', 'title'].includes(key)),
          ).toEqual([]);
          expect(line.length).toBeLessThan(12_000);
        }
      }),
    );
  });
});

describe('annotations of many problems', () => {
  const many = (count: number, severity: 'error' | 'warning') =>
    Array.from({ length: count }, (_, index) => problem({ severity, message: `${severity} ${index}` }));

  it('are the first ten errors, then ten warnings, and a notice that counts the others', () => {
    const lines = annotations([...many(12, 'warning'), ...many(11, 'error')], inRepository);
    expect(lines.map((line) => read(line).name)).toEqual([
      ...Array(10).fill('error'),
      ...Array(10).fill('warning'),
      'notice',
    ]);
    expect(read(lines.at(-1) ?? '').data).toContain('1 more error and 2 more warnings');
  });

  it('need no notice for ten errors and ten warnings', () => {
    expect(annotations([...many(10, 'warning'), ...many(10, 'error')], inRepository)).toHaveLength(20);
  });
});
