/**
 * Measures how time, memory and requests grow when one input grows tenfold: a linear cost grows at most tenfold, a quadratic one more.
 * Each row measures one command at each size. bench/README.md explains the table.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OrganizationSeed, Seed } from '../src/server/seed/seed-schema.ts';
import { smallSeed } from '../test/support/rig/embedded-service.ts';
import { clusterAuthTarget, workspacesTarget } from '../test/support/rig/stack-folder.ts';
import { type Manifest, names, owned, stackName, workspace } from '../test/support/scale/counted-stack.ts';
import { env, type Measured, repeat, spreadOf } from './processes.ts';
import {
  changeLive,
  deleteLive,
  declaredWorkspaces,
  liveWorkspaces,
  type Scene,
  seedOf,
  withScene,
  writeStack,
} from './stacks.ts';

interface Options {
  readonly rounds: number;
  /** also measures plan, drift, validate and the creates of apply with 100,000, once */
  readonly large: boolean;
  /** prints only rows whose name contains this */
  readonly only: string;
}

interface Row {
  readonly what: string;
  readonly sizes: readonly number[];
  readonly seed?: (size: number) => Seed;
  /** Writes the stack, and applies it if the command needs that. */
  readonly prepare: (scene: Scene, size: number) => Promise<void>;
  readonly command: readonly string[];
  /** the command cannot be repeated: each run gets its own scene */
  readonly isOnce?: boolean;
}

/** One size of a row. */
interface Cost {
  readonly processor: number;
  readonly peak: number;
  readonly requests: number;
}

export async function printGrowth({ rounds, large, only }: Options): Promise<void> {
  console.log(`medians of ${rounds} rounds, Node ${process.versions.node}; times of the processor\n`);
  console.log(
    '| what | input | time | growth | peak memory | growth | requests | growth |\n|---|---|---|---|---|---|---|---|',
  );
  for (const row of rowsOf(large))
    if (row.what.includes(only)) {
      let before: Cost | undefined;
      for (const size of row.sizes) {
        const cost = await measureRow(row, size, rounds);
        printSize(row.what, size, cost, before);
        before = cost;
      }
    }
}

