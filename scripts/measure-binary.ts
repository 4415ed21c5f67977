/** How long commands of a built executable take: the fastest of some runs, because other work on the machine only makes them slower. */
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const example = fileURLToPath(new URL('../examples/quickstart', import.meta.url));
const runs = 5;

/** @returns a line for each measured command */
export async function measureBinary(binary: string): Promise<string[]> {
  const cwd = await mkdtemp(join(tmpdir(), 'trueup-binary-'));
  const clear = () => rm(join(cwd, '.trueup'), { recursive: true, force: true });
  try {
    await cp(example, cwd, { recursive: true, filter: (path) => !path.endsWith('.trueup') });
    const trueup = (...args: string[]) => execFileSync(binary, args, { cwd, env: {}, stdio: 'pipe' });
    return [
      await fastest('trueup --version', () => trueup('--version')),
      await fastest('trueup validate (examples/quickstart)', () => trueup('validate')),
      await fastest('trueup plan, apply, plan (examples/quickstart)', async () => {
        await clear();
        trueup('plan');
        trueup('apply', '--yes');
        trueup('plan', '--exit-code');
      }),
    ];
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

async function fastest(what: string, act: () => unknown): Promise<string> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    await act();
    best = Math.min(best, performance.now() - start);
  }
  return `${what}  ${best < 1000 ? `${Math.round(best)} ms` : `${(best / 1000).toFixed(1)} s`}`;
}
