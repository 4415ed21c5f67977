/**
 * Shows the progress of an apply: one line that is updated on a terminal, one line for each change elsewhere. It never reads the
 * keyboard, because then a Ctrl-C would not reach the apply as a signal.
 */
import type { ApplyEvent } from '../../model/plan/outcome.ts';
import { progressEvent } from '../../report/json/apply-events.ts';
import { columns } from '../../report/terminal/layout.ts';
import { renderEvent } from '../../report/terminal/outcomes-text.ts';
import { plain } from '../../report/terminal/paint.ts';
import type { Terminal } from './terminal.ts';

interface Progress {
  show(event: ApplyEvent): void;
  end(): void;
}

/** With JSON output the progress goes to stderr as text, because stdout must hold only the result, or its events. */
export function openProgress(terminal: Terminal): Progress {
  const { host } = terminal;
  if (terminal.format === 'text' && host.stdout.isTTY && host.env['TERM'] !== 'dumb')
    return liveLine(terminal);
  const isText = terminal.format === 'text';
  const output = isText ? host.stdout : host.stderr;
  const paint = isText ? terminal.paint : terminal.errorPaint;
  return {
    show: (event) => {
      terminal.events?.write(progressEvent(event));
      const line = renderEvent(event, { paint });
      if (line !== undefined) output.write(`${line}\n`);
    },
    end: () => {},
  };
}

/** Moves the cursor to the start of its line and clears the line. */
const clearLine = '\r\u001b[K';

function liveLine({ host, width = 80 }: Terminal): Progress {
  return {
    show: (event) => {
      const text = renderEvent(event, { paint: plain });
      if (text !== undefined) host.stdout.write(`${clearLine}${fitting(text, width)}`);
    },
    end: () => host.stdout.write(clearLine),
  };
}

/** Shortens a text to one line of the terminal: of a wrapped line only the last row could be cleared. */
function fitting(text: string, width: number): string {
  if (columns(text) < width) return text;
  let fits = '';
  for (const character of text) {
    if (columns(fits + character) > width - 2) break;
    fits += character;
  }
  return `${fits}…`;
}
