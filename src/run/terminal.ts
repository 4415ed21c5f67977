/**
 * The output of one command, with format, colours and width decided once. As text, results go to stdout and everything else to
 * stderr. A document, such as JSON, is one value on stdout at the end, with all problems in it; JSON lines are written as they
 * happen.
 */
import type { OutcomeKind } from '../model/change.ts';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import type { Diagnostic, Place, ShownDiagnostic } from '../model/diagnostic.ts';
import { diagnosticEvent, type EventMembers, renderEventJson } from '../report/json/apply-events.ts';
import { type CheckedCounts, renderDiagnosticsJson } from '../report/json/render-json.ts';
import { renderDiagnostics } from '../report/text/diagnostics.ts';
import { colourful, type Paint, plain } from '../report/text/layout.ts';
import type { Written } from '../report/text/outcomes.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { linked, supportsLinks } from './links.ts';
import { isCiJob, type Output } from './progress.ts';

/** In the order of help texts; a command takes some of them. */
export const formats = ['text', 'json', 'jsonl', 'markdown', 'html', 'github', 'sarif', 'mermaid'] as const;
export type Format = (typeof formats)[number];
export type ColorChoice = 'auto' | 'always' | 'never';

export interface Terminal {
  readonly format: Format;
  readonly host: CliHost;
  readonly paint: Paint;
  /** colours for stderr */
  readonly errorPaint: Paint;
  readonly width: number | undefined;
  /** all reported problems, in order; they are a part of the answer */
  readonly reported: ShownDiagnostic[];
  /** the events on stdout; only with the format `jsonl` */
  readonly events?: EventStream;
  readonly result: CommandResult;
}

/** What is known of the answer before the command ends. */
interface CommandResult {
  answer?: Answer;
  /** the problems are the result, and this text is printed if there are none */
  said?: string;
  /** problems that are a part of the result, and so not among the reported ones */
  found?: readonly ShownDiagnostic[];
  /** the outputs for later steps of the same CI job */
  outputs?: Readonly<Record<string, string>>;
  /** how many changes of an apply have each outcome */
  outcomes?: Record<OutcomeKind, number>;
  /** what the apply has written */
  written?: Written;
  /** the stack file, as the user would type it */
  stackFile?: string;
  /** the next steps, in place of those that a plan shows by default: sentences or clauses */
  next?: readonly string[] | undefined;
}

/** Renders the result of a command; asynchronous if its format loads more code. @param reported the problems to include */
type Answer = (reported: readonly ShownDiagnostic[]) => string | Promise<string>;

export function openTerminal(host: CliHost, options: { format?: Format; color?: ColorChoice }): Terminal {
  const paintFor = (output: Output) => {
    if (!isColoured(output, host, options.color ?? 'auto')) return plain;
    return supportsLinks(output, { env: host.env, isCi: isCiJob(host.env) }) ? withLinks(host) : colourful;
  };
  return {
    format: options.format ?? 'text',
    host: host,
    paint: paintFor(host.stdout),
    errorPaint: paintFor(host.stderr),
    width: host.stdout.columns,
    reported: [],
    result: {},
    ...(options.format === 'jsonl' ? { events: openEventStream(host) } : {}),
  };
}

/** Colours and links: names become links once the run knows the pages of its targets. */
function withLinks({ pages }: CliHost): Paint {
  const link: Paint['link'] = (name, address) => {
    const page = pages.pageOf(address);
    return page === undefined ? name : linked(name, page);
  };
  return { ...colourful, link };
}

/** A flag overrides the environment; `NO_COLOR` overrides `FORCE_COLOR`; otherwise only a terminal is coloured. */
function isColoured(output: Output, { env }: CliHost, choice: ColorChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0') return true;
  return output.isTTY;
}

/** Where the result goes as text for people: to stderr if stdout has a stream of events, nowhere if it has a document. */
export function textOutput({ format, host }: Terminal): Output | undefined {
  if (format === 'text' || format === 'github') return host.stdout;
  return format === 'jsonl' ? host.stderr : undefined;
}

/** Prints the diagnostics of a command that stops here: in a document they are its result. @param about.said if there are none */
export function printDiagnostics(
  terminal: Terminal,
  diagnostics: readonly ShownDiagnostic[],
  { said = 'No problems', checked }: { readonly said?: string; readonly checked?: CheckedCounts } = {},
): void {
  terminal.result.said = said;
  printJson(terminal, (shown) => renderDiagnosticsJson(shown, checked));
  printWarnings(terminal, diagnostics);
}

/** Prints diagnostics of a command that continues. */
export function printWarnings(terminal: Terminal, diagnostics: readonly ShownDiagnostic[]): void {
  const { format, host, errorPaint } = terminal;
  const shown = cleanDiagnostics(diagnostics, host);
  keep(terminal, shown);
  if (shown.length > 0 && format !== 'json')
    host.stderr.write(`${renderDiagnostics(shown, { paint: errorPaint })}\n`);
}

