/**
 * Questions to a person at a terminal. An answer is younger than its question: what was typed before it stood on the
 * terminal is thrown away. Whoever walks away has answered nothing, and a terminal that is closed stops the run.
 */
import { createInterface } from 'node:readline';

export interface QuestionStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Ctrl-C while the question stands: the terminal sends no signal of its own then */
  interrupt(): void;
  /** The terminal is gone. Its own signal may be on its way, and comes to the same. */
  hangUp(): void;
}

/** The line that is typed after the question; undefined after Ctrl-D, Ctrl-C, a hang-up, or when it is to stop. */
export async function askLine(
  question: string,
  terminal: QuestionStreams,
  stop: AbortSignal,
): Promise<string | undefined> {
  const { input, hangUp } = terminal;
  // A terminal that is closed fails whatever is asked of it, more than once. In raw mode nothing else ends the input.
  input.on('error', hangUp).on('end', hangUp);
  // As a line at a time, what was typed would wait for its end, and come to the question with it.
  input.setRawMode(true);
  try {
    const isThere = await throwAwayTyped(terminal, stop);
    return isThere && !stop.aborted ? await readLine(question, terminal, stop) : undefined;
  } finally {
    input.setRawMode(false);
    input.pause();
    input.off('error', hangUp).off('end', hangUp);
  }
}

/** Whether "y" or "yes" was typed after the question: a lone Enter is a no. */
export async function askYes(
  question: string,
  terminal: QuestionStreams,
  stop: AbortSignal,
): Promise<boolean> {
  const answer = await askLine(`${question} [y/N] `, terminal, stop);
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

/** How long nothing comes in once all is there that was typed before. Milliseconds; nobody has read a question by then. */
const quiet = 100;

const ctrlC = 3;

/** Whether somebody is still there. */
function throwAwayTyped({ input, interrupt }: QuestionStreams, stop: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const isOver = () => input.readableEnded || input.destroyed;
    const end = () => {
      clearTimeout(timer);
      input.off('data', hear).off('end', end).off('error', end).off('close', end);
      stop.removeEventListener('abort', end);
      resolve(!isOver());
    };
    const timer = setTimeout(end, quiet);
    const hear = (typed: Buffer) => {
      if (typed.includes(ctrlC)) interrupt();
      timer.refresh();
    };
    input.on('data', hear).on('end', end).on('error', end).on('close', end);
    stop.addEventListener('abort', end);
    if (stop.aborted || isOver()) end();
  });
}

function readLine(
  question: string,
  { input, output, interrupt }: QuestionStreams,
  stop: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const lines = createInterface({ input, output, terminal: true, historySize: 0 });
    let isOver = false;
    // Closing fails on a terminal that is gone, and says so here again.
    const end = (answer?: string) => {
      if (isOver) return;
      isOver = true;
      stop.removeEventListener('abort', walkAway);
      if (answer === undefined) output.write('\n');
      resolve(answer);
      lines.close();
    };
    const walkAway = () => end();
    lines.on('line', end);
    lines.on('SIGINT', () => {
      interrupt();
      end();
    });
    lines.on('error', walkAway);
    lines.on('close', walkAway);
    stop.addEventListener('abort', walkAway);
    lines.setPrompt(question);
    lines.prompt();
  });
}
