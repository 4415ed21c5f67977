/** `trueup fleet`: checks the stacks of many repositories for drift, on any number of machines, with one request limit for all of them. */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  parseCount,
} from '../../run/command-options.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { type CommandContext, textOutput } from '../../run/terminal.ts';
import { readWaits } from './apply/apply-records.ts';
import { migrateDatabase, openDatabase } from './database.ts';
import { readOpenDrifts } from './drift-records.ts';
import { readUndelivered } from './notify/store.ts';
import { readQuotas } from './rates/quotas.ts';
import { readUnread } from './repository-reads.ts';
import { printStatus } from './render.ts';
import { defaultListen, serve, type ServeOptions } from './serve.ts';
import { readStatus, type Shard } from './schedule.ts';
import { readPauses } from './target-pauses.ts';
import type { ListenAddress } from './webhooks.ts';
import { readFleetProblems } from './workers.ts';
import { work, type WorkOptions } from './work.ts';

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
  running.option('--all', 'check all stacks, also those that are not due; with --shard, those of the part');
  running.action(async (file: string | undefined, options: WorkOptions) =>
    end(await work(file, options, { ...context(options), once: true })),
  );
  addExamples(
    running,
    ['trueup fleet run', 'in a CronJob'],
    ['trueup fleet run --shard 2/8', 'in the second of eight jobs of a CI matrix'],
    ['trueup fleet run --all', 'check everything now'],
  );
  const working = withWorkerOptions(
    command(fleet, 'work', 'Checks stacks when they are due, until it is stopped'),
  );
  working.addOption(webhooksOption());
  working.action(async (file: string | undefined, options: WorkOptions) =>
    end(await work(file, options, { ...context(options), once: false })),
  );
  addExamples(
    working,
    ['trueup fleet work', 'one of any number of workers'],
    ['trueup fleet work --webhooks 0.0.0.0:8091', 'checks a push at once'],
  );
  const serving = withWorkerOptions(
    command(fleet, 'serve', 'Runs a worker with a web console that only reads'),
  );
  serving
    .addOption(webhooksOption())
    .addOption(
      new Option('--listen <host:port>', 'where the console is; port 0 takes any free one')
        .argParser(parseListen)
        .default(defaultListen, `${defaultListen.host}:${defaultListen.port}`),
    );
  serving.action(async (file: string | undefined, options: ServeOptions) =>
    end(await serve(file, options, context(options))),
  );
  addExamples(
    serving,
    ['trueup fleet serve', 'a worker, with a console for this machine'],
    ['trueup fleet serve --listen 0.0.0.0:8090', 'behind a proxy that logs users in (spec.console)'],
  );
  const status = command(fleet, 'status', 'Shows the last check of each stack');
  status
    .addOption(formatOption())
    .action(async (options: CommonOptions) => end(await showStatus(context(options))));
  addExamples(status, ['trueup fleet status', 'stale stacks, drift, and checks that failed']);
}

/** The highest `--concurrency`: each of these slots runs a process and polls the queue by itself. */
const maxSlots = 100;

function parseSlots(text: string): number {
  const count = parseCount(text);
  if (count > maxSlots)
    throw new InvalidArgumentError(`a number from 1 to ${maxSlots}; for more, start more workers`);
  return count;
}

function withWorkerOptions(given: Command): Command {
  return given
    .argument('[file]', fileHelp)
    .addOption(new Option('--concurrency <number>', 'checks at a time').argParser(parseSlots).default(4))
    .addOption(
      new Option(
        '--apply-concurrency <number>',
        'applies at a time, beside the checks (default: as many as checks)',
      ).argParser(parseSlots),
    )
    .addOption(
      new Option(
        '--shard <part>',
        'the part that this worker takes first, such as 2/8; then it takes what is left of the others',
      ).argParser(parseShard),
    );
}

function webhooksOption(): Option {
  return new Option(
    '--webhooks <host:port>',
    'listen there for webhooks of code hosts, so that a push is checked at once; port 0 takes any free one',
  ).argParser(parseListen);
}

function parseListen(text: string): ListenAddress {
  const [, name = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const host = name === 'localhost' ? '127.0.0.1' : name.replace(/^\[(.+)\]$/, '$1');
  if (isIP(host) === 0 || Number(port) > 65_535)
    throw new InvalidArgumentError('an address and a port, such as 127.0.0.1:8090 or [::1]:0');
  return { host, port: Number(port) };
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
    const status = await database.run(async (client) => ({
      ...(await readStatus(client)),
      problems: await readFleetProblems(client),
      drifts: await readOpenDrifts(client),
      waits: await readWaits(client),
      pauses: await readPauses(client),
      unread: await readUnread(client),
      undelivered: await readUndelivered(client),
      quotas: await readQuotas(client),
    }));
    printStatus(host.clean(status), terminal);
    return exitCodes.done;
  } finally {
    await database.close();
  }
}
