/**
 * Measures the cost of trueup compared with a small program that sends the same requests or parses the same files: processor time,
 * elapsed time and peak memory. Builds `dist` first. `node bench/table.ts [--rounds 5] [--large] [--only plan]`, or `--growth` for
 * `growth.ts`; bench/README.md explains both.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printGrowth } from './growth.ts';
import {
  baseline,
  build,
  env,
  inTurns,
  type Measured,
  measure,
  repeat,
  spreadOf,
  trueup,
} from './processes.ts';
import { writeFiles } from '../test/support/rig/temporary-folder.ts';
import {
  changeLive,
  declaredWorkspaces,
  liveWorkspaces,
  seedOf,
  withScene,
  writeStack,
  writeTemplate,
} from './stacks.ts';

const options = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    large: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
}).values;
const { large, growth, only } = options;
const rounds = Number(options.rounds);

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** @param against the runs of the small program; absent if there is only an aim for the time of trueup */
function printRow(
  what: string,
  wanted: string,
  runs: readonly Measured[],
  against?: readonly Measured[],
): void {
  const peak = spreadOf(runs.map((run) => run.peak)).median;
  const cells = [
    what,
    ...timeCells('elapsed', runs, against),
    ...timeCells('processor', runs, against),
    `${peak.toFixed(0)} MB`,
    wanted,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

/** The times of the baseline and of trueup, and their ratio. */
function timeCells(
  of: 'elapsed' | 'processor',
  runs: readonly Measured[],
  against: readonly Measured[] | undefined,
): string[] {
  const ours = spreadOf(runs.map((run) => run[of]));
  const base = against && spreadOf(against.map((run) => run[of])).median;
  return [
    base === undefined ? '' : seconds(base),
    `${seconds(ours.median)} (${seconds(ours.least)} to ${seconds(ours.most)})`,
    base === undefined ? '' : (ours.median / base).toFixed(1),
  ];
}

async function version(): Promise<void> {
  const [small, ours] = await inTurns(
    rounds,
    () => measure(['--eval', '0']),
    () => measure([trueup, '--version']),
  );
  printRow('trueup --version, against node --eval 0', '2.2 times', ours, small);
}

async function validates(count: number): Promise<void> {
  await withScene(seedOf(), async (scene) => {
    writeStack(scene, declaredWorkspaces(count));
    const [small, ours] = await inTurns(
      rounds,
      () => measure([baseline, 'yaml', join(scene.folder, 'manifests')]),
      () => scene.run('validate'),
    );
    printRow(`validate, ${count} documents in 100 files`, '2 times, 150 MB', ours, small);
  });
}

/** Compares a template with the same resources written out: both are runs of trueup. */
async function expands(command: string, services: number): Promise<void> {
  await withScene(seedOf(), async (templates) => {
    writeTemplate(templates, services);
    const rendered = execFileSync(process.execPath, [trueup, 'render'], {
      cwd: templates.folder,
      env,
      maxBuffer: 1e9,
    });
    await withScene(seedOf(), async (written) => {
      writeStack(written, []);
      writeFiles(written.folder, { 'manifests/all.yaml': rendered.toString() });
      const [out, ours] = await inTurns(
        rounds,
        () => written.run(command),
        () => templates.run(command),
      );
      printRow(
        `${command} of a template, ${services * 30} workspaces, against them written out`,
        '1.3 times',
        ours,
        out,
      );
    });
  });
}

async function plans(count: number, wanted: string): Promise<void> {
  await withScene(seedOf(liveWorkspaces(count)), async (scene) => {
    writeStack(scene, declaredWorkspaces(count));
    await scene.run('apply', '--yes');
    const pages = () => measure([baseline, 'pages', scene.service.url]);
    const [small, ours] = await inTurns(rounds, pages, () => scene.run('plan', '--exit-code'));
    printRow(`plan without changes, ${count} workspaces`, wanted, ours, small);
    if (count < 10_000) return;
    const [again, drifts] = await inTurns(rounds, pages, () => scene.run('drift'));
    printRow(`drift without any, ${count} workspaces`, wanted, drifts, again);
  });
}

/** All workspaces were changed by hand. */
async function changes(count: number): Promise<void> {
  await withScene(seedOf(liveWorkspaces(count)), async (scene) => {
    writeStack(scene, declaredWorkspaces(count));
    await scene.run('apply', '--yes');
    await changeLive(scene.service, count);
    printRow(
      `plan of ${count} updates`,
      '',
      await repeat(rounds, () => scene.run('plan', '--out', 'plan.json')),
    );
    for (const format of ['text', 'markdown', 'json', 'html']) {
      const ours = await repeat(rounds, () => scene.run('show', 'plan.json', '--format', format));
      printRow(`show a plan of ${count} changes as ${format}`, '2 s', ours);
    }
    printRow(`drift of ${count} values`, '', await repeat(rounds, () => scene.run('drift')));
    const accepted = await repeat(rounds, async () => {
      writeStack(scene, declaredWorkspaces(count));
      return scene.run('accept', '--all', '--yes');
    });
    printRow(`accept ${count} values`, '5 s', accepted);
  });
}

/** Each run has its own service, which begins without workspaces. */
async function creates(count: number, wanted: string, times: number): Promise<void> {
  const small = () =>
    withScene(seedOf(), ({ service }) => measure([baseline, 'creates', service.url, `${count}`]));
  const ours = () =>
    withScene(seedOf(), (scene) => {
      writeStack(scene, declaredWorkspaces(count, 'new'));
      return scene.run('apply', '--yes');
    });
  const [against, runs] = await inTurns(times, small, ours);
  printRow(`apply ${count} creates, proved by an empty plan`, wanted, runs, against);
}

async function printTable(): Promise<void> {
  const header = [
    'what',
    'baseline elapsed',
    'trueup elapsed: median (least to most)',
    'ratio',
    'baseline processor',
    'trueup processor: median (least to most)',
    'ratio',
    'peak memory',
    'wanted',
  ];
  console.log(`${rounds} rounds in turns, Node ${process.versions.node}\n`);
  console.log(`| ${header.join(' | ')} |\n|${header.map(() => '---|').join('')}`);
  const rows: readonly (readonly [string, () => Promise<void>])[] = [
    ['version', version],
    ['validate', () => validates(10_000)],
    ['template', () => expands('validate', 100)],
    ['template', () => expands('plan', 100)],
    ['plan', () => plans(1000, '2 times')],
    ['plan', () => plans(10_000, '2 times, 250 MB')],
    ['changes', () => changes(10_000)],
    ['apply', () => creates(1000, '', rounds)],
    ['apply', () => creates(2000, '1.5 times', rounds)],
    ['apply', () => creates(10_000, '10.5 times that of 1000, 350 MB', Math.min(rounds, 2))],
    ...(large ? [['plan', () => plans(100_000, '1.8 times, 1 GB')] as const] : []),
  ];
  for (const [name, print] of rows) if (name.includes(only)) await print();
}

build();
await (growth ? printGrowth({ rounds, large, only }) : printTable());
