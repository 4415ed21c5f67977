/** Gets one answer: from its flag, else by asking on a terminal, else its default. Without any of these, it fails and names the flag. */
import { quoted } from '../../model/quoted.ts';
import { printable } from '../../report/view/printable.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';

interface Question {
  /** `--organization` */
  readonly flag: string;
  /** without a question mark; a default is shown behind it */
  readonly text: string;
  readonly fallback?: string | undefined;
  /** on a terminal, each choice has a number */
  readonly choices?: readonly Choice[];
  /** Why an answer is not valid, as a clause that does not repeat the answer; undefined for a valid one. */
  readonly problem?: (answer: string) => string | undefined;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export interface Asking {
  readonly host: CliHost;
  /** whether there is a person to ask */
  readonly canAsk: boolean;
  /** whether defaults are taken without a question */
  readonly takesDefaults: boolean;
  readonly stop: AbortSignal;
}

/** @param given the value of the flag. @throws CommandStop without a valid answer */
export async function answerTo(
  question: Question,
  given: string | undefined,
  asking: Asking,
): Promise<string> {
  const { flag, fallback } = question;
  if (given !== undefined) {
    const answer = given.trim();
    const why = problemOf(question, answer);
    if (why !== undefined) throw new CommandStop('usage', `${flag}: ${why}`);
    return answer;
  }
  const isDefault = fallback !== undefined && problemOf(question, fallback) === undefined;
  if (isDefault && (asking.takesDefaults || !asking.canAsk)) return fallback;
  if (!asking.canAsk) throw new CommandStop('answer-needed', missingAnswer(question));
  for (;;) {
    const typed = await ask(question, asking);
    const answer = typed === '' && isDefault ? fallback : chosen(question, typed);
    const why = problemOf(question, answer);
    if (why === undefined) return answer;
    asking.host.stderr.write(`${why}\n`);
  }
}

/** Only "y" and "yes" agree. @param done what was done before, as a clause. @throws CommandStop without an answer, as after Ctrl-C */
export async function agrees(
  question: string,
  { host, stop }: Pick<Asking, 'host' | 'stop'>,
  done?: string,
): Promise<boolean> {
  const answer = await host.ask(`${question} [y/N]`, stop);
  if (answer === undefined) throw noAnswer(done);
  return /^y(?:es)?$/i.test(answer.trim());
}

function problemOf({ choices, problem }: Question, answer: string): string | undefined {
  if (choices !== undefined && problem === undefined)
    return choices.some(({ value }) => value === answer)
      ? undefined
      : `choose one of ${choices.map(({ value }) => quoted(value)).join(', ')}`;
  return problem?.(answer);
}

function missingAnswer({ flag, text, choices }: Question): string {
  // "embedded" is a choice only at a terminal: on the command line it is a separate flag.
  const values = choices?.map(({ value }) => (value === 'embedded' ? 'or pass "--embedded"' : value));
  const allowed = values === undefined ? '' : ` (${values.join(', ')})`;
  return `nothing was written: pass ${quoted(flag)}${allowed}, because there is no terminal to ask at: ${text}`;
}

async function ask({ text, fallback = '', choices = [] }: Question, { host, stop }: Asking): Promise<string> {
  const lines = choices.map(({ value, label }, at) => {
    const shown = label === value ? '' : `  ${printable(label)}`;
    return `\n  ${at + 1}) ${printable(value)}${shown}`;
  });
  const byDefault = fallback === '' ? '' : ` (Enter: ${printable(fallback)})`;
  const answer = await host.ask(`${text}?${byDefault}${lines.join('')}`, stop);
  if (answer === undefined) throw noAnswer();
  return answer.trim();
}

/** The choice with the typed number, else the typed text. */
function chosen({ choices = [] }: Question, typed: string): string {
  return (/^\d+$/.test(typed) ? choices[Number(typed) - 1]?.value : undefined) ?? typed;
}

function noAnswer(done = 'nothing was written'): CommandStop {
  return new CommandStop('interrupted', `${done}: a question had no answer`, {
    exit: exitCodes.interrupted,
  });
}
