/** What a worker does after a check that found something to apply: it applies, or records why it does not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { messageOf } from '../../../model/error-message.ts';
import type { FoundCheck } from '../check-records.ts';
import { CheckRates } from '../check-rates.ts';
import type { Checkout } from '../checkouts.ts';
import type { Fleet } from '../fleet-file.ts';
import { databaseTime, makeStackDue } from '../schedule.ts';
import type { StackId } from '../stack-id.ts';
import type { StackWork } from '../stack-process.ts';
import {
  type ApplyEnd,
  beginApply,
  databaseId,
  dropApply,
  endApply,
  endWait,
  isBackingOff,
  noteWait,
  renewLease,
  type Wait,
  wasCutShort,
} from './apply-records.ts';
import { type ActiveFreeze, activeFreeze } from './freezes.ts';
import { applyStack, type ApplyResult } from './run-apply.ts';
import type { ApplySettings } from './settings.ts';

interface Database {
  run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
}

export interface ApplyContext extends Omit<StackWork, 'checkout' | 'path'> {
  readonly fleet: Pick<Fleet, 'name' | 'freezes'>;
  readonly database: Database;
  /** that the check began with (`noteStart`) */
  readonly attempt: string;
  /** ends when another worker has the job */
  readonly claim: AbortSignal;
  /** the newest commit of the branch */
  newestCommit(): Promise<string>;
  /** Reads the repository at its newest commit. */
  readRepository(): Promise<unknown>;
  /** Calls the work with a checkout that nothing else uses. */
  withCheckout<T>(commit: string, work: (checkout: Checkout) => Promise<T>): Promise<T>;
  /** without the secrets that the worker knows */
  readonly clean: <T extends object>(value: T) => T;
}

/** What became of the apply, for the output of the worker. */
export type Applied =
  | { readonly is: 'ended'; readonly end: ApplyEnd }
  | { readonly is: 'waits'; readonly wait: Wait };

/** @returns undefined when nothing is to be applied, or when another worker does it */
export async function applyAfterCheck(
  stack: StackId,
  found: FoundCheck,
  context: ApplyContext,
): Promise<Applied | undefined> {
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
  if (await database.run((client) => isBackingOff(client, stack, commit))) return undefined;
  const freeze = await findFreeze(stack, commit, context);
  if (freeze !== undefined && freeze.except.length === 0)
    return await waitFor(stack, { ...frozen(freeze), commit }, context);
  const newest = await context.newestCommit().catch((error: unknown) => ({ problem: messageOf(error) }));
  if (typeof newest !== 'string')
    return await waitFor(stack, { for: 'retry', reason: newest.problem, commit }, context);
  // What a newer commit takes back must not be applied: that one is checked first.
  if (newest !== commit) {
    await context.readRepository();
    await database.run((client) => makeStackDue(client, stack));
    return undefined;
  }
  const id = await begin(stack, commit, context);
  if (id === undefined) return undefined;
  const result = await runApply(stack, { id, commit, freeze, settings }, context);
  return await record(stack, result, { id, commit, freeze }, context);
}

async function findFreeze(
  stack: StackId,
  commit: string,
  { database, fleet }: ApplyContext,
): Promise<ActiveFreeze | undefined> {
  const now = await database.run(databaseTime);
  const freeze = activeFreeze(fleet.freezes, `${stack.repository}/${stack.path}`, now.getTime());
  if (freeze === undefined || (await database.run((client) => wasCutShort(client, stack, commit))))
    return undefined;
  return freeze;
}

function frozen({ name, until }: ActiveFreeze): Omit<Wait, 'commit'> {
  return {
    for: 'freeze',
    reason: `the freeze "${name}" lasts until ${new Date(until).toISOString()}`,
    until,
  };
}

async function waitFor(stack: StackId, wait: Wait, { database }: ApplyContext): Promise<Applied> {
  await database.transaction((client) => noteWait(client, stack, wait));
  return { is: 'waits', wait };
}

/** Times that a worker asks whether an earlier attempt has ended, with a second between them: longer than a lease. */
const mostQuestions = 40;

/** @returns the id of the apply; undefined when another worker has the stack */
async function begin(
  stack: StackId,
  commit: string,
  { database, attempt, signal }: ApplyContext,
): Promise<string | undefined> {
  for (let questions = 0; questions < mostQuestions && !signal.aborted; questions += 1) {
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
  readonly freeze: ActiveFreeze | undefined;
}

async function runApply(
  { repository: name, path }: StackId,
  { id, commit, freeze, settings }: Running & { readonly settings: ApplySettings },
  context: ApplyContext,
): Promise<ApplyResult> {
  const { database, fleet, attempt, claim, clean } = context;
  const run = {
    id: `fleet:${await database.run(databaseId)}/${name}/${path}`,
    attempt: Number(attempt),
    who: `fleet ${fleet.name}`,
  };
  const rates = new CheckRates(database, 'apply');
  const mayWrite = async () => {
    if (claim.aborted) return false;
    return await database.run((client) => renewLease(client, id)).catch(() => undefined);
  };
  try {
    return clean(
      await context.withCheckout(commit, (checkout) =>
        applyStack({ ...context, checkout, path, settings, grant: { run, freeze }, rates, mayWrite }),
      ),
    );
  } catch (error) {
    const reason = clean({ message: messageOf(error) }).message;
    return { is: 'ended', end: { outcome: 'failed', reason, people: [] } };
  } finally {
    await rates.end();
  }
}

async function record(
  stack: StackId,
  result: ApplyResult,
  running: Running,
  { database }: ApplyContext,
): Promise<Applied | undefined> {
  return await database.transaction((client) =>
    result.is === 'waits'
      ? recordWait(client, stack, result.wait, running)
      : recordEnd(client, stack, result.end, running),
  );
}

/** Seconds until a stack whose lock is held by another run is checked again. */
const lockPause = 60;

async function recordWait(
  client: PostgresClient,
  stack: StackId,
  refused: Omit<Wait, 'commit' | 'until'>,
  { id, commit, freeze }: Running,
): Promise<Applied | undefined> {
  if (!(await dropApply(client, id))) return undefined;
  const locked = async () => (await databaseTime(client)).getTime() + lockPause * 1000;
  const untils = {
    freeze: async () => freeze?.until,
    lock: locked,
    approval: noTime,
    guard: noTime,
    retry: noTime,
  };
  const wait = { ...refused, commit, until: await untils[refused.for]() };
  await noteWait(client, stack, wait);
  return { is: 'waits', wait };
}

const noTime = async () => undefined;

async function recordEnd(
  client: PostgresClient,
  stack: StackId,
  end: ApplyEnd,
  { id, commit }: Running,
): Promise<Applied | undefined> {
  const { outcome, reason = outcome, changes = 0 } = end;
  // Something is left that nobody can do now, as a delete of a locked workspace: each check would find that again.
  if (outcome === 'applied' && changes === 0) {
    await dropApply(client, id);
    await endWait(client, stack);
    return undefined;
  }
  if (!(await endApply(client, id, end))) return undefined;
  if (outcome === 'applied') await endWait(client, stack);
  else if (outcome !== 'interrupted') await noteWait(client, stack, { for: 'retry', reason, commit });
  // The next check shows what is live now.
  if (outcome !== 'failed') await makeStackDue(client, stack);
  return { is: 'ended', end };
}
