/**
 * The output of one command, with format, colours and width decided once. As text, results go to stdout and everything else to
 * stderr. With JSON, stdout gets one value at the end, with all problems in it, and stderr only the progress.
 */
import type { Diagnostic, ShownDiagnostic } from '../../model/diagnostic.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { renderDiagnosticsJson } from '../../report/json/diagnostics-json.ts';
import { renderDiagnostics } from '../../report/terminal/diagnostics-text.ts';
import { colourful, type Paint, plain } from '../../report/terminal/paint.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Output, CliHost } from '../cli-host.ts';

export type Format = 'text' | 'json';
export type ColorChoice = 'auto' | 'always' | 'never';

export interface Terminal {
  readonly format: Format;
  readonly host: CliHost;
  readonly paint: Paint;
  /** for stderr */
  readonly errorPaint: Paint;
  readonly width: number | undefined;
  /** all reported problems, in order; they are a part of the JSON answer */
  readonly reported: ShownDiagnostic[];
  /** the JSON answer, once it is known */
  readonly pending: { answer?: JsonAnswer };
}

/** Renders the result of a command as JSON. @param reported the problems to include */
type JsonAnswer = (reported: readonly ShownDiagnostic[]) => string;

export function openTerminal(host: CliHost, options: { format?: Format; color?: ColorChoice }): Terminal {
  const paintFor = (output: Output) =>
    isColoured(output, host, options.color ?? 'auto') ? colourful : plain;
  return {
    format: options.format ?? 'text',
    host: host,
    paint: paintFor(host.stdout),
    errorPaint: paintFor(host.stderr),
    width: host.stdout.columns,
    reported: [],
    pending: {},
  };
}

/** A flag overrides the environment; `NO_COLOR` overrides `FORCE_COLOR`; otherwise only a terminal is coloured. */
function isColoured(output: Output, { env }: CliHost, choice: ColorChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0') return true;
  return output.isTTY;
}

/** Prints the diagnostics of a command that stops here: in JSON they are its result. */
export function printDiagnostics(terminal: Terminal, diagnostics: readonly ShownDiagnostic[]): void {
  printJson(terminal, renderDiagnosticsJson);
  printWarnings(terminal, diagnostics);
}

/** Prints diagnostics of a command that continues. */
export function printWarnings(terminal: Terminal, diagnostics: readonly ShownDiagnostic[]): void {
  const { format, host, errorPaint, reported } = terminal;
  reported.push(...diagnostics);
  if (diagnostics.length > 0 && format === 'text')
    host.stderr.write(`${renderDiagnostics(diagnostics, { paint: errorPaint })}\n`);
}

/** Prints a line about something that is wrong but does not stop the command. */
export function printNote(terminal: Terminal, message: string): void {
  terminal.reported.push({ code: 'note', severity: 'warning', class: 'failure', message });
  if (terminal.format === 'text') terminal.host.stderr.write(`${message}\n`);
}

/** Sets the JSON answer, when JSON was asked for; it is written at the end of the command, with all reported problems. */
export function printJson({ format, pending }: Terminal, answer: JsonAnswer): void {
  if (format === 'json') pending.answer = answer;
}

/** Writes the JSON answer at the end of a command. There is always one, even when there are only errors. */
export function answerInJson({ format, host, reported, pending }: Terminal, code: ExitCode): void {
  if (format !== 'json') return;
  if (pending.answer === undefined && reported.length === 0) {
    if (code === exitCodes.done) return;
    const how = code === exitCodes.interrupted ? 'interrupted' : 'stopped';
    reported.push(failure(how, how));
  }
  host.stdout.write(`${(pending.answer ?? renderDiagnosticsJson)(reported)}\n`);
}

/** Reports the error that ended the command, or a part of it. In JSON it is only in the answer. */
export function printError(terminal: Terminal, code: DiagnosticCode, message: string): void {
  terminal.reported.push(failure(code, message));
  if (terminal.format === 'text')
    terminal.host.stderr.write(`${terminal.errorPaint.error('error')}: ${message}\n`);
}

function failure(code: DiagnosticCode, message: string): Diagnostic {
  return { code, severity: 'error', class: 'failure', message };
}
