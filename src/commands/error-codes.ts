/** The codes of thrown errors that the user or the environment can cause. Every other thrown error is a bug. */
import { ArchiveError } from '../audit-trail/archive.ts';
import { ProxyError } from '../api/transport/dispatcher.ts';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { DamagedLedger, LedgerAddressError, LedgerConflict, LedgerError, LockLost } from '../model/ledger.ts';
import { TrailError } from '../model/audit-trail.ts';
import { WireError } from '../model/http.ts';
import { CursorFileError } from './audit/follow-trail.ts';
import { ArchiveAddressError } from '../run/open-archive.ts';
import { LedgerWaitEnded } from '../run/ledger-waits.ts';
import { EmbeddedDialectError, SeedFileError } from '../run/embedded-service.ts';
import { AdminTokenError, TlsFileError } from './serve/serve-files.ts';
import { InputWaitEnded } from '../run/read-input.ts';
import { SecretError } from '../run/read-secret.ts';
import { DeadlineError } from '../run/deadline.ts';

/** The first match counts, so a subclass must come before its superclass. */
const byClass: readonly (readonly [new (...given: never[]) => Error, DiagnosticCode])[] = [
  [WireError, 'request-failed'],
  [ProxyError, 'proxy-address'],
  [SecretError, 'secret-unreadable'],
  [SeedFileError, 'seed-unreadable'],
  [EmbeddedDialectError, 'dialect-not-served'],
  [AdminTokenError, 'admin-token-place'],
  [TlsFileError, 'tls-files'],
  [TrailError, 'trail-unreadable'],
  [CursorFileError, 'cursor-file'],
  [ArchiveAddressError, 'archive-address'],
  [ArchiveError, 'archive-unusable'],
  [LedgerAddressError, 'ledger-address'],
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

/** The code of an error; undefined for a bug. */
export function codeOfError(error: unknown): DiagnosticCode | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof LedgerWaitEnded || error instanceof InputWaitEnded)
    return error.interrupted ? 'interrupted' : 'deadline';
  const [, code] = byClass.find(([type]) => error instanceof type) ?? [];
  if (code === 'request-failed' && isLate(error)) return 'deadline';
  return code ?? byName[error.name] ?? ('syscall' in error ? 'system-error' : undefined);
}

/** Whether the deadline of the run ended the request: then the error has a DeadlineError as cause. */
function isLate({ cause }: Error): boolean {
  return cause instanceof DeadlineError || (cause instanceof Error && isLate(cause));
}
