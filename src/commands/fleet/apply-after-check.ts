/** After a check that found something to apply: applies the stack when its turn comes, or records why it is not applied. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { messageOf } from '../../model/error-message.ts';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { FoundCheck } from './check-records.ts';
import { CheckRates } from './rates/check-rates.ts';
import type { Checkout } from './checkouts.ts';
import type { Fleet } from './fleet-file.ts';
import { databaseTime, makeStackDue } from './schedule.ts';
import type { StackId } from './stack-id.ts';
import type { StackWork } from './stack-process.ts';
import {
  type ApplyEnd,
  beginApply,
  databaseId,
  dropApply,
  endApply,
  endWait,
  isBackingOff,
  noteBegun,
  noteWait,
  renewLease,
  type Wait,
  wasCutShort,
  wasJustApplied,
} from './apply/apply-records.ts';
import { type ActiveFreeze, activeFreeze } from './apply/freezes.ts';
import { applyPause } from './apply/paused-targets.ts';
import { applyStack, type ApplyResult } from './apply-stack.ts';
import type { ApplySettings } from './apply/settings.ts';

interface Database {
  run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
}

export interface ApplyContext extends Omit<StackWork, 'checkout' | 'path'> {
  readonly fleet: Pick<Fleet, 'name' | 'freezes' | 'quotas'>;
  readonly database: Database;
  /** number of the turn (`takeTurn`), or of the check before the turn */
  readonly attempt: string;
  /** aborted when another worker has the job */
  readonly claim: AbortSignal;
  /** the newest commit of the branch */
  newestCommit(): Promise<string>;
  /** Whether the files of the stack are the same at both commits. */
  hasSameFiles(one: string, other: string): Promise<boolean>;
  /** Reads the repository at its newest commit. @returns why repositories could not be read, by their names */
  readRepository(): Promise<ReadonlyMap<string, string>>;
  /** Calls the work with a checkout that nothing else uses. */
  withCheckout<T>(commit: string, work: (checkout: Checkout) => Promise<T>): Promise<T>;
  /** returns the value without the secrets that the worker knows */
  readonly clean: <T extends object>(value: T) => T;
}

/** An `ApplyResult` whose wait also has the end of the freeze. */
type Result =
  | Exclude<ApplyResult, { readonly is: 'waits' }>
  | { readonly is: 'waits'; readonly wait: Omit<Wait, 'commit'> };

/** How the apply ended or why it waits, for the output of the worker. */
export type Applied =
  | { readonly is: 'ended'; readonly end: ApplyEnd }
  | { readonly is: 'waits'; readonly wait: Wait };

type DecisionContext = Pick<ApplyContext, 'attempt' | 'database' | 'fleet' | 'repository'>;

/** Decides whether to apply. @returns the commit to apply, or why the apply waits; undefined when nothing is applied now */
export async function decideApply(
  stack: StackId,
  found: FoundCheck,
  context: DecisionContext,
): Promise<string | Extract<Applied, { readonly is: 'waits' }> | undefined> {
  const { repository, database } = context;
  const settings = repository.apply;
  const { error, summary, commit } = found;
  if (error !== undefined || summary === undefined || commit === undefined) return undefined;
  const isWanted =
    settings?.includes(stack.path) === true &&
    (summary.pending > 0 || (settings.revertsDrift && summary.drifted > 0));
  if (!isWanted) {
    await database.run((client) => endWait(client, stack));
    return undefined;
  }
  if (await database.run((client) => isBackingOff(client, stack))) return undefined;
  if (summary.pending === 0 && (await database.run((client) => wasJustApplied(client, stack))))
    return undefined;
  const freeze = await findFreeze(stack, context);
  if (freeze !== undefined && freeze.except.length === 0)
    return await postpone(stack, { ...freezeWait(freeze), commit }, context);
  const paused = await database.run((client) => applyPause(client, stack));
  if (paused !== undefined) return await postpone(stack, { for: 'target', reason: paused, commit }, context);
  return commit;
}

/** Applies a stack now, if nothing forbids it. @returns undefined when nothing is applied, or when another worker does it */
export async function applyNow(
  stack: StackId,
  found: FoundCheck,
  context: ApplyContext,
): Promise<Applied | undefined> {
  const { repository, database } = context;
  const { apply: settings } = repository;
  const commit = await decideApply(stack, found, context);
  if (typeof commit !== 'string' || settings === undefined) return commit as Exclude<typeof commit, string>;
  const newest = await findNewest(commit, stack, context).catch((error: unknown) => ({
    problem: context.clean({ message: messageOf(error) }).message,
  }));
  if (newest === undefined) {
    await database.run((client) => makeStackDue(client, stack));
    return undefined;
  }
  if (typeof newest !== 'string')
    return await postpone(stack, { for: 'retry', reason: newest.problem, commit }, context);
  const id = await begin(stack, newest, context);
  if (id === undefined) return undefined;
  const result = await runApply(stack, { id, commit: newest, settings }, context);
  return await recordWithRetries(stack, result, { id, commit: newest }, context);
}

/**
 * Finds the commit to apply. If a newer commit changed the checked files, such as by a revert, they must not be applied.
 * @returns the newest commit if it has the checked files of the stack; undefined if its files must be checked first
 * @throws LedgerError when the repository cannot be read
 */
async function findNewest(
  commit: string,
  { repository }: StackId,
  context: ApplyContext,
): Promise<string | undefined> {
  const newest = await context.newestCommit();
  if (newest === commit || (await context.hasSameFiles(commit, newest))) return newest;
  const problem = (await context.readRepository()).get(repository);
  if (problem !== undefined) throw new LedgerError(problem);
  return undefined;
}