/** Prints a line about something that is wrong but does not stop the command. */
export function printNote(terminal: Terminal, message: string): void {
  keep(terminal, [{ code: 'note', severity: 'warning', class: 'failure', message }]);
  if (terminal.format !== 'json') terminal.host.stderr.write(`${message}\n`);
}

/** Sets the JSON answer, when JSON was asked for; it is written at the end of the command, with all reported problems. */
export function printJson(terminal: Terminal, answer: Answer): void {
  printDocument(terminal, { json: answer });
}

/** Sets the answer in the format that was asked for, if it is one of these. The summary of a step of GitHub is Markdown. */
export function printDocument(
  { format, result }: Terminal,
  answers: Partial<Readonly<Record<Format, Answer>>>,
): void {
  const answer = answers[format === 'github' ? 'markdown' : format];
  if (answer !== undefined) result.answer = answer;
}

/** Makes sure that a run that failed, or was stopped, has reported at least one problem. */
export function reportEnd(terminal: Terminal, code: ExitCode): void {
  if (terminal.result.answer !== undefined || terminal.reported.length > 0 || code === exitCodes.done) return;
  const how = code === exitCodes.interrupted ? 'interrupted' : 'stopped';
  keep(terminal, [failure(how, how)]);
}

/** Reports the error that ended the command, or a part of it. In JSON it is only in the answer. */
export function printError(terminal: Terminal, code: DiagnosticCode, message: string): void {
  noteError(terminal, code, message);
  if (terminal.format !== 'json')
    terminal.host.stderr.write(`${terminal.errorPaint.error('error')}: ${message}\n`);
}

/** Like `printError`, for an error that has been printed already: adds it only to the answer. */
export function noteError(terminal: Terminal, code: DiagnosticCode, message: string): void {
  keep(terminal, [failure(code, message)]);
}

function keep({ reported, events }: Terminal, diagnostics: readonly ShownDiagnostic[]): void {
  for (const diagnostic of diagnostics) {
    reported.push(diagnostic);
    events?.write(diagnosticEvent(diagnostic));
  }
}

function failure(code: DiagnosticCode, message: string): Diagnostic {
  return { code, severity: 'error', class: 'failure', message };
}

// The lines of `apply --format jsonl`: each event is written at once, so that a reader can follow the progress.

interface EventStream {
  write(event: EventMembers): void;
}

/** The first line is written with the first event. */
function openEventStream({ stdout, now, version }: CliHost): EventStream {
  let seq = 0;
  const line = (event: EventMembers) => {
    stdout.write(`${renderEventJson(event, { seq, time: now() })}\n`);
    seq += 1;
  };
  return {
    write: (event) => {
      if (seq === 0) line({ type: 'started', trueup: version });
      line(event);
    },
  };
}

// What every command gets: its host and its terminal.

export interface CommandContext {
  readonly host: CliHost;
  readonly terminal: Terminal;
}

// Diagnostics as they are printed: first without the secrets that the run knows, then with a long value cut. In the other order, a
// part of a secret could be left, which redaction does not recognize.

export function cleanDiagnostics(
  diagnostics: readonly ShownDiagnostic[],
  host: Pick<CliHost, 'clean' | 'secrets'>,
): ShownDiagnostic[] {
  return diagnostics.map((diagnostic) => {
    const { place, found, related, ...texts } = diagnostic;
    return {
      ...host.clean(texts),
      ...(place && { place: cleanPlace(place, host) }),
      ...(found !== undefined && { found: shortened(host.clean([found])[0] ?? '') }),
      ...(related && {
        related: related.map((other) => ({
          ...host.clean({ message: other.message }),
          ...(other.place && { place: cleanPlace(other.place, host) }),
        })),
      }),
    };
  });
}

/** The place without secrets. Line, column and length stay those of the file. */
function cleanPlace(place: Place, { clean, secrets }: Pick<CliHost, 'clean' | 'secrets'>): Place {
  const { column, length, shown = { start: column - 1, end: column - 1 + length } } = place;
  const { text, ...moved } = secrets.redactLine(place.text, shown);
  const file = clean([place.file])[0] ?? '';
  return text === place.text ? { ...place, file } : { ...place, file, text, shown: moved };
}

const maxValue = 80;

/** Cuts a long value in quotes at the end of a text: `the text "aaa…"`. */
function shortened(found: string): string {
  const [, before = '', value = ''] = /^([^"]*")((?:[^"\\]|\\.)*)"$/s.exec(found) ?? [];
  if (value.length <= maxValue) return found;
  const [beginning = ''] = /^(?:[^\\]|\\u[\da-f]{4}|\\.){0,79}/su.exec(value) ?? [];
  return `${before}${beginning}…"`;
}
