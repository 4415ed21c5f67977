/**
 * Asks questions on a terminal. Input that was typed before the question was printed is discarded, so it cannot be taken for an
 * answer. Ctrl-C and Ctrl-D count as no answer, and closing the terminal stops the run.
 */
import { createInterface } from 'node:readline';

export interface QuestionStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Called for Ctrl-C during a question, when the terminal sends no signal. */
  interrupt(): void;
  /** Called when the terminal was closed. SIGHUP may follow and has the same effect. */
  hangUp(): void;
}

/** The line that was typed after the question; undefined after Ctrl-D, Ctrl-C, a closed terminal, or when `stop` is aborted. */
export async function askLine(
  question: string,
  terminal: QuestionStreams,
  stop: AbortSignal,
): Promise<string | undefined> {
  const { input, hangUp } = terminal;
  // Every operation on a closed terminal fails, so there may be several errors. In raw mode, only a closed terminal ends the input.
  input.on('error', hangUp).on('end', hangUp);
  // In line mode, a line that was begun before the question would be delivered with its end, after the question.
  input.setRawMode(true);
  try {
    const isOpen = await discardTyped(terminal, stop);
    return isOpen && !stop.aborted ? await readLine(question, terminal, stop) : undefined;
  } finally {
    input.setRawMode(false);
    input.pause();
    input.off('error', hangUp).off('end', hangUp);
  }
}

/** Whether "y" or "yes" was typed after the question; only Enter means no. */
export async function askYes(
  question: string,
  terminal: QuestionStreams,
  stop: AbortSignal,
): Promise<boolean> {
  const answer = await askLine(`${question} [y/N] `, terminal, stop);
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

/** Milliseconds without input after which all earlier input has been discarded; too short for anyone to read the question. */
const quietTime = 100;

const ctrlC = 3;

/** @returns false when the terminal was closed meanwhile */
function discardTyped({ input, interrupt }: QuestionStreams, stop: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const isOver = () => input.readableEnded || input.destroyed;
    const end = () => {
      clearTimeout(timer);
      input.off('data', onData).off('end', end).off('error', end).off('close', end);
      stop.removeEventListener('abort', end);
      resolve(!isOver());
    };
    const timer = setTimeout(end, quietTime);
    const onData = (typed: Buffer) => {
      if (typed.includes(ctrlC)) interrupt();
      timer.refresh();
    };
    input.on('data', onData).on('end', end).on('error', end).on('close', end);
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
    // Closing a terminal that is gone fails and calls this again.
    const end = (answer?: string) => {
      if (isOver) return;
      isOver = true;
      stop.removeEventListener('abort', cancel);
      if (answer === undefined) output.write('\n');
      resolve(answer);
      lines.close();
    };
    const cancel = () => end();
    lines.on('line', end);
    lines.on('SIGINT', () => {
      interrupt();
      end();
    });
    lines.on('error', cancel);
    lines.on('close', cancel);
    stop.addEventListener('abort', cancel);
    lines.setPrompt(question);
    lines.prompt();
  });
}
