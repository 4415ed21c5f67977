/**
 * `npm run storm -- --seeds 5000`, or `--seed 17` for one alone: applies random stacks to the embedded service, with random
 * faults (test/storm). Ends with the test runner's own exit code.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } });
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/storm/storm.test.ts'], {
  stdio: 'inherit',
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    ...process.env,
    ...(values.seeds === undefined ? {} : { TRUEUP_STORM_SEEDS: values.seeds }),
    ...(values.seed === undefined ? {} : { TRUEUP_STORM_SEED: values.seed }),
  },
});
process.exitCode = status ?? 1;