async function findFreeze(
  stack: StackId,
  { database, fleet, attempt }: Pick<ApplyContext, 'attempt' | 'database' | 'fleet'>,
): Promise<ActiveFreeze | undefined> {
  const now = await database.run(databaseTime);
  const freeze = activeFreeze(fleet.freezes, `${stack.repository}/${stack.path}`, now.getTime());
  if (freeze === undefined) return undefined;
  const { since } = freeze;
  const isResumed = await database.run((client) => wasCutShort(client, stack, { attempt, since }));
  return isResumed ? undefined : freeze;
}

function freezeWait({ name, until }: ActiveFreeze): Omit<Wait, 'commit'> {
  const reason = `the freeze ${quoted(name)} lasts until ${new Date(until).toISOString()}`;
  return { for: 'freeze', reason, until };
}

async function postpone(
  stack: StackId,
  wait: Wait,
  { database }: Pick<ApplyContext, 'database'>,
): Promise<Extract<Applied, { readonly is: 'waits' }>> {
  await database.transaction((client) => noteWait(client, stack, wait));
  return { is: 'waits', wait };
}

/** How often a worker asks, once a second, whether an earlier attempt has ended: for longer than a lease. */
const maxQuestions = 40;

/** Waits for an earlier attempt to end. @returns the id of the apply; undefined when another worker has the stack */
async function begin(
  stack: StackId,
  commit: string,
  { database, attempt, signal }: ApplyContext,
): Promise<string | undefined> {
  for (let questions = 0; questions < maxQuestions && !signal.aborted; questions += 1) {
    const begun = await database.transaction((client) => beginApply(client, stack, { attempt, commit }));
    if (begun.is === 'begun') return begun.id;
    if (begun.is === 'replaced') return undefined;
    await sleep(1000, undefined, { signal }).catch(() => {});
  }
  await database.run((client) => makeStackDue(client, stack));
  return undefined;
}

interface Running {
  readonly id: string;
  readonly commit: string;
}

async function runApply(
  stack: StackId,
  { id, commit, settings }: Running & { readonly settings: ApplySettings },
  context: ApplyContext,
): Promise<Result> {
  const { repository: name, path } = stack;
  const { database, fleet, attempt, claim, clean } = context;
  const run = {
    id: `fleet:${await database.run(databaseId)}/${name}/${path}`,
    attempt: Number(attempt),
    who: `fleet ${fleet.name}`,
  };
  const rates = new CheckRates(database, 'plan', (address) => fleet.quotas.get(address));
  const mayWrite = async () => {
    if (claim.aborted) return false;
    return await database.run((client) => renewLease(client, id)).catch(() => undefined);
  };
  const begins = () => database.run((client) => noteBegun(client, id)).catch(() => {});
  try {
    return await context.withCheckout(commit, async (checkout): Promise<Result> => {
      // A freeze may have begun meanwhile.
      const found = await findFreeze(stack, context);
      if (found !== undefined && found.except.length === 0) return { is: 'waits', wait: freezeWait(found) };
      const freeze = found && {
        ...found,
        begin: new Date(found.since).toISOString(),
        end: new Date(found.until).toISOString(),
      };
      const about = { checkout, path, settings, rates, mayWrite, begins };
      const result = clean(await applyStack({ ...context, ...about, grant: { run, freeze } }));
      return result.is === 'waits' && result.wait.for === 'freeze'
        ? { is: 'waits', wait: { ...result.wait, until: found?.until } }
        : result;
    });
  } catch (error) {
    const reason = clean({ message: messageOf(error) }).message;
    return { is: 'ended', end: { outcome: 'failed', reason, people: [] } };
  } finally {
    await rates.end();
  }
}

/** Records the result, and tries again after errors. What the apply wrote is in the ledger, so a late record loses nothing. */
async function recordWithRetries(
  stack: StackId,
  result: Result,
  running: Running,
  context: ApplyContext,
): Promise<Applied | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await record(stack, result, running, context);
    } catch (error) {
      const max = context.signal.aborted ? maxTriesAtEnd : maxTries;
      if (!(error instanceof CommandStop) || tries >= max) throw error;
      await sleep(1000);
    }
  }
}

/** Tries to record a result, one a second. A database may be unavailable for minutes, but a worker that is stopping cannot wait so long. */
const maxTries = 300;
const maxTriesAtEnd = 5;

async function record(
  stack: StackId,
  result: Result,
  running: Running,
  { database }: ApplyContext,
): Promise<Applied | undefined> {
  return await database.transaction((client) =>
    result.is === 'waits'
      ? recordWait(client, stack, result.wait, running)
      : recordEnd(client, stack, result.end, running),
  );
}

async function recordWait(
  client: PostgresClient,
  stack: StackId,
  refused: Omit<Wait, 'commit'>,
  { id, commit }: Running,
): Promise<Applied | undefined> {
  if (!(await dropApply(client, id))) return undefined;
  const wait = { ...refused, commit };
  await noteWait(client, stack, wait);
  return { is: 'waits', wait };
}

async function recordEnd(
  client: PostgresClient,
  stack: StackId,
  end: ApplyEnd,
  { id, commit }: Running,
): Promise<Applied | undefined> {
  const { outcome, reason = outcome, changes } = end;
  // Nothing was written, such as when the only change is a delete of a locked workspace. Applying again at once would change nothing.
  if (outcome === 'applied' && changes === 0) {
    if (await dropApply(client, id)) await endWait(client, stack);
    return undefined;
  }
  if (!(await endApply(client, id, end))) return undefined;
  if (outcome === 'applied') await endWait(client, stack);
  else if (outcome !== 'interrupted') await noteWait(client, stack, { for: 'retry', reason, commit });
  // The next check shows what is live now.
  if (outcome !== 'failed') await makeStackDue(client, stack);
  return { is: 'ended', end };
}
