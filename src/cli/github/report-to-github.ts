/**
 * The end of a command with `--format github`: an annotation for each problem, the summary of the step and its outputs. The last two are
 * files that the runner names; without a runner there are none.
 */
import { appendFileSync } from 'node:fs';
import { messageOf } from '../../model/message-of.ts';
import { quoted } from '../../model/quoted.ts';
import { systemErrorMessage } from '../../model/system-error-message.ts';
import { annotations } from '../../report/github/annotations.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { repositoryPath } from './repository-path.ts';

/** @param summary Markdown */
export function reportToGithub(terminal: Terminal, code: ExitCode, summary: string): void {
  const { host, pending, reported } = terminal;
  const problems = host.clean([...reported, ...(pending.found ?? [])]);
  for (const line of annotations(problems, (file) => repositoryPath(file, host))) host.writeCommand(line);
  append(terminal, 'GITHUB_STEP_SUMMARY', `${summary}\n\n`);
  const outputs = { ...pending.outputs, 'exit-code': String(code) };
  append(terminal, 'GITHUB_OUTPUT', Object.entries(outputs).map(withDelimiter(host.newId())).join(''));
}

/** Whoever does not know the delimiter cannot end the value, and so set no other output. */
function withDelimiter(id: string): (output: readonly [string, string]) => string {
  const delimiter = `trueup_${id}`;
  return ([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}

/** A runner without such a file, or whose file cannot be written, ends no run. */
function append({ host }: Terminal, variable: string, text: string): void {
  const file = host.env[variable];
  if (file === undefined || file === '') return;
  try {
    appendFileSync(file, host.secrets.redactPrinted(text));
  } catch (error) {
    host.stderr.write(
      `${variable} (${quoted(file)}) was not written: ${systemErrorMessage(error) ?? messageOf(error)}\n`,
    );
  }
}
