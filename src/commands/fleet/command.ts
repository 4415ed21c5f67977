/** `trueup fleet`: checks the stacks of many repositories for drift, on any number of machines, under one limit of requests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../../model/error-message.ts';
import { counted } from '../../model/quoted.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  parseCount,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { listenForEnd } from '../../run/stop-signals.ts';
import { type CommandContext, printWarnings, textOutput } from '../../run/terminal.ts';
import { migrateDatabase, openDatabase } from './database.ts';
import { type Fleet, readFleet } from './fleet-file.ts';
import { nameOf, printStatus } from './render.ts';
import { readStatus, type Shard } from './schedule.ts';
import { FleetWorker } from './worker.ts';

const fileHelp = 'the fleet file (default: fleet.yaml in this directory)';

export function defineCommand(fleet: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  addExamples(
    fleet,
    ['trueup fleet migrate', 'create the tables in the database of TRUEUP_FLEET_URL'],
    ['trueup fleet run', 'check all stacks that are due, and exit'],
    ['trueup fleet status', 'which stacks have drift, and which were not checked in time'],
  );
  const context = (options: CommonOptions): CommandContext => ({ host, terminal: terminalOf(options) });
  const migrating = command(fleet, 'migrate', 'Creates or upgrades the tables of the fleet');
  migrating.action(async (options: CommonOptions) => end(await migrateTables(context(options))));
  addExamples(migrating, ['trueup fleet migrate', 'before the first worker starts, and after an upgrade']);
  const running = withWorkerOptions(command(fleet, 'run', 'Checks the stacks that are due, and exits'));
  running.action(async (file: string | undefined, options: WorkOptions) =>
    end(await work(file, options, { ...context(options), once: true })),
  );
  addExamples(
    running,
    ['trueup fleet run', 'in a CronJob'],
    ['trueup fleet run --shard 2/8', 'in the second of eight jobs of a CI matrix'],
  );
  const working = withWorkerOptions(
    command(fleet, 'work', 'Checks stacks when they are due, until it is stopped'),
  );
  working.action(async (file: string | undefined, options: WorkOptions) =>
    end(await work(file, options, { ...context(options), once: false })),
  );
  addExamples(working, ['trueup fleet work', 'one of any number of workers']);
  const status = command(fleet, 'status', 'Shows the last check of each stack');
  status
    .addOption(formatOption())
    .action(async (options: CommonOptions) => end(await showStatus(context(options))));
  addExamples(status, ['trueup fleet status', 'stale stacks, drift, and checks that failed']);
}

interface WorkOptions extends CommonOptions {
  readonly concurrency: number;
  readonly shard?: Shard;
}

function withWorkerOptions(given: Command): Command {
  return given
    .argument('[file]', fileHelp)
    .addOption(new Option('--concurrency <number>', 'checks at a time').argParser(parseCount).default(4))
    .addOption(
      new Option(
        '--shard <part>',
        'the part that this worker takes first, such as 2/8; what is left of the others it takes, too',
      ).argParser(parseShard),
    );
}

function parseShard(text: string): Shard {
  const [, index = 0, of = 0] = (/^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? []).map(Number);
  if (index < 1 || index > of) throw new InvalidArgumentError('such as 2/8: the second of eight parts');
  return { index: index - 1, of };
}

async function migrateTables({ host, terminal }: CommandContext): Promise<ExitCode> {
  await migrateDatabase(host);
  textOutput(terminal)?.write('the tables of the fleet are up to date\n');
  return exitCodes.done;
}

async function showStatus({ host, terminal }: CommandContext): Promise<ExitCode> {
  const database = await openDatabase(host);
  try {
    printStatus(host.clean(await database.run(readStatus)), terminal);
    return exitCodes.done;
  } finally {
    await database.close();
  }
}

/** Milliseconds between two looks at the schedule. */
const tick = 500;

/** Milliseconds between two reads of the repositories. */
const repositoryInterval = 60_000;

const needsPackage =
  'the single executable cannot restrict what the stacks of a fleet read: install trueup with npm for "trueup fleet"';