function printSize(what: string, size: number, cost: Cost, before: Cost | undefined): void {
  const growth = (now: number, then: number | undefined) =>
    then === undefined || then === 0 ? '' : (now / then).toFixed(1);
  const cells = [
    what,
    size,
    `${(cost.processor / 1000).toFixed(2)} s`,
    growth(cost.processor, before?.processor),
    `${cost.peak.toFixed(0)} MB`,
    growth(cost.peak, before?.peak),
    cost.requests,
    growth(cost.requests, before?.requests),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

async function measureRow(
  { seed = () => seedOf(), ...row }: Row,
  size: number,
  rounds: number,
): Promise<Cost> {
  let requests = 0;
  const runIn = async (scene: Scene) => {
    const measured = await scene.run(...row.command);
    requests = scene.requests();
    return measured;
  };
  const times = size >= 100_000 ? 1 : rounds;
  const once = () =>
    withScene(seed(size), async (scene) => {
      await row.prepare(scene, size);
      return runIn(scene);
    });
  const again = () =>
    withScene(seed(size), async (scene) => {
      await row.prepare(scene, size);
      return repeat(times, () => runIn(scene));
    });
  const runs: readonly Measured[] = row.isOnce === true ? await repeat(times, once) : await again();
  const median = (of: (run: Measured) => number) => spreadOf(runs.map(of)).median;
  return { processor: median((run) => run.processor), peak: median((run) => run.peak), requests };
}

function rowsOf(large: boolean): readonly Row[] {
  const sizes = [1000, 10_000, ...(large ? [100_000] : [])];
  const seed = (size: number) => seedOf(liveWorkspaces(size));
  const applied = async (scene: Scene, size: number) => {
    writeStack(scene, declaredWorkspaces(size));
    await scene.run('apply', '--yes');
  };
  const changed = async (scene: Scene, size: number) => {
    await applied(scene, size);
    await changeLive(scene.service, size);
  };
  const planned = async (scene: Scene, size: number) => {
    await changed(scene, size);
    await scene.run('plan', '--out', 'plan.json');
  };
  const some = [1000, 10_000];
  return [
    { what: 'plan without changes, workspaces', sizes, seed, prepare: applied, command: ['plan'] },
    { what: 'drift without any, workspaces', sizes, seed, prepare: applied, command: ['drift'] },
    {
      what: 'validate, documents',
      sizes,
      prepare: async (scene, size) => writeStack(scene, declaredWorkspaces(size)),
      command: ['validate'],
    },
    {
      what: 'apply, creates',
      sizes,
      prepare: async (scene, size) => writeStack(scene, declaredWorkspaces(size)),
      command: ['apply', '--yes'],
      isOnce: true,
    },
    { what: 'plan, changes', sizes: some, seed, prepare: changed, command: ['plan'] },
    { what: 'drift, changes', sizes: some, seed, prepare: changed, command: ['drift'] },
    ...['text', 'markdown', 'json', 'html'].map((format) => ({
      what: `show as ${format}, changes`,
      ...{ sizes: some, seed, prepare: planned, command: ['show', 'plan.json', '--format', format] },
    })),
    {
      what: 'accept, changes',
      sizes: some,
      seed,
      prepare: changed,
      command: ['accept', '--all', '--dry-run'],
    },
    {
      what: 'plan, targets of 10 workspaces',
      sizes: [10, 100],
      seed: manyOrganizations,
      prepare: manyTargets,
      command: ['plan'],
    },
    {
      what: 'ci plan, stacks of 10 workspaces',
      sizes: [5, 50],
      prepare: manyStacks,
      command: ['ci', 'plan', '--all'],
    },
    {
      what: 'plan, records of a ledger that are gone',
      sizes: some,
      seed,
      prepare: goneRecords,
      command: ['plan'],
    },
    { what: 'plan, deletes', sizes: some, seed, prepare: undeclared, command: ['plan'] },
    {
      what: 'history, entries',
      sizes: [100, 1000],
      prepare: longHistory,
      command: ['history', '--limit', '1000'],
    },
    { what: 'plan, entries of the history', sizes: [100, 1000], prepare: longHistory, command: ['plan'] },
    {
      what: 'plan, changes of each of 50 entries, with roles',
      sizes: [200, 2000],
      seed: withMount,
      prepare: longHistoryOfRoles,
      command: ['plan'],
    },
    {
      what: 'audit, events',
      sizes: some,
      seed: manyEvents,
      prepare: async ({ folder, service }) => {
        const targets = [workspacesTarget(service.url, { auditToken: { env: 'SERVICE_TOKEN' } })];
        writeStack({ folder, service }, [workspace('app')], { targets });
      },
      command: ['audit', 'list', '--limit', '100000'],
    },
    {
      what: 'validate, files of one document',
      sizes: some,
      prepare: async (scene, size) => writeStack(scene, declaredWorkspaces(size), { files: size }),
      command: ['validate'],
    },
    { what: 'plan, tags of 100 workspaces', sizes: [10, 100], prepare: manyTags, command: ['plan'] },
    {
      what: 'plan, new consumers of one workspace',
      sizes: some,
      seed,
      prepare: manyConsumers,
      command: ['plan'],
    },
  ];
}

function withMount(): Seed {
  return smallSeed({ owners: { ci: env.API_TOKEN }, serviceToken: env.SERVICE_TOKEN });
}

const organizationOf = (index: number) => `org-${index}`;

function manyOrganizations(count: number): Seed {
  const organization = (index: number): OrganizationSeed => ({
    name: organizationOf(index),
    teams: [{ name: 'owners', members: ['ci'] }],
    workspaces: names('ws', 10).map(owned),
  });
  return {
    users: [{ username: 'ci', token: env.API_TOKEN }],
    organizations: Array.from({ length: count }, (_, index) => organization(index)),
  };
}

async function manyTargets(scene: Scene, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => organizationOf(index));
  const targets = all.map((organization) =>
    workspacesTarget(scene.service.url, { name: organization, organization }),
  );
  const manifests = all.flatMap((target) => names('ws', 10).map((name): Manifest => inTarget(name, target)));
  writeStack(scene, manifests, { targets });
  await scene.run('apply', '--yes');
}

function inTarget(name: string, target: string): Manifest {
  const metadata: Manifest['metadata'] & { readonly target: string } = { name, target };
  return { ...workspace(name), metadata };
}

/** Writes stacks, each in its own folder of a git repository. None of their workspaces is live. */
async function manyStacks({ folder, service }: Scene, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    writeStack({ folder: join(folder, `stack-${index}`), service }, declaredWorkspaces(10, `ws-${index}`), {
      name: `stack-${index}`,
      files: 1,
    });
  const git = (...args: readonly string[]) => promisify(execFile)('git', ['-C', folder, ...args]);
  await git('init', '--quiet');
  await git('add', '--all');
  await git(
    '-c',
    'user.name=bench',
    '-c',
    'user.email=bench@example.com',
    'commit',
    '--quiet',
    '--message=Add stacks',
  );
}

/** Applies workspaces, of which then only the first is still declared. */
async function undeclared(scene: Scene, count: number): Promise<void> {
  writeStack(scene, declaredWorkspaces(count));
  await scene.run('apply', '--yes');
  writeStack(scene, declaredWorkspaces(1), { manifests: ['manifests/0.yaml'] });
}

/** Makes a ledger with records of workspaces that, except for the first, are neither declared nor live any more. */
async function goneRecords(scene: Scene, count: number): Promise<void> {
  await undeclared(scene, count);
  await deleteLive(scene.service, count);
}

async function longHistory(scene: Scene, count: number): Promise<void> {
  writeStack(scene, declaredWorkspaces(10));
  await scene.run('apply', '--yes');
  await copyEntry(scene, count);
}

/** Makes a history of 50 entries with so many changes each, in a stack with a target whose roles only the ledger identifies. */
async function longHistoryOfRoles(scene: Scene, changes: number): Promise<void> {
  const { url } = scene.service;
  writeStack(scene, declaredWorkspaces(10), { targets: [workspacesTarget(url), clusterAuthTarget(url)] });
  await scene.run('apply', '--yes');
  await copyEntry(scene, 50, changes);
}

/** Copies the history entry of one apply under other ids, `count` times. @param changes repeats its changes up to this number */
async function copyEntry(scene: Scene, count: number, changes?: number): Promise<void> {
  const history = join(scene.folder, '.trueup', `${stackName}.history`);
  const [name = ''] = await readdir(history);
  const applied = await readFile(join(history, name), 'utf8');
  const entry = changes === undefined ? applied : withChanges(applied, changes);
  const id = name.replace(/\.json$/, '');
  await writeFile(join(history, name), entry);
  for (let index = 0; index < count; index += 1) {
    const other = id.slice(0, -8) + String(index).padStart(8, '0');
    await writeFile(join(history, `${other}.json`), entry.replaceAll(id, other));
  }
}

function withChanges(text: string, count: number): string {
  const { changes, ...entry } = JSON.parse(text) as { readonly changes: readonly object[] };
  const repeated = Array.from({ length: count }, (_, index) => changes[index % changes.length]);
  return JSON.stringify({ ...entry, changes: repeated });
}

function manyEvents(count: number): Seed {
  const event = (index: number) => ({
    type: 'run' as const,
    action: 'apply' as const,
    resource: `run-${index}`,
    at: new Date(Date.parse('2026-03-01T00:00:00Z') + index).toISOString(),
  });
  const { organizations: [organization] = [], ...rest } = seedOf();
  const events = Array.from({ length: count }, (_, index) => event(index));
  return { ...rest, organizations: organization ? [{ ...organization, 'audit-events': events }] : [] };
}

async function manyTags(scene: Scene, count: number): Promise<void> {
  writeStack(
    scene,
    names('ws', 100).map((name) => workspace(name, { tagNames: names('tag', count) })),
  );
  await scene.run('apply', '--yes');
}

async function manyConsumers(scene: Scene, count: number): Promise<void> {
  const all = names('ws', count);
  const consumers = { globalRemoteState: false, remoteStateConsumers: all };
  writeStack(scene, [workspace('state', consumers), ...all.map((name) => workspace(name))]);
}
