/**
 * How long the built command takes to start and do next to nothing, against Node by itself. Builds `dist` first.
 * `node bench/start-up.ts [rounds]`
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { printTimes, sideBySide } from './side-by-side.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const [rounds = 15] = process.argv.slice(2).map(Number);

/** One process from its start to its end. */
function node(...args: readonly string[]): () => Promise<void> {
  return async () => void (await run(process.execPath, [...args], { cwd: root }));
}

await run(process.execPath, ['scripts/build.ts'], { cwd: root });
console.log(`start to end of one process, Node ${process.versions.node}, ${rounds} rounds in turns:`);
const timed = await sideBySide(
  {
    'node --eval 0': node('--eval', '0'),
    'dist: trueup --version': node('dist/main.js', '--version'),
    'dist: trueup validate examples/quickstart': node('dist/main.js', 'validate', 'examples/quickstart'),
    'source: trueup --version': node('src/main.ts', '--version'),
  },
  rounds,
);
printTimes(timed);
