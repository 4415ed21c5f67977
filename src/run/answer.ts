/**
 * The end of a command: writes its answer in the requested format, also when there are only errors. With text output,
 * everything has been printed before, so this file is not even loaded.
 */
import { appendFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { standardInput } from '../manifest/files/find-stack.ts';
import type { Severity, ShownDiagnostic } from '../model/diagnostic.ts';
import { messageOf, systemErrorMessage } from '../model/error-message.ts';
import { counted, quoted } from '../model/quoted.ts';
import { renderDiagnosticsJson } from '../report/json/render-json.ts';
import { renderSarif } from '../report/json/sarif.ts';
import { renderDiagnosticsMarkdown } from '../report/markdown/sections.ts';
import { clip, printable } from '../report/view/printable.ts';
import { cleanDiagnostics, reportEnd, type Terminal } from './terminal.ts';
import type { ExitCode } from './exit-codes.ts';
import type { CliHost } from './host.ts';

export async function answerAtEnd(terminal: Terminal, code: ExitCode): Promise<void> {
  const { format, host, result, events } = terminal;
  reportEnd(terminal, code);
  const { answer, said, outcomes } = result;
  if (format === 'jsonl') events?.write({ type: 'ended', exitCode: code, ...(outcomes && { outcomes }) });
  else if (format === 'github') reportToGithub(terminal, code, await answerText(terminal));
  // A diagram has no room for problems: stderr has them.
  else if (answer !== undefined || (hasResult(terminal, said) && format !== 'mermaid'))
    host.stdout.write(`${await answerText(terminal)}\n`);
}

/** Whether there is a result to write. After a help text or a version there is none: it was printed as text. */
function hasResult({ reported }: Terminal, said: string | undefined): boolean {
  return said !== undefined || reported.length > 0;
}

async function answerText({ format, host, reported, result }: Terminal): Promise<string> {
  const shownProblems = cleanDiagnostics(reported, host);
  if (result.answer !== undefined) return result.answer(format === 'json' ? reported : shownProblems);
  switch (format) {
    case 'markdown':
    case 'github':
      return renderDiagnosticsMarkdown(shownProblems, result.said ?? 'Nothing was found');
    case 'html': {
      const { renderDiagnosticsHtml } = await import('../report/html/diagnostics.ts');
      return renderDiagnosticsHtml(shownProblems, result.said ?? 'Nothing was found');
    }
    case 'sarif':
      return renderSarif(shownProblems, {
        version: host.version,
        stackFile: result.stackFile ?? 'trueup.yaml',
        pathOf: (file) => repositoryPath(file, host),
      });
    default:
      return renderDiagnosticsJson(reported);
  }
}

// The end of a command with `--format github`: an annotation for each problem, the summary of the step and its outputs. The runner sets a
// variable with the file of the summary, and one with the file of the outputs. Without these variables, they are not written.

/** @param summary Markdown */
function reportToGithub(terminal: Terminal, code: ExitCode, summary: string): void {
  const { host, result } = terminal;
  annotate(terminal);
  appendSummary(host, summary);
  writeOutputs(host, { ...result.outputs, 'exit-code': String(code) });
}

/** Reports one of several stacks. Writes no outputs: they are written once, for all stacks. @param title Markdown */
export async function reportStackToGithub(terminal: Terminal, title: string): Promise<void> {
  annotate(terminal);
  appendSummary(terminal.host, `${title}\n\n${await answerText(terminal)}`);
}

function annotate({ host, result, reported }: Terminal): void {
  const problems = cleanDiagnostics([...reported, ...(result.found ?? [])], host);
  for (const line of annotations(problems, (file) => repositoryPath(file, host))) host.writeCommand(line);
}

/** @param markdown for the summary of the step */
export function appendSummary(host: CliHost, markdown: string): void {
  append(host, 'GITHUB_STEP_SUMMARY', `${markdown}\n\n`);
}

/** Writes the outputs of the step. @param outputs by name */
export function writeOutputs(host: CliHost, outputs: Readonly<Record<string, string>>): void {
  append(host, 'GITHUB_OUTPUT', Object.entries(outputs).map(withDelimiter(host.newId())).join(''));
}

/** The delimiter is random, so that a value cannot end itself and set another output. */
function withDelimiter(id: string): (output: readonly [string, string]) => string {
  const delimiter = `trueup_${id}`;
  return ([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}

/** Appends to the file that a variable names. A file that is missing, or cannot be written, does not fail the run. */
function append(host: CliHost, variable: string, text: string): void {
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

// The path of a file in the repository that a CI job has checked out: code hosts use it to find lines of a pull request.

/** @returns undefined for standard input, and for a file outside of the repository */
export function repositoryPath(file: string, { cwd, env }: Pick<CliHost, 'cwd' | 'env'>): string | undefined {
  if (file === standardInput) return undefined;
  const root = env['GITHUB_WORKSPACE'] || env['CI_PROJECT_DIR'] || cwd;
  const path = relative(root, resolve(cwd, file)).split(sep).join('/');
  return path === '' || path.startsWith('../') || path === '..' || isAbsolute(path) ? undefined : path;
}

// Problems as annotations: one workflow command each, errors first. GitHub shows ten errors and ten warnings of a step and drops
// the others silently, so only so many are written, and a notice counts the rest.

const maxOfOneLevel = 10;
/** Characters of a line. The runner cuts a message at 4,096 characters; a message with more than four lines has short ones. */
const maxLine = 900;

/** @param pathOf the file in the repository; undefined for other files */
export function annotations(
  diagnostics: readonly ShownDiagnostic[],
  pathOf: (file: string) => string | undefined,
): string[] {
  const levels: readonly Severity[] = ['error', 'warning'];
  const all = levels.map((level) => diagnostics.filter(({ severity }) => severity === level));
  const shown = all.flatMap((some) => some.slice(0, maxOfOneLevel));
  const leftOut = all.flatMap((some, index) => {
    const more = some.length - maxOfOneLevel;
    return more > 0 ? [counted(more, `more ${levels[index]}`)] : [];
  });
  const rest = leftOut.length === 0 ? [] : [restNotice(leftOut)];
  return [...shown.map((diagnostic) => annotation(diagnostic, pathOf)), ...rest];
}

function restNotice(leftOut: readonly string[]): string {
  const text = `${leftOut.join(' and ')} without an annotation, because GitHub shows ten of each: the log and the summary of the step have them`;
  return command('notice', { title: 'trueup' }, text);
}

function annotation(
  { severity, code, message, place, found, allowed, fix }: ShownDiagnostic,
  pathOf: (file: string) => string | undefined,
): string {
  const file = place && pathOf(place.file);
  const spot =
    place !== undefined && file === undefined ? [`${place.file}:${place.line}:${place.column}`] : [];
  const [first = '', ...more] = message.split('\n');
  const lines = [
    [...spot, first].join(': '),
    ...more,
    ...(found === undefined ? [] : [`found: ${found}`]),
    ...(allowed === undefined ? [] : [`allowed: ${allowed}`]),
    ...(fix === undefined ? [] : [`fix: ${fix}`]),
  ];
  const properties = {
    ...(place === undefined || file === undefined
      ? {}
      : { file: printable(file), line: String(place.line), col: String(place.column) }),
    title: printable(code),
  };
  return command(severity, properties, lines.map((line) => clip(line, maxLine)).join('\n'));
}

/** A workflow command, with the escapes that the runner reads. */
function command(name: string, properties: Readonly<Record<string, string>>, message: string): string {
  const members = Object.entries(properties).map(([key, value]) => `${key}=${propertyText(value)}`);
  return `::${name} ${members.join(',')}::${messageText(message)}`;
}

function messageText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function propertyText(text: string): string {
  return messageText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
