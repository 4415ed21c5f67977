/** Tells how an apply goes: one live line on a terminal, one line a change elsewhere. */
import type { ApplyEvent } from '../model/outcome.ts';
import { renderEvent } from '../report/outcomes-text.ts';
import type { Screen } from './screen.ts';

export interface Progress {
  tell(event: ApplyEvent): void;
  end(): void;
}

/** JSON output is a result: progress would only disturb it, so it goes to stderr as lines. */
export async function openProgress(screen: Screen): Promise<Progress> {
  const { world } = screen;
  if (screen.format === 'text' && world.stdout.isTTY && world.interactive) return liveLine(screen);
  const output = screen.format === 'json' ? world.stderr : world.stdout;
  const paint = screen.format === 'json' ? screen.errorPaint : screen.paint;
  return {
    tell: (event) => {
      const line = renderEvent(event, { paint });
      if (line !== undefined) output.write(`${line}\n`);
    },
    end: () => {},
  };
}

async function liveLine(screen: Screen): Promise<Progress> {
  const { spinner } = await import('@clack/prompts');
  const line = spinner();
  let running = false;
  return {
    tell: (event) => {
      const text = renderEvent(event, { paint: screen.paint });
      if (event.type === 'begin') {
        line.start(text ?? 'applying');
        running = true;
      } else if (text !== undefined) line.message(text);
    },
    end: () => {
      if (running) line.stop('applied');
      running = false;
    },
  };
}
