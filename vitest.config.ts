import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** They start no process and hold no server for longer than a test: a worker may take one after the other. */
const pure = ['model', 'compare', 'plan', 'report'].map((folder) => `test/${folder}/**/*.test.ts`);

/** What takes longer than it tells each time: a script of its own, and a step of its own in `.ci/run`. */
const slow = [
  'test/{corpus,extending,package}.test.ts',
  'test/durability/**/*.test.ts',
  'test/e2e/approval/{commit-order,screen}.test.ts',
  'test/e2e/failures/{dying,interruption,open-input,partial-failure,silent-ledger,waiting}.test.ts',
  'test/e2e/ledger/{begun-applies,ledger-places,lost-lock-answers,locks}.test.ts',
  'test/e2e/logins/{interrupted-logins,role-check-agrees}.test.ts',
  'test/e2e/manifests/{export,named-files,planted-seeds}.test.ts',
  'test/e2e/ownership/{renamed-stack,role-origins}.test.ts',
  'test/e2e/service/{seeded-service,serve,stranger-at-port}.test.ts',
  'test/e2e/weak-servers/corpus.test.ts',
  'test/ledger/git/order-commits.test.ts',
  'test/scale/**/*.test.ts',
  'test/server/cluster-auth/replay/**/*.test.ts',
  'test/storm/**/*.test.ts',
];
const crash = ['test/crash/**/*.test.ts'];
/** They replace a module for everybody who loads it, so no other test may have loaded it before. */
const mocking = ['test/manifest/yaml/parse-documents.test.ts', 'test/manifest/read-manifests.test.ts'];
/** They need Chromium on this machine. */
const browser = ['test/browser/**/*.test.ts'];
/** They need programs of others on this machine. */
const realClients = ['test/real-clients/**/*.test.ts'];

export default defineConfig({
  test: {
    setupFiles: ['./test/support/fixed-seed.ts'],
    globalSetup: ['./test/support/build-once.ts'],
    pool: 'forks',
    // Half of the time of many tests is waiting for processes and sockets: there is a worker more than cores.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/reporter.ts'],
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      {
        extends: true,
        test: {
          name: 'wire',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            ...pure,
            ...slow,
            ...crash,
            ...browser,
            ...realClients,
            ...mocking,
          ],
          // Loading all of the product once a file took a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocking', include: mocking } },
      { extends: true, test: { name: 'slow', include: slow } },
      { extends: true, test: { name: 'crash', include: crash } },
      { extends: true, test: { name: 'browser', include: browser } },
      { extends: true, test: { name: 'real-clients', include: realClients } },
    ],
  },
});
