/**
 * The one way in which a command ends before its work is done: a step throws a CommandStop, and `reportStop` turns it into exit
 * code, text and JSON. A step therefore returns its value only, and what must follow it in any case is in a `finally`.
 */
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import type { ShownDiagnostic } from '../model/diagnostic.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';

interface StopOptions extends ErrorOptions {
  /** 1 when absent */
  readonly exit?: ExitCode;
  /** it was printed as text when it happened: only the JSON answer lacks it */
  readonly isPrinted?: boolean;
}

export class CommandStop extends Error {
  override readonly name = 'CommandStop';
  readonly exit: ExitCode;
  /** undefined when the reason has been reported */
  readonly code: DiagnosticCode | undefined;
  readonly isPrinted: boolean;
  /** problems that are the result of the command; then there is no code */
  readonly problems: readonly ShownDiagnostic[] | undefined;

  constructor(
    code: DiagnosticCode | undefined,
    message: string,
    { exit = exitCodes.error, isPrinted = false, ...options }: StopOptions = {},
    problems?: readonly ShownDiagnostic[],
  ) {
    super(message, options);
    this.exit = exit;
    this.code = code;
    this.isPrinted = isPrinted;
    this.problems = problems;
  }

  /** The reason has been reported. */
  static reported(exit: ExitCode): CommandStop {
    return new CommandStop(undefined, 'reported', { exit });
  }

  /** The problems are the result of the command, such as those of invalid manifests. */
  static ofProblems(problems: readonly ShownDiagnostic[]): CommandStop {
    const exit = exitCodeOf(problems) || exitCodes.error;
    return new CommandStop(undefined, 'problems', { exit }, problems);
  }
}
