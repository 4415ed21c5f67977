/**
 * One pull request from its opening until it is applied, with the commands that a CI runs: `trueup ci plan` in the job of the pull request
 * and of the merge queue, `trueup ci apply` on the protected branch. Each combination of approval, merge and ledger has a test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApplyScene, openApplyScene } from '../../support/ci/apply-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { git } from '../../support/ledger/git-remote.ts';
import {
  findPostgres,
  type PostgresServer,
  postgresIsRequired,
  startPostgres,
} from '../../support/ledger/postgres-server.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });
const guards = { maxDeletes: 0 };
const isPlannedByJob = true;

/** The job of a merge queue: the branch of a pull request on top of the protected one. */
async function queue(scene: ApplyScene, number: number, file?: string) {
  const { author } = scene.scene;
  const before = scene.main();
  git(author, 'fetch', '--quiet', 'origin');
  git(author, 'checkout', '--quiet', '-B', 'queue', 'origin/main');
  git(
    author,
    'merge',
    '--quiet',
    '--no-ff',
    '-m',
    `Merge pull request #${number} from acme/x`,
    `change-${number}`,
  );
  if (file !== undefined) {
    git(author, 'rm', '--quiet', file);
    git(author, 'commit', '--quiet', '--amend', '--no-edit');
  }
  git(author, 'push', '--quiet', '--force', 'origin', 'queue');
  const head = git(author, 'rev-parse', 'HEAD');
  const group = { head_sha: head, base_sha: before, base_ref: 'refs/heads/main' };
  return scene.ciPlan(
    head,
    { action: 'checks_requested', merge_group: group },
    {
      env: {
        GITHUB_EVENT_NAME: 'merge_group',
        GITHUB_REF: `refs/heads/gh-readonly-queue/main/pr-${number}-${before}`,
      },
    },
  );
}

async function isApplied(scene: ApplyScene, method: string): Promise<void> {
  expect((await scene.ciApply(0, ['.'])).out).toContain('No changes');
  const { out } = await scene.run(['history', '--limit', '20', '--format', 'json'], 0);
  const { entries } = JSON.parse(out);
  const given = entries.flatMap(({ approvals = [] }: { approvals?: { method: string }[] }) => approvals);
  expect(given.map((one: { method: string }) => one.method)).toContain(method);
}

describe('A pull request is planned, approved, merged and applied', { timeout: 180_000 }, () => {
  it('with reviews, a guard, a merge queue, two squashed pull requests, and the ledger in git', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git', guards } });
    const one = await scene.pull([first], { file: 'one.yaml', isPlannedByJob });
    const two = await scene.pull([second], { file: 'base.yaml', author: 'carol', isPlannedByJob });
    const { state } = scene.github;
    one.approve('alice');
    two.approve('bob');
    // The queue must merge exactly the reviewed plan.
    expect(await queue(scene, two.pull.number, 'pay/manifests/base.yaml')).not.toMatchObject({ code: 0 });
    const queued = await queue(scene, two.pull.number);
    expect(queued, queued.out + queued.err).toMatchObject({ code: 0 });
    one.merge('squash');
    two.merge('squash');
    const { err } = await scene.ciApply(5);
    expect(err).toContain('guards that are not acknowledged: deletes');
    state.label(two.pull, 'trueup-ack/deletes', 'alice');
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "alice" (review, pull request 11)');
    expect(out).toContain('approved by "bob" (review, pull request 12)');
    expect(scene.applyComment(two.pull)).toContain('Applied');
    expect([await scene.bench.idsOf('first'), await scene.bench.idsOf('base')]).toMatchObject([[/ws-/], []]);
    await isApplied(scene, 'review');
  });

  it('with an environment, drift between approval and apply, and a merge commit', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { digest, merge } = await scene.pull([workspace('base', { description: 'new' })], {
      ...{ file: 'base.yaml', isPlannedByJob },
    });
    merge();
    const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
    const output = join(temporaryFolder({ output: '' }), 'output');
    await scene.ciApply(0, ['--record', '--format', 'github'], { env: { GITHUB_OUTPUT: output } });
    expect(readFileSync(output, 'utf8')).toContain(digest);
    scene.github.state.approveRun(run, { by: 'alice', environment: 'prod' });
    const waited = ['--digest', digest, '--environment', 'prod'];
    await setByHand(scene.bench, 'base', { description: 'by hand' });
    scene.bench.wire.reset();
    await scene.ciApply(4, waited);
    expect(scene.bench.wire.writes()).toEqual([]);
    await setByHand(scene.bench, 'base', { description: '' });
    const { out } = await scene.ciApply(0, waited);
    expect(out).toContain('approved by "alice" (environment)');
    await isApplied(scene, 'environment');
  });
});

const bin = findPostgres();

describe.skipIf(bin === undefined && !postgresIsRequired)('With the ledger in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(() => {
    server = startPostgres(bin ?? '');
  });
  afterAll(() => server?.stop());

  it('a pull request with a signature that acknowledges its guard is applied after a rebase', async () => {
    const approvals = { accept: ['signature'], from: [{ signers: 'allowed_signers' }] };
    const scene = await openApplyScene(
      { spec: { ledger: 'postgres', guards, approvals } },
      { signers: ['alice'], env: { TRUEUP_LEDGER_URL: server.newDatabase() } },
    );
    const { pull, digest, merge } = await scene.pull([second], { file: 'base.yaml', isPlannedByJob });
    merge('rebase');
    await scene.ciApply(4);
    await scene.sign({ digest, commit: pull.head, by: 'alice', acknowledged: ['deletes'] });
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "alice@example.com" (signature, pull request 11)');
    await isApplied(scene, 'signature');
  });
});
