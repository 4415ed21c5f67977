/** Runs one worker: it reads its fleet file and the repositories, takes what is due, and sends heartbeats. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { messageOf } from '../../model/error-message.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { CommonOptions } from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { Output } from '../../run/progress.ts';
import { listenForEnd } from '../../run/stop-signals.ts';
import { type CommandContext, printWarnings, textOutput } from '../../run/terminal.ts';
import type { Applied } from './apply-after-check.ts';
import { makeFolder } from './checkouts.ts';
import { openDatabase, type OpenDatabase } from './database.ts';
import type { CheckResult } from './check-stack.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type KeptFleet, openFleetFile } from './kept-fleet.ts';
import { beginRun, leftLines } from './leftovers.ts';
import { nameOf } from './render.ts';
import { printable } from '../../report/view/printable.ts';
import type { Shard } from './schedule.ts';
import type { StackId } from './stack-id.ts';
import { FleetWorker } from './worker.ts';
import { askForRead, type ListenAddress, type Listening, listenForWebhooks } from './webhooks.ts';
import { WorkerLife } from './worker-life.ts';
import { startSending } from './send-messages.ts';

export interface WorkOptions extends CommonOptions {
  readonly concurrency: number;
  /** as many as checks when absent */
  readonly applyConcurrency?: number;
  readonly shard?: Shard;
  readonly all?: boolean;
  /** where to listen for webhooks */
  readonly webhooks?: ListenAddress;
}

const needsPackage =
  'the single executable cannot restrict what the stacks of a fleet read: install trueup with npm for "trueup fleet"';

/** What the console shows of its worker. */
export interface ServedWorker {
  readonly file: KeptFleet;
  /** milliseconds since 1970, by `host.now`, of its last read of the schedule; undefined before the first one */
  lastScheduleRead(): number | undefined;
}

interface WorkContext extends CommandContext {
  /** whether the worker ends when nothing is due */
  readonly once: boolean;
  /** starts a server that runs as long as the worker */
  readonly serve?: (worker: ServedWorker) => Promise<{ close(): Promise<void> }>;
}

