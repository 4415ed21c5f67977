/**
 * Runs a fleet of many stacks for some intervals on this machine: PostgreSQL, one embedded service with 30 requests a second, and workers
 * as separate processes. Prints how old checks become, how evenly they start, and what they cost. Builds `dist` first.
 * By default it checks 2,000 stacks every five minutes, which takes about five processor cores and 20 minutes.
 * `npm run bench:fleet -- --stacks 200 --interval 120 --workers 2`
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { findPostgres, startPostgres } from '../test/support/ledger/postgres-server.ts';
import { smallSeed, startService } from '../test/support/rig/embedded-service.ts';
import { stackText, workspacesTarget } from '../test/support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../test/support/rig/temporary-folder.ts';
import { build, env, trueup } from './processes.ts';

const { values } = parseArgs({
  options: {
    stacks: { type: 'string', default: '2000' },
    interval: { type: 'string', default: '300' },
    workers: { type: 'string', default: '4' },
    concurrency: { type: 'string', default: '2' },
    intervals: { type: 'string', default: '3' },
  },
});
const [stacks, interval, workers, intervals] = [
  ...[values.stacks, values.interval, values.workers, values.intervals].map(Number),
] as [number, number, number, number];

const bin = findPostgres();
if (bin === undefined) throw new Error('PostgreSQL is not installed');
build();
const server = startPostgres(bin);
const service = await startService({
  seed: smallSeed({ owners: { ci: env.API_TOKEN } }),
  rateLimit: 30,
});
const folder = makeFolder();
const children: ReturnType<typeof spawn>[] = [];
try {
  const url = server.newDatabase();
  writeRepository();
  const fleetEnv = { ...env, TRUEUP_FLEET_URL: url, HOME: folder };
  execFileSync(process.execPath, [trueup, 'fleet', 'migrate'], {
    cwd: folder,
    env: fleetEnv,
    stdio: 'ignore',
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const began = Date.now();
  for (let count = 0; count < workers; count += 1)
    children.push(
      spawn(process.execPath, [trueup, 'fleet', 'work', '--concurrency', values.concurrency], {
        cwd: folder,
        env: fleetEnv,
        stdio: 'ignore',
      }),
    );
  const statements = async () => {
    const { rows } = await client.query(
      'select sum(xact_commit)::int as count from pg_stat_database where datname = current_database()',
    );
    return Number(rows[0]?.count);
  };
  // All stacks are new, and so due at once: the first interval is not counted.
  await sleep(interval * 1000);
  const [counted, asked, before] = [Date.now(), service.requests.length, await statements()];
  const worked = processorSeconds();
  await sleep(intervals * interval * 1000);
  const seconds = (Date.now() - counted) / 1000;
  const { rows: checks } = await client.query(
    `select repository, path, extract(epoch from started)::double precision as started,
       extract(epoch from ended)::double precision as ended, error
     from trueup_fleet.checks order by ended`,
  );
  const last = new Map<string, number>();
  const ages: number[] = [];
  for (const { path, ended } of checks) {
    const previous = last.get(path);
    if (previous !== undefined && ended * 1000 > counted) ages.push(ended - previous);
    last.set(path, ended);
  }
  const starts = Array.from({ length: 10 }, () => 0);
  const inWindow = checks.filter(({ started }) => started * 1000 >= counted);
  for (const { started } of inWindow) {
    const part = Math.floor(((started / interval) % 1) * 10);
    starts[part] = (starts[part] ?? 0) + 1;
  }
  const work = processorSeconds() - worked;
  const refused = service.requests.slice(asked).filter(({ status }) => status === 429).length;
  const requests = service.requests.length - asked;
  const memory = children.map(({ pid }) => {
    const [, kilobytes = '0'] =
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  });
  ages.sort((one, other) => one - other);
  const at = (part: number) =>
    (ages[Math.min(ages.length - 1, Math.floor(ages.length * part))] ?? 0) / interval;
  const lines = {
    'stacks, interval, workers': `${stacks}, ${interval} s, ${workers} x ${values.concurrency} checks`,
    'never checked': `${stacks - last.size}`,
    checks: `${inWindow.length} (${(inWindow.length / seconds).toFixed(2)} a second), ${inWindow.filter(({ error }) => error !== null).length} failed`,
    'age of a check, in intervals': `median ${at(0.5).toFixed(2)}, p95 ${at(0.95).toFixed(2)}, most ${at(1).toFixed(2)}`,
    'starts in each tenth of the interval': starts.join(' '),
    requests: `${requests} (${(requests / seconds).toFixed(2)} a second), ${refused} answered 429`,
    'transactions of the database': `${(((await statements()) - before) / seconds).toFixed(1)} a second`,
    'processor time of a check': `${(work / inWindow.length).toFixed(2)} s, with its worker and git`,
    'peak memory of a worker': `${Math.max(...memory).toFixed(0)} MB`,
  };
  for (const [name, value] of Object.entries(lines)) console.log(`${name.padEnd(38)}${value}`);
  console.log(
    `measured for ${seconds.toFixed(0)} s, ${((counted - began) / 1000).toFixed(0)} s after the start`,
  );
  await client.end();
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) =>
      child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : undefined,
    ),
  );
  await service.close();
  server.stop();
  removeFolder(folder);
}

/** Processor time of all workers, and of their processes that have ended. Ticks of Linux are hundredths of a second. */
function processorSeconds(): number {
  const ticks = children.flatMap(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    // User and system time, of the process and of its children.
    return fields.slice(11, 15).map(Number);
  });
  return ticks.reduce((sum, part) => sum + part, 0) / 100;
}

/** One repository with all stacks, and a fleet file. */
function writeRepository(): void {
  const repository = join(folder, 'infra');
  for (let index = 0; index < stacks; index += 1) {
    const name = `stack-${String(index).padStart(4, '0')}`;
    const directory = join(repository, name);
    mkdirSync(directory, { recursive: true });
    const targets = [workspacesTarget(service.url, {})];
    writeFileSync(join(directory, 'trueup.yaml'), stackText({ name, targets, spec: { ledger: 'git' } }));
    const workspace = {
      apiVersion: 'trueup.dev/v1',
      kind: 'Workspace',
      metadata: { name: `${name}-app` },
      spec: {},
    };
    writeFileSync(join(directory, 'manifests.yaml'), JSON.stringify(workspace));
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '.');
  git('-c', 'user.name=Bench', '-c', 'user.email=bench@example.com', 'commit', '--quiet', '-m', 'stacks');
  const spec = {
    interval: `${interval}s`,
    repositories: [{ name: 'infra', url: repository, variables: ['API_TOKEN'], targets: [service.url] }],
  };
  const fleet = { apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name: 'bench' }, spec };
  writeFileSync(join(folder, 'fleet.yaml'), JSON.stringify(fleet));
}
