/** Shows the progress of reading several targets on stderr: one line that is updated on a terminal, a new line now and then elsewhere. */
import { counted } from '../../model/counted.ts';
import type { Reader } from '../../model/wire.ts';
import { printable } from '../../report/format/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ReadProgress {
  /** Begins a step of one target: `("acme", "reading Workspace")`. */
  begin(target: string, what: string): void;
  /** The same reader, which counts its answers for the current step of the target. */
  counted(target: string, reader: Reader): Reader;
  end(): void;
}

/** Without a terminal, a line is printed after this many answers. */
const answersPerLine = 500;
/** Moves the cursor to the start of its line and clears the line. */
const clearLine = '\r\u001b[K';

interface Step {
  readonly what: string;
  answers: number;
}

export function openReadProgress({ host }: Terminal): ReadProgress {
  const { stderr } = host;
  const isLive = stderr.isTTY && host.env['TERM'] !== 'dumb';
  const steps = new Map<string, Step>();
  const lineOf = (target: string) => {
    const { what, answers } = steps.get(target) ?? { what: '', answers: 0 };
    return printable(`${target}: ${what}${answers === 0 ? '' : `, ${counted(answers, 'request')}`}`);
  };
  const print = (target: string) => {
    if (!isLive) return stderr.write(`${lineOf(target)}\n`);
    const all = [...steps.keys()].map(lineOf).join('; ');
    return stderr.write(`${clearLine}${all.slice(0, (stderr.columns ?? 80) - 1)}`);
  };
  const count = <T>(target: string, answer: T): T => {
    const step = steps.get(target);
    if (step === undefined) return answer;
    step.answers += 1;
    if (isLive || step.answers % answersPerLine === 0) print(target);
    return answer;
  };
  return {
    begin: (target, what) => {
      steps.set(target, { what, answers: 0 });
      print(target);
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
