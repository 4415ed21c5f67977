/** Tells how a long read of several targets goes, on stderr: one live line on a terminal, a line now and then elsewhere. */
import { counted } from '../../model/counted.ts';
import type { Reader } from '../../model/wire.ts';
import { printable } from '../../report/format/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ReadProgress {
  /** Begins a part of one target's work: `("acme", "reading Workspace")`. */
  begin(target: string, what: string): void;
  /** The same reader; every answer counts for the part that its target is at. */
  counted(target: string, reader: Reader): Reader;
  end(): void;
}

/** Elsewhere than on a terminal, so many answers make a line. */
const answersALine = 500;
/** Takes the cursor to the beginning of its line and clears the line. */
const clearLine = '\r\u001b[K';

interface Part {
  readonly what: string;
  answers: number;
}

export function openReadProgress({ host }: Terminal): ReadProgress {
  const { stderr } = host;
  const isLive = stderr.isTTY && host.env['TERM'] !== 'dumb';
  const parts = new Map<string, Part>();
  const lineOf = (target: string) => {
    const { what, answers } = parts.get(target) ?? { what: '', answers: 0 };
    return printable(`${target}: ${what}${answers === 0 ? '' : `, ${counted(answers, 'request')}`}`);
  };
  const tell = (target: string) => {
    if (!isLive) return stderr.write(`${lineOf(target)}\n`);
    const all = [...parts.keys()].map(lineOf).join('; ');
    return stderr.write(`${clearLine}${all.slice(0, (stderr.columns ?? 80) - 1)}`);
  };
  const count = <T>(target: string, answer: T): T => {
    const part = parts.get(target);
    if (part === undefined) return answer;
    part.answers += 1;
    if (isLive || part.answers % answersALine === 0) tell(target);
    return answer;
  };
  return {
    begin: (target, what) => {
      parts.set(target, { what, answers: 0 });
      tell(target);
    },
    counted: (target, { get, list }) => ({
      get: async (path) => count(target, await get(path)),
      list: async (path) => count(target, await list(path)),
    }),
    end: () => {
      if (isLive) stderr.write(clearLine);
    },
  };
}