export async function work(
  path: string | undefined,
  options: WorkOptions,
  { host, terminal, once, serve }: WorkContext,
): Promise<ExitCode> {
  const { program } = host;
  if (program === undefined) throw new CommandStop('usage', needsPackage);
  const file = await openFleetFile(resolve(host.cwd, path ?? 'fleet.yaml'));
  printWarnings(terminal, file.warnings);
  const { runEnded } = listenForEnd(host);
  const database = await openDatabase(host);
  const folder = await makeFolder(tmpdir(), host.now());
  const closing: (() => Promise<void>)[] = [];
  const onProblem = (message: string) => void host.stderr.write(`warning: ${message}\n`);
  const output = textOutput(terminal);
  const counts = countChecks(output);
  // A worker shows no progress: its own requests only send messages, and other processes read the targets.
  host.progress.end();
  const { concurrency, shard, applyConcurrency = concurrency } = options;
  try {
    const worker = new FleetWorker({
      ...{ database, folder, env: host.env, signal: runEnded, shard, program, concurrency, onProblem },
      applyConcurrency,
      get fleet() {
        return file.fleet;
      },
      refreshFleet: file.refresh,
      onCheck: counts.note,
      onApply: counts.noteApply,
      clean: host.clean,
    });
    const shared = { worker, file, database, once, concurrency, signal: runEnded, now: host.now, onProblem };
    const life = new WorkerLife({ ...shared, clean: host.clean });
    const heartbeatOptions = { host, database, file, concurrency, shard, running: () => worker.running };
    const heartbeat = await startHeartbeat(heartbeatOptions);
    closing.push(() => heartbeat.stop());
    const sending = startSending({ host, database, fleet: () => worker.fleet, signal: runEnded });
    closing.push(() => sending.stop());
    const served = await serve?.({ file, lastScheduleRead: () => life.lastScheduleRead });
    if (served !== undefined) closing.push(() => served.close());
    const listening = await openWebhooks(options, { host, file, database });
    if (listening !== undefined) closing.push(() => listening.close());
    if (listening !== undefined) output?.write(`listening for webhooks at ${listening.url}/webhook\n`);
    await life.begin();
    const readLeft = await beginRun({ ...shared, clean: host.clean });
    if (options.all === true) await worker.makeAllDue();
    await worker.begin();
    await life.run();
    const left = await readLeft();
    if (once) await sending.finish();
    await closeAll(closing);
    // Closed before the counts are printed, because this ends running checks and gives their stacks back.
    await database.close();
    counts.print(leftLines(left));
    if (runEnded.aborted && once) return exitCodes.interrupted;
    const undone = counts.failed + counts.failedApplies + life.unread + left.stale.length;
    if (undone > 0) return exitCodes.error;
    return counts.drifted > 0 ? exitCodes.drift : exitCodes.done;
  } finally {
    await closeAll(closing);
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openWebhooks(
  { webhooks: address }: WorkOptions,
  { host, file, database }: Pick<CommandContext, 'host'> & { file: KeptFleet; database: OpenDatabase },
): Promise<Listening | undefined> {
  if (address === undefined) return undefined;
  const variable = file.fleet.webhookSecret;
  const secret = variable === undefined ? undefined : host.env[variable];
  if (secret === undefined || secret === '')
    throw new CommandStop(
      'usage',
      variable === undefined
        ? '--webhooks needs a secret: add "webhooks: { secret: { env: WEBHOOK_SECRET } }" to "spec" of the fleet file'
        : `--webhooks needs a secret: the environment variable ${quoted(variable)} is not set`,
    );
  host.secrets.keep(secret);
  try {
    return await listenForWebhooks({
      ...address,
      secret,
      repositories: () => file.fleet.repositories,
      ask: (names) => database.run((client) => askForRead(client, names)),
    });
  } catch (error) {
    throw new CommandStop(
      'usage',
      `--webhooks ${address.host}:${address.port} cannot be used: ${messageOf(error)}`,
    );
  }
}

/** Closes all, each once, the newest first. */
async function closeAll(closing: (() => Promise<void>)[]): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

function appliedText(applied: Applied): string {
  if (applied.is === 'waits') return `not applied: ${printable(applied.wait.reason)}`;
  const { outcome, reason = '', changes = 0, people } = applied.end;
  if (outcome !== 'applied') return `the apply ${outcomeTexts[outcome]}: ${printable(reason)}`;
  const approved = people.length === 0 ? '' : `, approved by ${people.map(quoted).join(' and ')}`;
  return `${counted(changes, 'change')} applied${approved}`;
}

const outcomeTexts = {
  partial: 'stopped halfway',
  failed: 'failed',
  interrupted: 'was interrupted',
  lost: 'was lost',
} as const;

/** Counts the checks and applies of a worker, and prints each. */
function countChecks(output: Output | undefined) {
  const counts = { complete: 0, failed: 0, drifted: 0, applied: 0, failedApplies: 0, waiting: 0 };
  return {
    get failedApplies() {
      return counts.failedApplies;
    },
    get failed() {
      return counts.failed;
    },
    get drifted() {
      return counts.drifted;
    },
    note: (stack: StackId, { error, summary }: CheckResult) => {
      counts[error === undefined ? 'complete' : 'failed'] += 1;
      const drifted = summary?.drifted ?? 0;
      if (drifted > 0) counts.drifted += 1;
      const found = drifted === 0 ? 'no drift' : `${counted(drifted, 'resource')} drifted`;
      output?.write(`${nameOf(stack)}: ${error === undefined ? found : `the check failed: ${error}`}\n`);
    },
    noteApply: (stack: StackId, applied: Applied) => {
      if (applied.is === 'waits') counts.waiting += 1;
      else counts[applied.end.outcome === 'applied' ? 'applied' : 'failedApplies'] += 1;
      output?.write(`${nameOf(stack)}: ${appliedText(applied)}\n`);
    },
    print: (more: readonly string[]) => {
      const all = counts.complete + counts.failed;
      output?.write(`${counted(all, 'check')}: ${counts.drifted} with drift, ${counts.failed} failed\n`);
      const { applied, failedApplies, waiting } = counts;
      const applies = applied + failedApplies + waiting;
      if (applies > 0)
        output?.write(
          `${counted(applies, 'apply', 'applies')}: ${applied} done, ${waiting} waiting, ${failedApplies} failed\n`,
        );
      for (const line of more) output?.write(`${line}\n`);
    },
  };
}
