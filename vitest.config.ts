import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, type Plugin } from 'vitest/config';
import { policyWorker } from './scripts/policy-worker.ts';
import { dialectUnderTest } from './test/support/rig/dialect-under-test.ts';
import { ShortFilesLast } from './test/support/short-files-last.ts';

/** They start no process and hold no server for longer than a test: a worker may take one after the other. */
const pure = ['model', 'redaction', 'compare', 'plan', 'report'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

/** Whole flows: they find what tests of parts do not, and take half of the time. `npm run test:slow` runs them, too. */
const flows = [
  'test/approvals/signatures.test.ts',
  'test/commands/completion/shells.test.ts',
  'test/e2e/{accept,approval,ci,doctor,failures,ledger,limited-services,names,ownership}/**/*.test.ts',
  'test/e2e/{projects,secrets,selection,workspaces}/**/*.test.ts',
  'test/e2e/policies/{acknowledged,ci-policies,loosened,project-tags,proposed-commands}.test.ts',
  'test/ledger/**/*.test.ts',
  'test/manifest/format/any-yaml.test.ts',
  'test/server/rights-of-neighbours.test.ts',
  'test/server/state-versions/large-states.test.ts',
  'test/server/workspaces/rights-matrix.test.ts',
];

/** What takes longer than it tells each time: a script of its own, and a step of its own in `.ci/run`. */
const slow = [
  'test/{binary,ci-guide,dockerfile,corpus,corpus-dialects,corpus-together,examples,extending,global-install,package,tutorial}.test.ts',
  'test/durability/**/*.test.ts',
  'test/e2e/approval/{approve,commit-order,in-no-commit,screen,uncommitted}.test.ts',
  'test/e2e/ci/{action,apply,apply-environment,apply-loosened,apply-signed,apply-stacks,attacks,destinations}.test.ts',
  'test/e2e/ci/{drift-issue,forged,gitlab,gitlab-attacks,gitlab-file,gitlab-policies,merge-group,simulation,untrusted}.test.ts',
  'test/e2e/failures/{dying,interruption,incomplete-reads,moved-ownership-tags,open-input,partial-failure,progress}.test.ts',
  'test/e2e/failures/{refused-answers,repeated-writes,silent-ledger,waiting}.test.ts',
  'test/{commands,e2e}/fleet/**/*.test.ts',
  'test/e2e/init/questions.test.ts',
  'test/e2e/ledger/{begun-applies,begun-values,ledger-places,lost-lock-answers,locks,move}.test.ts',
  'test/e2e/logins/{interrupted-logins,role-check-agrees,token-uses}.test.ts',
  'test/e2e/manifests/{export,named-files,partial-checkout,planted-seeds}.test.ts',
  'test/e2e/ownership/{moved-resources-killed,renamed-stack,role-origins}.test.ts',
  'test/e2e/service/{seeded-service,serve,stranger-at-port}.test.ts',
  'test/e2e/limited-services/{corpus,corpus-rest,limited-services,ownership-by-ledger,plain-deletes}.test.ts',
  'test/e2e/secrets/git-logins.test.ts',
  'test/e2e/workspaces/triggers.test.ts',
  'test/ledger/stores.test.ts',
  'test/ledger/git/{commits-since,order-commits}.test.ts',
  'test/loop/**/*.test.ts',
  'test/scale/**/*.test.ts',
  'test/server/cluster-auth/replay/**/*.test.ts',
  'test/storm/**/*.test.ts',
];
/**
 * They send other requests in the dialect `hcp-terraform` of workspaces, and `npm run test:dialect` runs them in it (CONTRIBUTING.md says
 * how they were found).
 */
const otherDialect = [
  'test/e2e/accept/{accept,revert}.test.ts',
  'test/e2e/approval/forced-delete.test.ts',
  'test/e2e/failures/{answers,false-absence,incomplete-reads,lists-that-lag,moved-ownership-tags}.test.ts',
  'test/e2e/failures/{pages-before-updates,partly-applied-changes}.test.ts',
  'test/e2e/limited-services/{killed-creates,limited-services,own-mode,ownership-by-ledger}.test.ts',
  'test/e2e/ownership/{exchanged-names-failed,ownership,removal,stack-ids,standing-adoption}.test.ts',
  'test/e2e/ownership/{moved-resources,moved-resources-renamed,moved-resources-reverted,moved-resources-sources}.test.ts',
  'test/e2e/workspaces/{automatic-destroys,enforced-assessments,foreseen-refusals,locked-workspaces,triggers}.test.ts',
];
const crash = ['test/crash/**/*.test.ts'];
/** They replace a module for everybody who loads it, so no other test may have loaded it before. */
const mocking = ['test/manifest/yaml/parse-documents.test.ts', 'test/manifest/read-manifests.test.ts'];
const slowMocking = ['test/scale/many-documents.test.ts', 'test/e2e/ci/own-work.test.ts'];
/** They need Chromium on this machine. */
const browser = ['test/browser/**/*.test.ts'];
/** They need programs of others on this machine. */
const realClients = ['test/real-clients/**/*.test.ts'];
/** It needs Terraform's provider for workspaces, too. */
const realProvider = ['test/real-provider/**/*.test.ts'];

/** The text of the thread contains other files, whose changes would not end the cached one. */
const uncachedPolicyWorker: Plugin = {
  name: 'uncached-policy-worker',
  configureVitest: ({ defineCacheKeyGenerator }) =>
    defineCacheKeyGenerator(({ id }) => (id.endsWith('/policies/worker-code.ts') ? false : undefined)),
};

export default defineConfig({
  // From its sources the thread of policies takes half a second of processor time to start; builds have it as one text, too.
  plugins: [policyWorker(), uncachedPolicyWorker],
  test: {
    setupFiles: ['./test/support/fixed-seed.ts', './test/support/conformance/record-evidence.ts'],
    globalSetup: ['./test/support/build-once.ts', './test/support/folder-of-run.ts'],
    pool: 'forks',
    // Each process that a test starts is a fork of its worker, which copies the tables of all of its memory.
    execArgv: ['--max-semi-space-size=16', '--heap-growing-percent=40'],
    // Half of the time of many tests is waiting for processes and sockets: there is a worker more than cores.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: ShortFilesLast },
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
            ...flows,
            ...slow,
            ...slowMocking,
            ...crash,
            ...browser,
            ...realClients,
            ...realProvider,
            ...mocking,
          ],
          // Loading all of the product once a file took a third of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'flows',
          include: flows,
          exclude: [...configDefaults.exclude, ...slow, ...slowMocking],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocking', include: mocking } },
      {
        extends: true,
        test: {
          name: 'slow',
          include: slow,
          exclude: [...configDefaults.exclude, ...slowMocking],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'slow-mocking', include: slowMocking } },
      // Only on request: without a name of a project, each of these files would run twice.
      ...(dialectUnderTest === 'neutral'
        ? []
        : [{ extends: true as const, test: { name: 'dialect', include: otherDialect, isolate: false } }]),
      { extends: true, test: { name: 'crash', include: crash } },
      // A busy machine draws a frame after seconds.
      { extends: true, test: { name: 'browser', include: browser, expect: { poll: { timeout: 20_000 } } } },
      { extends: true, test: { name: 'real-clients', include: realClients } },
      { extends: true, test: { name: 'real-provider', include: realProvider } },
    ],
  },
});