async function work(
  file: string | undefined,
  options: WorkOptions,
  { host, terminal, once }: CommandContext & { readonly once: boolean },
): Promise<ExitCode> {
  const { program } = host;
  if (program === undefined) throw new CommandStop('usage', needsPackage);
  const fleet = await loadFleet(file, { host, terminal });
  const { runEnded } = listenForEnd(host);
  const database = await openDatabase(host);
  const folder = await mkdtemp(join(tmpdir(), 'trueup-fleet-'));
  const output = textOutput(terminal);
  const onProblem = (message: string) => void host.stderr.write(`warning: ${message}\n`);
  const ended = { complete: 0, failed: 0, drifted: 0, unread: 0 };
  try {
    const worker = new FleetWorker({
      ...{ fleet, database, folder, env: host.env, signal: runEnded, shard: options.shard },
      program,
      concurrency: options.concurrency,
      onCheck: (stack, { error, summary }) => {
        ended[error === undefined ? 'complete' : 'failed'] += 1;
        if ((summary?.drifted ?? 0) > 0) ended.drifted += 1;
        const drifted = summary?.drifted ?? 0;
        const found = drifted === 0 ? 'no drift' : `${counted(drifted, 'resource')} drifted`;
        output?.write(`${nameOf(stack)}: ${error === undefined ? found : `the check failed: ${error}`}\n`);
      },
      onProblem,
      clean: host.clean,
    });
    ended.unread = (await worker.readRepositories()).size;
    await worker.begin();
    const { concurrency } = options;
    await keepWorking(worker, { once, concurrency, signal: runEnded, now: host.now, onProblem });
    // Before the counts: checks that run are ended, and given back.
    await database.close();
    const all = ended.complete + ended.failed;
    output?.write(`${counted(all, 'check')}: ${ended.drifted} with drift, ${ended.failed} failed\n`);
    if (runEnded.aborted && once) return exitCodes.interrupted;
    if (ended.failed > 0 || ended.unread > 0) return exitCodes.error;
    return ended.drifted > 0 ? exitCodes.drift : exitCodes.done;
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Loop {
  /** ends when nothing is due and nothing runs */
  readonly once: boolean;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly onProblem: (message: string) => void;
}

/** Milliseconds for which `fleet run` waits for a database that went away. `fleet work` waits for ever. */
const longestOutage = 60_000;

async function keepWorking(worker: FleetWorker, loop: Loop): Promise<void> {
  const { once, signal, now } = loop;
  const outage = new Outage(loop);
  let idle = 0;
  let readAt = now();
  // The end of another worker's transaction may make something due: after three quiet ticks nothing is left for this worker.
  while (!signal.aborted && !(once && idle > 2)) {
    if (!once && now() - readAt > repositoryInterval) {
      await worker.readRepositories();
      readAt = now();
    }
    idle = (await outage.bridge(() => isQuiet(worker, loop))) ? idle + 1 : 0;
    await sleep(tick, undefined, { signal }).catch(() => {});
  }
}

/** Of the database. It is reported once. */
class Outage {
  readonly #loop: Loop;
  #since: number | undefined;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** The result of the work; undefined while there is no database. @throws CommandStop when it is away for too long */
  async bridge<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { once, now, signal, onProblem } = this.#loop;
    try {
      const result = await work();
      this.#since = undefined;
      return result;
    } catch (error) {
      if (!(error instanceof CommandStop)) throw error;
      if (signal.aborted) return undefined;
      if (this.#since === undefined) onProblem(`${messageOf(error)}; the worker tries again`);
      this.#since ??= now();
      if (once && now() - this.#since > longestOutage) throw error;
      return undefined;
    }
  }
}

/** Sends what is due. @returns whether there was nothing, nothing runs here, and nothing waits in the queue */
async function isQuiet(worker: FleetWorker, { concurrency }: Loop): Promise<boolean> {
  const free = 2 * concurrency - worker.running;
  const sent = free > 0 ? await worker.dispatch(free) : 0;
  return sent === 0 && worker.running === 0 && (await worker.waiting()) === 0;
}

async function loadFleet(file: string | undefined, { host, terminal }: CommandContext): Promise<Fleet> {
  const { fleet, diagnostics } = await readFleet(resolve(host.cwd, file ?? 'fleet.yaml'));
  if (fleet === undefined) throw CommandStop.ofProblems(diagnostics);
  printWarnings(terminal, diagnostics);
  return fleet;
}
