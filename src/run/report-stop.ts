/** The end of a command that stops: turns what was thrown into exit code, text and JSON. An error without a code here is a bug. */
import { NoRights, CodeHostRefusal } from '../api/code-host/comments.ts';
import { CodeHostError } from '../api/code-host/pull-requests.ts';
import { ProxyError } from '../api/transport/proxy.ts';
import { ArchiveError } from '../audit-trail/archive.ts';
import { ApprovalsError, SigningError } from '../model/approval.ts';
import { TrailError } from '../model/audit-trail.ts';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { systemErrorMessage } from '../model/error-message.ts';
import { WireError } from '../model/http.ts';
import {
  DamagedLedger,
  LedgerAddressError,
  LedgerConflict,
  LedgerError,
  LedgerMoved,
  LockLost,
} from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { CommandStop } from './command-stop.ts';
import { DeadlineError } from './stop-signals.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { LedgerWaitEnded } from './ledger-waits.ts';
import { CopyError } from './moved-ledger.ts';
import { noteError, printDiagnostics, printError, type Terminal } from './terminal.ts';

/** Reports why a command stops. A bug is thrown again. */
export function reportStop(error: unknown, terminal: Terminal): ExitCode {
  const stop = stopOf(error);
  if (stop === undefined) throw error;
  const { code, exit, isPrinted, problems } = stop;
  if (problems !== undefined) printDiagnostics(terminal, problems);
  else if (code !== undefined) (isPrinted ? noteError : printError)(terminal, code, inPlainWords(stop));
  return exit;
}

/** The stop that an error leads to, when user or environment can cause it; undefined for a bug. */
export function stopOf(error: unknown): CommandStop | undefined {
  if (error instanceof CommandStop) return error;
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  if (code === undefined) return undefined;
  const exit = code === 'interrupted' ? exitCodes.interrupted : exitCodes.error;
  return new CommandStop(code, fileError(error) ?? error.message, {
    exit: error instanceof LedgerAddressError ? exitCodes.invalid : exit,
    cause: error.cause,
  });
}

/** The first match counts, so a subclass must come before its superclass. */
const byClass: readonly (readonly [new (...given: never[]) => Error, DiagnosticCode])[] = [
  [WireError, 'request-failed'],
  [CodeHostRefusal, 'comment-refused'],
  [NoRights, 'comment-refused'],
  [CodeHostError, 'approvals-unreadable'],
  [ApprovalsError, 'approvals-unreadable'],
  [SigningError, 'approval-not-signed'],
  [ProxyError, 'proxy-address'],
  [TrailError, 'trail-unreadable'],
  [ArchiveError, 'archive-unusable'],
  [LedgerAddressError, 'ledger-address'],
  [LedgerMoved, 'ledger-moved'],
  [CopyError, 'ledger-move-unfinished'],
  [DamagedLedger, 'ledger-damaged'],
  [LedgerConflict, 'ledger-conflict'],
  [LockLost, 'lock-lost'],
  [LedgerError, 'ledger-unusable'],
];

/** Errors of the embedded service, matched by name, because its classes are loaded only when it is started. */
const byName: Readonly<Record<string, DiagnosticCode>> = {
  SeedError: 'seed-refused',
  SeedConflictError: 'seed-conflict',
  DataFileError: 'data-file-refused',
  DialectError: 'dialect-not-served',
  EditionError: 'edition-not-served',
};

function codeOf(error: Error): DiagnosticCode | undefined {
  if (error instanceof LedgerWaitEnded) return error.interrupted ? 'interrupted' : 'deadline';
  const [, code] = byClass.find(([type]) => error instanceof type) ?? [];
  if (code === 'request-failed' && isLate(error)) return 'deadline';
  return code ?? byName[error.name] ?? ('syscall' in error ? 'system-error' : undefined);
}

/** Whether the deadline of the run ended the request: then the error has a DeadlineError as cause. */
function isLate({ cause }: Error): boolean {
  return cause instanceof DeadlineError || (cause instanceof Error && isLate(cause));
}

/** For a system error about a file: names the file, and says what to do. */
function fileError(error: NodeJS.ErrnoException): string | undefined {
  const explanation = systemErrorMessage(error);
  if (!('syscall' in error) || explanation === undefined || error.path === undefined) return undefined;
  const done = { read: 'read', write: 'written' }[error.syscall ?? ''] ?? 'used';
  return `${quoted(error.path)} cannot be ${done}: ${explanation}`;
}

/** Replaces the text of the system at the end of a message by the cause and what to do. */
function inPlainWords({ message, cause }: Error): string {
  const explanation = systemErrorMessage(cause);
  if (explanation === undefined || !(cause instanceof Error) || !message.endsWith(cause.message))
    return message;
  return `${message.slice(0, -cause.message.length)}${explanation}`;
}
