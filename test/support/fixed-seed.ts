/**
 * Every random test starts from this fixed seed, so that all test runs are the same. `npm run loop` and `npm run storm`
 * search for new cases: they choose random seeds, and print them.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['TRUEUP_SEED'] ?? 20_261_121) });
