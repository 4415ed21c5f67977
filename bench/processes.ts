/** Runs the built command, the service and the small programs of `baseline.mjs` as processes, and measures them in turns. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Seed } from '../src/server/seed/seed-schema.ts';
import { makeFolder, removeFolder } from '../test/support/rig/temporary-folder.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const trueup = join(root, 'dist/main.js');
export const baseline = join(root, 'bench/baseline.mjs');

/** The token of every target here. */
export const env = { ...process.env, API_TOKEN: 'bench-token', SERVICE_TOKEN: 'bench-service-token' };

/** One process from its start to its end. */
export interface Measured {
  readonly milliseconds: number;
  /** the largest resident set, in megabytes */
  readonly peak: number;
}

/** Writes the peak to descriptor 3 at the end of the process. */
const reportPeak = `data:text/javascript,${encodeURIComponent(
  "import{writeSync}from'node:fs';process.on('exit',()=>writeSync(3,String(process.resourceUsage().maxRSS)))",
)}`;

/** @throws when the process does not exit with 0 or one of `codes` */
export async function measure(
  args: readonly string[],
  { cwd = root, codes = [0] }: { readonly cwd?: string; readonly codes?: readonly number[] } = {},
): Promise<Measured> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--import', reportPeak, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const [errors, peak] = [collect(child.stdio[2]), collect(child.stdio[3])];
  const [code] = await once(child, 'close');
  const milliseconds = performance.now() - began;
  if (!codes.includes(Number(code))) throw new Error(`${args.join(' ')} ended with ${code}: ${await errors}`);
  return { milliseconds, peak: Number(await peak) / 1024 };
}

async function collect(stream: unknown): Promise<string> {
  let text = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) text += String(chunk);
  return text;
}

export interface Service {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the service with this seed, in memory, and waits for the line with its address. */
export async function serve(seed: Seed): Promise<Service> {
  const folder = makeFolder();
  const file = join(folder, 'seed.json');
  await writeFile(file, JSON.stringify(seed));
  const args = [trueup, 'serve', '--port', '0', '--data', ':memory:', '--seed', file];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
    removeFolder(folder);
  };
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += String(chunk);
  });
  while (child.exitCode === null) {
    const url = /http:\S+/.exec(shown)?.[0];
    if (url !== undefined) return { url, stop };
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  }
  throw new Error(`the service did not start: ${shown}`);
}

/** Runs both in turns, so that a busy moment of the machine hits both; the first run of each is not counted. */
export async function inTurns(
  rounds: number,
  one: () => Promise<Measured>,
  other: () => Promise<Measured>,
): Promise<readonly [readonly Measured[], readonly Measured[]]> {
  const measured: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [await one(), await other()] as const;
    if (round === 0) continue;
    measured[0].push(pair[0]);
    measured[1].push(pair[1]);
  }
  return measured;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    least: sorted[0] ?? 0,
    most: sorted.at(-1) ?? 0,
  };
}
