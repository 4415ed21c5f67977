/**
 * `npm run loop -- --cases 10000`: checks the two laws of the whole program (test/loop) on new random cases. Exports get an eighth as
 * many, because each takes longer. `--seed` repeats a run. The cases are divided into shares, each with its own seed, which is printed;
 * each core runs one share after another. Exit code 0 when all cases held.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setup, teardown } from '../test/support/build-once.ts';

const { values } = parseArgs({ options: { cases: { type: 'string' }, seed: { type: 'string' } } });
const cases = Number(values.cases ?? 2000);
if (!Number.isInteger(cases) || cases < 1) throw new Error('--cases takes a number from 1 on');
const given = values.seed === undefined ? undefined : Number(values.seed);

const laws = [
  { file: 'test/loop/random-stacks.test.ts', cases },
  { file: 'test/loop/exported-stacks.test.ts', cases: Math.ceil(cases / 8) },
];

interface Share {
  readonly file: string;
  readonly cases: number;
  readonly seed: number;
}

const workers = Math.min(availableParallelism(), cases);
/** A share ends within the time limit of its test, also on a busy machine. */
const maxShare = 500;

// Otherwise each share would build the program.
setup();
try {
  for (const { file, cases: all } of laws) {
    const size = Math.min(Math.ceil(all / workers), maxShare);
    const waiting = Array.from({ length: Math.ceil(all / size) }, (_, index): Share => {
      const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : given + index;
      return { file, cases: size, seed };
    });
    const runWaiting = async () => {
      for (let share = waiting.shift(); share !== undefined; share = waiting.shift())
        if (!(await runShare(share))) process.exitCode = 1;
    };
    await Promise.all(Array.from({ length: workers }, runWaiting));
  }
} finally {
  teardown();
}

/** Prints the output of the test if a case did not hold. @returns whether all cases held */
async function runShare({ file, cases: count, seed }: Share): Promise<boolean> {
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
  const child = spawn(process.execPath, [vitest, 'run', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, TRUEUP_CASES: String(count), TRUEUP_SEED: String(seed) },
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  console.log(
    `${file}: ${count} cases, seed ${seed}: ${code === 0 ? 'all of them hold' : 'one does not hold'}`,
  );
  if (code !== 0) console.log(Buffer.concat(output).toString());
  return code === 0;
}
