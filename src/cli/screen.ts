/** How one command writes: format, colours and width decided once. Results go to stdout, everything else to stderr. */
import type { Diagnostic } from '../model/diagnostic.ts';
import { renderDiagnosticsJson } from '../report/diagnostics-json.ts';
import { renderDiagnostics } from '../report/diagnostics-text.ts';
import { colourful, type Paint, plain } from '../report/paint.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Output, World } from './world.ts';

export type Format = 'text' | 'json';
export type ColorChoice = 'auto' | 'always' | 'never';

export interface Screen {
  readonly format: Format;
  readonly world: World;
  readonly paint: Paint;
  /** for what goes to stderr */
  readonly errorPaint: Paint;
  readonly width: number | undefined;
  /** what has been told as an error, in order: for whoever asked for JSON it is the answer when there is no other */
  readonly errors: string[];
}

export function openScreen(world: World, options: { format?: Format; color?: ColorChoice }): Screen {
  const paintFor = (output: Output) =>
    isColoured(output, world, options.color ?? 'auto') ? colourful : plain;
  return {
    format: options.format ?? 'text',
    world,
    paint: paintFor(world.stdout),
    errorPaint: paintFor(world.stderr),
    width: world.stdout.columns,
    errors: [],
  };
}

/** A flag beats the environment; `NO_COLOR` beats `FORCE_COLOR`; else only a terminal is coloured. */
function isColoured(output: Output, { env }: World, choice: ColorChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0') return true;
  return output.isTTY;
}

/** In JSON the diagnostics are the result of a command that got no further; as text they are for stderr. */
export function printDiagnostics(screen: Screen, diagnostics: readonly Diagnostic[]): void {
  const { world } = screen;
  if (screen.format === 'json') world.stdout.write(`${renderDiagnosticsJson(diagnostics)}\n`);
  else printWarnings(screen, diagnostics);
}

/** Diagnostics of a command that goes on: its result is still to come, so they are text on stderr in every format. */
export function printWarnings({ world, errorPaint }: Screen, diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0)
    world.stderr.write(`${renderDiagnostics(diagnostics, { paint: errorPaint })}\n`);
}

/**
 * The end of a command that was asked for JSON and has printed none: whoever reads it gets an answer all the same. Errors
 * stand there as diagnostics.
 */
export function answerInJson({ format, world, errors }: Screen, code: ExitCode): void {
  if (format !== 'json' || world.stdout.hasWritten() || code === exitCodes.done) return;
  const told = errors.length > 0 ? errors : [code === exitCodes.interrupted ? 'interrupted' : 'stopped'];
  const diagnostics = told.map(
    (message) => ({ code: 'error', severity: 'error', class: 'failure', message }) as const,
  );
  world.stdout.write(`${renderDiagnosticsJson(diagnostics)}\n`);
}

export function printError(screen: Screen, message: string): void {
  screen.errors.push(message);
  screen.world.stderr.write(`${screen.errorPaint.error('error')}: ${message}\n`);
}
