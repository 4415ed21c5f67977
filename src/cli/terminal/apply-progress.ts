/**
 * Tells how an apply goes: one live line on a terminal, one line a change elsewhere. It only ever writes: a progress
 * that reads the keyboard would swallow Ctrl-C, which has to reach the apply as a signal.
 */
import type { ApplyEvent } from '../../model/plan/outcome.ts';
import { columns } from '../../report/terminal/layout.ts';
import { renderEvent } from '../../report/terminal/outcomes-text.ts';
import { plain } from '../../report/terminal/paint.ts';
import type { Terminal } from './terminal.ts';

export interface Progress {
  tell(event: ApplyEvent): void;
  end(): void;
}

/** JSON output is a result: progress would only disturb it, so it goes to stderr as lines. */
export function openProgress(terminal: Terminal): Progress {
  const { host } = terminal;
  if (terminal.format === 'text' && host.stdout.isTTY && host.env['TERM'] !== 'dumb')
    return liveLine(terminal);
  const output = terminal.format === 'json' ? host.stderr : host.stdout;
  const paint = terminal.format === 'json' ? terminal.errorPaint : terminal.paint;
  return {
    tell: (event) => {
      const line = renderEvent(event, { paint });
      if (line !== undefined) output.write(`${line}\n`);
    },
    end: () => {},
  };
}

/** Takes the cursor to the beginning of its line and clears the line. */
const clearLine = '\r\u001b[K';

function liveLine({ host, width = 80 }: Terminal): Progress {
  return {
    tell: (event) => {
      const text = renderEvent(event, { paint: plain });
      if (text !== undefined) host.stdout.write(`${clearLine}${fitting(text, width)}`);
    },
    end: () => host.stdout.write(clearLine),
  };
}

/** What fits into one line: of a line that wraps only the last row could be cleared. */
function fitting(text: string, width: number): string {
  if (columns(text) < width) return text;
  let fits = '';
  for (const character of text) {
    if (columns(fits + character) > width - 2) break;
    fits += character;
  }
  return `${fits}…`;
}
