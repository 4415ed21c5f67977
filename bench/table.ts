/**
 * What trueup costs beside a small program that sends the same requests or parses the same files: time from start to end of the
 * process, and peak memory. Builds `dist` first. `node bench/table.ts [--rounds 5] [--large]`; bench/README.md says how to read it.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { smallSeed } from '../test/support/rig/embedded-service.ts';
import { stackText, workspacesTarget } from '../test/support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../test/support/rig/temporary-folder.ts';
import { asDocuments, names, owned, stackName, workspace } from '../test/support/scale/counted-stack.ts';
import {
  baseline,
  env,
  inTurns,
  type Measured,
  measure,
  root,
  serve,
  spreadOf,
  trueup,
} from './processes.ts';

const { rounds: asked, large } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, large: { type: 'boolean', default: false } },
}).values;
const rounds = Number(asked);

const header = ['what', 'baseline', 'trueup: median (least to most)', 'ratio', 'wanted', 'peak memory'];
console.log(`${rounds} rounds in turns, Node ${process.versions.node}\n`);
console.log(`| ${header.join(' | ')} |\n|${header.map(() => '---|').join('')}`);

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** @param against the runs of the small program; absent where only a time is wanted */
function printRow(
  what: string,
  wanted: string,
  runs: readonly Measured[],
  against?: readonly Measured[],
): void {
  const ours = spreadOf(runs.map(({ milliseconds }) => milliseconds));
  const base = against && spreadOf(against.map(({ milliseconds }) => milliseconds)).median;
  const peak = spreadOf(runs.map((run) => run.peak)).median;
  const cells = [
    what,
    base === undefined ? '' : seconds(base),
    `${seconds(ours.median)} (${seconds(ours.least)} to ${seconds(ours.most)})`,
    base === undefined ? '' : (ours.median / base).toFixed(1),
    wanted,
    `${peak.toFixed(0)} MB`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

async function row(
  what: string,
  wanted: string,
  pair: { readonly small: () => Promise<Measured>; readonly ours: () => Promise<Measured> },
): Promise<void> {
  const [small, ours] = await inTurns(rounds, pair.small, pair.ours);
  printRow(what, wanted, ours, small);
}

/** A stack of so many workspaces with tags, in at most a hundred files, and the folder that it is in. */
async function stackOf(url: string, count: number, prefix = 'ws', autoApply = false): Promise<string> {
  const folder = makeFolder();
  await mkdir(join(folder, 'manifests'));
  const guards = {
    maxDeletes: 1_000_000,
    maxDeletePercent: 100,
    maxUpdatePercent: 100,
    allow: ['adopt', 'unrecorded'],
  };
  const stack = {
    // The seeded workspaces have the tag of this stack.
    name: stackName,
    targets: [workspacesTarget(url)],
    manifests: ['manifests'],
    spec: { guards },
  };
  await writeFile(join(folder, 'trueup.yaml'), stackText(stack));
  const all = names(prefix, count).map((name, index) =>
    workspace(name, { autoApply, tags: { env: 'prod', number: `${index}` } }),
  );
  const files = Math.min(100, count);
  for (let file = 0; file < files; file += 1) {
    const own = all.filter((_, index) => index % files === file);
    await writeFile(join(folder, 'manifests', `${file}.yaml`), asDocuments(own));
  }
  return folder;
}

/** The same workspaces as of a stack, in a seed. */
function seedOf(count: number) {
  const workspaces = names('ws', count).map((name, index) => {
    const seeded = owned(name);
    return { ...seeded, 'tag-bindings': { ...seeded['tag-bindings'], env: 'prod', number: `${index}` } };
  });
  return smallSeed({ owners: { ci: env.API_TOKEN }, organization: { workspaces } });
}

/** Plans without changes, then what a plan of as many changes costs to print and to accept. */
async function plans(count: number, wanted: string): Promise<void> {
  const service = await serve(seedOf(count));
  const folder = await stackOf(service.url, count);
  try {
    await measure([trueup, 'apply', '--yes'], { cwd: folder });
    await row(`plan without changes, ${count} workspaces`, wanted, {
      small: () => measure([baseline, 'pages', service.url]),
      ours: () => measure([trueup, 'plan', '--exit-code'], { cwd: folder }),
    });
    if (count === 10_000) await changes(folder);
  } finally {
    await service.stop();
    removeFolder(folder);
  }
}

/** The manifests differ from what is live in one field of each resource. */
async function changes(folder: string): Promise<void> {
  for (let file = 0; file < 100; file += 1) {
    const path = join(folder, 'manifests', `${file}.yaml`);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('"autoApply":false', '"autoApply":true'));
  }
  await measure([trueup, 'plan', '--out', 'plan.json'], { cwd: folder });
  for (const format of ['text', 'markdown', 'json', 'html']) {
    const ours: Measured[] = [];
    for (let round = 0; round < rounds; round += 1)
      ours.push(await measure([trueup, 'show', 'plan.json', '--format', format], { cwd: folder }));
    printRow(`print a plan of 10000 changes as ${format}`, '2 s', ours);
  }
  const accepted: Measured[] = [];
  for (let round = 0; round < rounds; round += 1)
    accepted.push(await measure([trueup, 'accept', '--all', '--dry-run'], { cwd: folder }));
  printRow('accept 10000 values, without writing them', '5 s', accepted);
}

/** Each run has a service of its own, which begins without workspaces. */
async function creates(count: number, wanted: string, times: number): Promise<void> {
  const alone = async (run: (url: string) => Promise<Measured>) => {
    const service = await serve(smallSeed({ owners: { ci: env.API_TOKEN } }));
    return run(service.url).finally(() => service.stop());
  };
  const small = () => alone((url) => measure([baseline, 'creates', url, `${count}`]));
  const ours = () =>
    alone(async (url) => {
      const folder = await stackOf(url, count, 'new');
      return measure([trueup, 'apply', '--yes'], { cwd: folder }).finally(() => removeFolder(folder));
    });
  const [against, runs] = await inTurns(times, small, ours);
  printRow(`apply ${count} creates, proved by an empty plan`, wanted, runs, against);
}

async function validates(count: number): Promise<void> {
  const folder = await stackOf('http://127.0.0.1:1', count);
  await row(`validate ${count} documents in 100 files`, '2 times, 150 MB', {
    small: () => measure([baseline, 'yaml', join(folder, 'manifests')]),
    ours: () => measure([trueup, 'validate'], { cwd: folder }),
  }).finally(() => removeFolder(folder));
}

execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'ignore' });
await row('trueup --version, against node --eval 0', '2.2 times', {
  small: () => measure(['--eval', '0']),
  ours: () => measure([trueup, '--version']),
});
await validates(10_000);
await plans(1000, '2 times');
await plans(10_000, '2 times, 250 MB');
if (large) await plans(100_000, '1.8 times, 1 GB');
await creates(1000, '', rounds);
await creates(2000, '1.5 times', rounds);
await creates(10_000, '10.5 times that of 1000, 350 MB', Math.min(rounds, 2));
