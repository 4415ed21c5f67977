/**
 * The code of what ends a command by being thrown although it is no bug: what the user or the environment can cause. The one
 * list of such errors.
 */
import { ProxyError } from '../../http/transport/open-dispatcher.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import {
  DamagedLedger,
  LedgerAddressError,
  LedgerConflict,
  LedgerError,
  LockLost,
} from '../../model/stack/ledger.ts';
import { WireError } from '../../model/wire.ts';
import { GivenUp } from '../ledger/ledger-waits.ts';
import { InputGivenUp } from '../run/read-input.ts';
import { SecretError } from '../run/read-secret.ts';
import { SeedFileError } from '../run/seed-file.ts';
import { DeadlineError } from '../stop/deadline.ts';

/** The first that fits counts: a class stands before the one that it extends. */
const byClass: readonly (readonly [new (...given: never[]) => Error, DiagnosticCode])[] = [
  [WireError, 'request-failed'],
  [ProxyError, 'proxy-address'],
  [SecretError, 'secret-unreadable'],
  [SeedFileError, 'seed-unreadable'],
  [LedgerAddressError, 'ledger-address'],
  [DamagedLedger, 'ledger-damaged'],
  [LedgerConflict, 'ledger-conflict'],
  [LockLost, 'lock-lost'],
  [LedgerError, 'ledger-unusable'],
];

/** What the embedded service says of its files: known by name, for it is loaded only when it is started. */
const byName: Readonly<Record<string, DiagnosticCode>> = {
  SeedError: 'seed-refused',
  SeedConflictError: 'seed-conflict',
  DataFileError: 'data-file-refused',
};

/** Undefined for a bug. */
export function codeOfError(error: unknown): DiagnosticCode | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof GivenUp || error instanceof InputGivenUp)
    return error.interrupted ? 'interrupted' : 'deadline';
  const [, code] = byClass.find(([type]) => error instanceof type) ?? [];
  if (code === 'request-failed' && isLate(error)) return 'deadline';
  return code ?? byName[error.name] ?? ('syscall' in error ? 'system-error' : undefined);
}

/** A request that the time of the run has ended says so in its cause. */
function isLate({ cause }: Error): boolean {
  return cause instanceof DeadlineError || (cause instanceof Error && isLate(cause));
}
