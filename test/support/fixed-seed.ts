/**
 * Every random test begins from a seed that stands here, so that a test run is the same wherever and whenever it runs.
 * `npm run loop` and `npm run storm` are what looks for new cases: they draw seeds of their own, and print them.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['TRUEUP_SEED'] ?? 20_261_121) });
