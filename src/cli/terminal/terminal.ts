/**
 * How one command writes: format, colours and width decided once. As text, results go to stdout, everything else to stderr.
 * Whoever asks for JSON gets one value on stdout at the end, with every problem in it, and on stderr only how it goes.
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
  /** for what goes to stderr */
  readonly errorPaint: Paint;
  readonly width: number | undefined;
  /** every problem that was told, in order: for whoever asked for JSON it is a part of the answer */
  readonly told: ShownDiagnostic[];
  /** what the answer in JSON is, as far as it is known */
  readonly pending: { answer?: JsonAnswer };
}

/** The result of a command as JSON. @param told the problems that it is to name besides */
export type JsonAnswer = (told: readonly ShownDiagnostic[]) => string;

export function openTerminal(host: CliHost, options: { format?: Format; color?: ColorChoice }): Terminal {
  const paintFor = (output: Output) =>
    isColoured(output, host, options.color ?? 'auto') ? colourful : plain;
  return {
    format: options.format ?? 'text',
    host: host,
    paint: paintFor(host.stdout),
    errorPaint: paintFor(host.stderr),
    width: host.stdout.columns,
    told: [],
    pending: {},
  };
}

/** A flag beats the environment; `NO_COLOR` beats `FORCE_COLOR`; else only a terminal is coloured. */
function isColoured(output: Output, { env }: CliHost, choice: ColorChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0') return true;
  return output.isTTY;
}

/** The diagnostics of a command that got no further: in JSON they are its result. */
export function printDiagnostics(terminal: Terminal, diagnostics: readonly ShownDiagnostic[]): void {
  printJson(terminal, renderDiagnosticsJson);
  printWarnings(terminal, diagnostics);
}

/** Diagnostics of a command that goes on: its result is still to come. */
export function printWarnings(terminal: Terminal, diagnostics: readonly ShownDiagnostic[]): void {
  const { format, host, errorPaint, told } = terminal;
  told.push(...diagnostics);
  if (diagnostics.length > 0 && format === 'text')
    host.stderr.write(`${renderDiagnostics(diagnostics, { paint: errorPaint })}\n`);
}

/** A line about something that is amiss and stops nothing. */
export function printNote(terminal: Terminal, message: string): void {
  terminal.told.push({ code: 'note', severity: 'warning', class: 'failure', message });
  if (terminal.format === 'text') terminal.host.stderr.write(`${message}\n`);
}

/** Makes this the answer, where JSON was asked for; it is written when the command has ended, with all that it told. */
export function printJson({ format, pending }: Terminal, answer: JsonAnswer): void {
  if (format === 'json') pending.answer = answer;
}

/** The end of a command that was asked for JSON: whoever reads it gets an answer, also when there is nothing but errors. */
export function answerInJson({ format, host, told, pending }: Terminal, code: ExitCode): void {
  if (format !== 'json') return;
  if (pending.answer === undefined && told.length === 0) {
    if (code === exitCodes.done) return;
    const how = code === exitCodes.interrupted ? 'interrupted' : 'stopped';
    told.push(failure(how, how));
  }
  host.stdout.write(`${(pending.answer ?? renderDiagnosticsJson)(told)}\n`);
}

/** What ended the command, or a part of it. In JSON it stands in the answer and nowhere else. */
export function printError(terminal: Terminal, code: DiagnosticCode, message: string): void {
  terminal.told.push(failure(code, message));
  if (terminal.format === 'text')
    terminal.host.stderr.write(`${terminal.errorPaint.error('error')}: ${message}\n`);
}

function failure(code: DiagnosticCode, message: string): Diagnostic {
  return { code, severity: 'error', class: 'failure', message };
}
