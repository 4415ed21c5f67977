/** Runs the built command and the small programs of `baseline.mjs` as processes, and measures what each costs. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** The command, as a test run or `build` has built it. */
export const trueup = process.env['TRUEUP_BUILT_MAIN'] ?? join(root, 'dist/main.js');
export const baseline = join(root, 'bench/baseline.mjs');

/** The tokens of all targets in the benchmarks. */
export const env = { ...process.env, API_TOKEN: 'bench-token', SERVICE_TOKEN: 'bench-service-token' };

/** One process from its start to its end. */
export interface Measured {
  /** of the processor, user and system, in milliseconds; without processes that it started */
  readonly processor: number;
  /** in milliseconds; depends on what else the machine does */
  readonly elapsed: number;
  /** the largest resident set, in megabytes */
  readonly peak: number;
}

/**
 * Writes the resource usage of the process to descriptor 3 at its end. Linux counts the resident set of the parent in `maxRSS` of a
 * child, so the peak comes from `VmHWM` there, which starts with the program itself.
 */
const reportUsage = `data:text/javascript,${encodeURIComponent(`
  import { existsSync, readFileSync, writeSync } from 'node:fs';
  process.on('exit', () => {
    const usage = process.resourceUsage();
    const status = '/proc/self/status';
    const peak = existsSync(status) && /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync(status, 'utf8'));
    writeSync(3, JSON.stringify({ ...usage, maxRSS: peak ? Number(peak[1]) : usage.maxRSS }));
  });
`)}`;

export function build(): void {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: 'ignore' });
}

/** @throws when the process does not exit with 0 or one of `codes` */
export async function measure(
  args: readonly string[],
  { cwd = root, codes = [0] }: { readonly cwd?: string; readonly codes?: readonly number[] } = {},
): Promise<Measured> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const [errors, usage] = [collect(child.stdio[2]), collect(child.stdio[3])];
  const [code] = await once(child, 'close');
  const elapsed = performance.now() - began;
  if (!codes.includes(Number(code))) throw new Error(`${args.join(' ')} ended with ${code}: ${await errors}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await usage) as NodeJS.ResourceUsage;
  return { processor: (userCPUTime + systemCPUTime) / 1000, elapsed, peak: maxRSS / 1024 };
}

async function collect(stream: unknown): Promise<string> {
  let text = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) text += String(chunk);
  return text;
}

/** Runs both in turns, so that a busy moment of the machine affects both; the first run of each is not counted. */
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

export async function repeat(rounds: number, run: () => Promise<Measured>): Promise<readonly Measured[]> {
  const runs: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run());
  return runs;
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
