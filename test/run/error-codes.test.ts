// The code with which a run ends after an exception: every error that is not a bug has its own code.
import { expect, it } from 'vitest';
import { LedgerWaitEnded } from '../../src/run/ledger-waits.ts';
import { CommandStop } from '../../src/run/command-stop.ts';
import { DeadlineError } from '../../src/run/stop-signals.ts';
import { stopOf } from '../../src/run/report-stop.ts';
import { ProxyError } from '../../src/api/transport/proxy.ts';
import {
  DamagedLedger,
  LedgerAddressError,
  LedgerConflict,
  LedgerError,
  LockLost,
  WaitEnded,
} from '../../src/model/ledger.ts';
import { WireError } from '../../src/model/http.ts';
import { DataFileError } from '../../src/server/kernel/database.ts';
import { SeedError } from '../../src/server/seed/read-seed.ts';
import { SeedConflictError } from '../../src/server/seed/seeding.ts';

const request = { method: 'GET', url: 'https://service.test', sent: false };
const late = new Error('aborted', { cause: new DeadlineError(1) });

it.each([
  ['a request that failed', new WireError('reset', request), 'request-failed'],
  ['a request that the deadline ended', new WireError('late', { ...request, cause: late }), 'deadline'],
  ['a proxy without address', new ProxyError('http_proxy'), 'proxy-address'],
  ['a step that stops the command', new CommandStop('seed-unreadable', 'no YAML'), 'seed-unreadable'],
  ['a ledger that cannot be reached', new LedgerError('gone'), 'ledger-unusable'],
  ['a ledger whose wait was ended', new WaitEnded(), 'ledger-unusable'],
  ['a ledger without address', new LedgerAddressError('no address'), 'ledger-address'],
  ['a damaged ledger', new DamagedLedger('damaged'), 'ledger-damaged'],
  ['a ledger that moved', new LedgerConflict('here', { found: 2, expected: 1 }), 'ledger-conflict'],
  ['a lost lock', new LockLost('it is gone'), 'lock-lost'],
  [
    'a wait that a person ended',
    new LedgerWaitEnded('', { interrupted: true, unsure: false }),
    'interrupted',
  ],
  [
    'a wait that the deadline ended',
    new LedgerWaitEnded('', { interrupted: false, unsure: false }),
    'deadline',
  ],
  ['an invalid seed', new SeedError(['no seed']), 'seed-refused'],
  ['a seed with a conflict', new SeedConflictError('other'), 'seed-conflict'],
  ['an invalid data file', new DataFileError('data.db', 'no database'), 'data-file-refused'],
  ['a file that cannot be opened', Object.assign(new Error('EACCES'), { syscall: 'open' }), 'system-error'],
])('%s has its code', (_, error, code) => {
  expect(stopOf(error)?.code).toBe(code);
});

it.each([
  ['a person ends a wait', new LedgerWaitEnded('', { interrupted: true, unsure: false }), 130],
  ['the deadline ends a wait', new LedgerWaitEnded('', { interrupted: false, unsure: false }), 1],
  ['the address of the ledger is invalid', new LedgerAddressError('no address'), 7],
  ['a step names the exit code', new CommandStop('locked', 'by another apply', { exit: 8 }), 8],
])('the error has its own exit code when %s', (_, error, exit) => {
  expect(stopOf(error)?.exit).toBe(exit);
});

it('a bug has no code', () => {
  expect(stopOf(new TypeError('x is undefined'))).toBeUndefined();
  expect(stopOf('thrown text')).toBeUndefined();
});
