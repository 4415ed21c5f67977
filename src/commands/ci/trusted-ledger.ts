/**
 * Refuses a ledger that a person who merges a commit could change, and a ledger in git that replaces one in a database, because everybody
 * with push rights can write it. The ledger says what was applied last, and `ci apply` compares each commit with that.
 */
import { realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
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
import type { StackSettingsInput } from '../../run/prepare-run.ts';

/** @throws LedgerError for a ledger in the repository or in a job's checkout, CommandStop if the database of this job has another ledger */
export async function refuseChosenLedger(
  stack: Stack,
  { time, ledger: { known } }: StackSettingsInput,
  { host, applies }: { readonly host: CliHost; readonly applies: boolean },
): Promise<void> {
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
      `${quoted(file)} is in the repository, so a person who merges a commit decides what was applied last: keep the ledger in git or PostgreSQL, and its address outside of the repository`,
    );
  // A later job would not find a ledger in this checkout. If one was found, the checkout stays between jobs.
  if (applies && ledger.in === 'local' && file !== undefined && !known && isJob(env))
    if (await isInCheckout(directory, resolve(directory, file)))
      throw new LedgerError(
        `nothing was written: the ledger of stack ${quoted(name)} would be lost with the checkout of this job: write "ledger: git" into the stack file, or name a folder that stays on this machine, such as "ledger: { folder: /var/lib/trueup }"`,
      );
  const other = ledger.in === 'postgres' ? undefined : await findInDatabase({ stack, host, time });
  if (other !== undefined)
    throw new CommandStop(
      'ledger-elsewhere',
      `nothing was written: stack ${quoted(name)} has its ledger in ${describePlace(other, name)}, and its stack file names another place: move the ledger first with ${quoted(moveCommand(placeOf(stack)))}, or write ${quoted('ledger: postgres')} into the stack file again`,
      { exit: exitCodes.conflict },
    );
}

function isJob(env: CliHost['env']): boolean {
  return env['GITHUB_ACTIONS'] === 'true' || env['GITLAB_CI'] === 'true';
}

/** Whether the file is in the checkout, and not behind a link that leads out of it. */
async function isInCheckout(directory: string, path: string): Promise<boolean> {
  const root = await realpath((await findRepository(directory)).root);
  let folder = dirname(path);
  for (;;) {
    const real = await realpath(folder).catch(() => undefined);
    if (real !== undefined) return !relative(root, real).startsWith('..');
    folder = dirname(folder);
  }
}

/** Whether git tracks the file, also if the path is a link to a tracked file. */
async function isTracked(at: GitContext, path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return false;
  const index = await readIndex(
    at,
    `:(top,literal)${slashes(relative((await findRepository(at.directory)).root, real))}`,
  );
  return !('why' in index) && index.length > 0;
}
