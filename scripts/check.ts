/**
 * `npm run check`: checks before a commit, in under a minute: types, lint, format, the architecture, and the tests of changed files.
 * With `--staged`, only for staged files, as in the pre-commit hook.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const isStaged = process.argv.includes('--staged');

/** Seconds after which tests are stopped, and left to `npm test`. */
const longest = 45;

function run(name: string, command: string, args: readonly string[], timeout?: number): boolean {
  const { status, error } = spawnSync(command, [...args], {
    cwd: root,
    stdio: 'inherit',
    ...(timeout === undefined ? {} : { timeout: timeout * 1000 }),
  });
  const isLate = error !== undefined && 'code' in error && error.code === 'ETIMEDOUT';
  if (isLate)
    process.stdout.write(`${name}: the tests of this change take more than ${longest} s: run "npm test"\n`);
  else process.stdout.write(`${name}: ${status === 0 ? 'ok' : 'FAILED'}\n`);
  return isLate || status === 0;
}

function changedFiles(): string[] {
  const args = isStaged ? ['diff', '--cached', '--name-only'] : ['diff', '--name-only', 'HEAD'];
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const untracked = isStaged
    ? ''
    : spawnSync('git', ['ls-files', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
        .stdout;
  return `${stdout}\n${untracked}`.split('\n').filter((file) => /^(?:src|test)\/.*\.ts$/.test(file));
}

const bin = (name: string) => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
const changed = changedFiles();
const tests = [
  'run',
  '--project=pure',
  '--project=wire',
  '--reporter=dot',
  'test/architecture.test.ts',
  'test/repository.test.ts',
];
const related = ['related', '--run', '--project=pure', '--reporter=dot', '--passWithNoTests', ...changed];

const passed = [
  run('types', bin('tsc'), ['-p', '.']),
  run('types of reports in a browser', bin('tsc'), ['-p', 'src/report/html/page']),
  run('lint', bin('biome'), ['lint', '--error-on-warnings']),
  run('format', bin('biome'), ['format']),
  run('architecture', process.execPath, [vitest, ...tests], longest),
  changed.length === 0 || run('tests of what changed', process.execPath, [vitest, ...related], longest),
];
process.exitCode = passed.every(Boolean) ? 0 : 1;
