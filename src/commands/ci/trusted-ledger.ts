/**
 * The ledger says what was applied last, and so with what a commit is compared. Whoever merges a commit must neither write it, nor put one
 * that everyone who may push can write in the place of one in a database.
 */
import { realpath } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { stateFolderName } from '../../files/write-file.ts';
import { readIndex } from '../../ledger/git/checkout.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import { findRepository, slashes } from '../../manifest/files/find-stack.ts';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import { findInDatabase, placeOf } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { describePlace, moveCommand } from '../../run/moved-ledger.ts';
import type { SettleInput } from '../../run/prepare-run.ts';

/** @throws LedgerError for a ledger in the repository, CommandStop where the database of this job has another one */
export async function refuseChosenLedger(stack: Stack, { time }: SettleInput, host: CliHost): Promise<void> {
  const { ledger = { in: 'local' as const }, directory, name } = stack;
  const { env, secrets } = host;
  const at = { directory, env, secrets, signal: time.runEnded };
  const file =
    ledger.in === 'local'
      ? join(ledger.folder ?? stateFolderName, `${name}.ledger.json`)
      : ledger.in === 'postgres' && 'file' in ledger.url
        ? ledger.url.file
        : undefined;
  if (file !== undefined && (await isTracked(at, resolve(directory, file))))
    throw new LedgerError(
      `${quoted(file)} is in the repository, so whoever merges a commit decides what was applied last: keep the ledger in git or PostgreSQL, and its address outside of the repository`,
    );
  const other = ledger.in === 'postgres' ? undefined : await findInDatabase({ stack, host, time });
  if (other !== undefined)
    throw new CommandStop(
      'ledger-elsewhere',
      `nothing was written: stack ${quoted(name)} has its ledger in ${describePlace(other, name)}, and its stack file names another place: move the ledger first with ${quoted(moveCommand(placeOf(stack)))}, or write ${quoted('ledger: postgres')} into the stack file again`,
      { exit: exitCodes.conflict },
    );
}

/** Also behind a link. */
async function isTracked(at: GitContext, path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return false;
  const index = await readIndex(
    at,
    `:(top,literal)${slashes(relative((await findRepository(at.directory)).root, real))}`,
  );
  return !('why' in index) && index.length > 0;
}
