import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['./test/fixed-seed.ts'],
    pool: 'forks',
    // Half of the time of many tests is waiting for processes and sockets: every core gets a worker.
    maxWorkers: '100%',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/reporter.ts'],
  },
});
