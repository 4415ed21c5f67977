/** `trueup ci apply` after an environment with required reviewers, guards and labels, and code hosts that fail. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApplyScene, openApplyScene } from '../../support/ci/apply-scene.ts';
import { secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const first = workspace('first', { description: 'one' });

/** A merged pull request, and a run of the CI for the commit of the merge. */
async function mergedRun(scene: ApplyScene) {
  const { pull, digest, merge } = await scene.pull([first]);
  merge();
  const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
  const approved = (by: string, environment = 'prod') =>
    scene.github.state.approveRun(run, { by, environment });
  return { run, pull, digest, approved };
}

const waited = (digest: string, environment = 'prod') => ['--digest', digest, '--environment', environment];
const attempt = (number: number) => ({ env: { GITHUB_RUN_ATTEMPT: String(number) } });

describe('An environment with required reviewers', () => {
  it('approves the plan that the previous job recorded', async () => {
    const scene = await openApplyScene();
    const { approved, digest } = await mergedRun(scene);
    const output = join(temporaryFolder({ output: '' }), 'output');
    await scene.ciApply(0, ['--record', '--format', 'github'], { env: { GITHUB_OUTPUT: output } });
    expect(readFileSync(output, 'utf8')).toMatch(new RegExp(`digest<<.*\\n${digest}\\n`));
    expect(scene.bench.wire.writes()).toEqual([]);
    expect((await scene.ciApply(4, waited(digest))).err).toContain('the run has no approval');
    approved('ann');
    expect((await scene.ciApply(4, waited(digest))).err).toContain('"ann" started the run');
    approved('alice', 'other');
    await scene.ciApply(4, waited(digest));
    approved('alice');
    const { out } = await scene.ciApply(0, waited(digest));
    expect(out).toContain('approved by "alice" (environment)');
  });

  it('gets its plan from a job with a read-only token, whose digest is that of a token for writes', async () => {
    const scene = await openApplyScene();
    const config = clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } });
    const documents = [workspace('base', { description: 'new' }), first, role('web'), config];
    const { digest, merge } = await scene.pull(documents, { file: 'base.yaml' });
    merge();
    const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
    const output = join(temporaryFolder({ output: '' }), 'output');
    const { out } = await scene.ciApply(0, ['--record', '--format', 'github'], {
      env: {
        ...{ API_TOKEN: secrets.READ_API_TOKEN, SERVICE_TOKEN: secrets.READ_SERVICE_TOKEN },
        ...{ REVIEWER_JWT: '', GITHUB_OUTPUT: output },
      },
    });
    expect(out).toContain("this plan's token cannot write");
    expect(readFileSync(output, 'utf8')).toMatch(new RegExp(`digest<<.*\\n${digest}\\n`));
    scene.github.state.approveRun(run, { by: 'alice', environment: 'prod' });
    await scene.ciApply(0, waited(digest));
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('approves nothing else in a later attempt of the run', async () => {
    const scene = await openApplyScene();
    const { run, approved, digest } = await mergedRun(scene);
    await scene.ciApply(0, ['--record']);
    approved('alice');
    scene.github.state.restartRun(run, 'ann');
    await setByHand(scene.bench, 'base', { description: 'by hand' });
    scene.push({ 'pay/notes.md': 'x' });
    run.commit = scene.main();
    const other = await scene.pull([workspace('base', { description: 'other' })], { file: 'base.yaml' });
    other.merge();
    run.commit = scene.main();
    expect((await scene.ciApply(4, ['--record'], attempt(2))).err).toContain(
      'this run has recorded the plan',
    );
    const plan = JSON.parse((await scene.run(['plan', '--format', 'json'], 0)).out);
    const { err } = await scene.ciApply(4, waited(plan.digest), attempt(2));
    expect(err).toContain('start a new run');
    expect(err).toContain('exit code 4, stale: Start a new run of the workflow');
    expect(err).not.toContain('begin with "to do"');
    expect((await scene.ciApply(4, waited(digest), attempt(2))).err).toContain('nor what is left of it');
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('approves nothing in a later attempt if the first one recorded nothing', async () => {
    const scene = await openApplyScene();
    const { run, approved, digest } = await mergedRun(scene);
    approved('alice');
    scene.github.state.restartRun(run, 'ann');
    expect((await scene.ciApply(4, waited(digest), attempt(2))).err).toContain(
      'the ledger does not have the plan',
    );
    const { err } = await scene.ciApply(4, ['--record'], attempt(2));
    expect(err).toContain(
      '"alice" has approved the run already, which was not about this plan; start a new run',
    );
  });

  it('does not count the approval of the user who pushed without a pull request, or of anybody if unknown', async () => {
    const scene = await openApplyScene();
    const { state } = scene.github;
    const commit = scene.push({ 'pay/manifests/all.yaml': documentsText([first]) });
    const run = state.startRun({ id: 771, commit, by: 'ann' });
    const { digest } = JSON.parse((await scene.ciApply(0, ['--record', '--format', 'json'])).out);
    for (const by of ['bob', 'carol']) state.approveRun(run, { by, environment: 'prod' });
    state.pushes.splice(0);
    const { err } = await scene.ciApply(4, waited(digest));
    expect(err).toContain('it is not known who made what is approved');
    state.pushTo('main', { by: 'bob', commits: [{ sha: commit, author: 'carol' }] });
    const refused = await scene.ciApply(4, waited(digest));
    for (const by of ['bob', 'carol']) expect(refused.err).toContain(`"${by}" made what is applied`);
    state.approveRun(run, { by: 'alice', environment: 'prod' });
    expect((await scene.ciApply(0, waited(digest))).out).toContain('approved by "alice" (environment)');
  });

  it('approves the plan of a later attempt if the plan job of the first one failed', async () => {
    const scene = await openApplyScene();
    const { run, approved, digest } = await mergedRun(scene);
    scene.bench.wire.add({ path: /workspaces/, fault: { answer: 403 } });
    await scene.ciApply(1, ['--record']);
    scene.bench.wire.reset();
    scene.github.state.restartRun(run, 'ann');
    const unknown = await scene.ciApply(4, ['--record'], { ...attempt(2), token: '' });
    expect(unknown.err).toContain('"GITHUB_TOKEN" is not set');
    await scene.ciApply(0, ['--record'], attempt(2));
    await scene.ciApply(4, waited(digest), attempt(2));
    approved('alice');
    await scene.ciApply(0, waited(digest), attempt(2));
  });

  it("approves no later attempt of a stack's first apply, because no ledger has the recorded plan", async () => {
    const scene = await openApplyScene({}, { isNew: true });
    const { run } = await mergedRun(scene);
    await scene.ciApply(0, ['--record']);
    scene.github.state.restartRun(run, 'ann');
    expect((await scene.ciApply(4, ['--record'], attempt(2))).err).toContain(
      'there is no ledger to keep it in',
    );
  });

  it('lets any number of later attempts finish what earlier ones left', async () => {
    const scene = await openApplyScene({ spec: { approvals: { accept: ['environment'] } } });
    const { pull, merge, digest } = await scene.pull([first, workspace('second'), workspace('third')]);
    merge();
    const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
    await scene.ciApply(0, ['--record']);
    scene.github.state.approveRun(run, { by: 'alice', environment: 'prod' });
    const create = { method: 'POST', path: /workspaces$/ };
    for (const number of [1, 2]) {
      const refused = { ...create, times: 2, fault: { answer: 403 } };
      scene.bench.wire.add({ ...create, fault: { first: async () => {} } }, refused);
      await scene.ciApply(6, waited(digest), attempt(number));
      expect(scene.applyComment(pull)).toContain('Applied in part');
      scene.bench.wire.reset();
      scene.github.state.restartRun(run, 'ann');
    }
    await scene.ciApply(0, waited(digest), attempt(3));
    expect(scene.bench.wire.writes()).toHaveLength(1);
  });
});

describe('A guard of the plan', () => {
  const strict = { spec: { guards: { maxDeletes: 0 } } };

  it('is acknowledged by labels that another person sets after the plan was shown', async () => {
    const scene = await openApplyScene(strict);
    const { state } = scene.github;
    const { pull, approve, merge } = await scene.pull([workspace('other')], { file: 'base.yaml' });
    approve('alice');
    merge();
    const { err } = await scene.ciApply(5);
    const guards = /not acknowledged: ([\w, -]+)/.exec(err)?.[1]?.split(', ') ?? [];
    expect(guards).toContain('deletes');
    expect(err).toContain('exit code 5, blocked by a guard: Read the guards');
    for (const guard of guards) state.label(pull, `trueup-ack/${guard}`, 'ann');
    expect((await scene.ciApply(5)).err).toContain('"ann" is the author of the pull request');
    expect(scene.bench.wire.writes()).toEqual([]);
    for (const guard of guards) state.label(pull, `trueup-ack/${guard}`, 'bob');
    await scene.ciApply(0);
  });
});

describe('A code host that cannot be read', () => {
  it.each([403, 404, 503, 302])('with the answer %i applies nothing', async (status) => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    scene.github.always(({ path }) =>
      path.endsWith('/reviews') ? { status, body: { message: 'no' } } : undefined,
    );
    const { err } = await scene.ciApply(1);
    if (status === 403) expect(err).toContain('give the token of this job the right to read it');
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('without a token counts only signatures', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    const { err } = await scene.ciApply(4, [], { token: '' });
    expect(err).toContain(
      'to do: give access to the code host, and try again: the environment variable "GITHUB_TOKEN" is not set',
    );
    expect(err).not.toContain('let a job wait');
  });
});

describe('A job', () => {
  it.each([
    { GITHUB_EVENT_NAME: 'pull_request_target' },
    { GITHUB_EVENT_NAME: 'merge_group' },
    { CI_MERGE_REQUEST_IID: '7' },
  ])('with %j applies nothing, because it is not of the protected branch', async (env) => {
    const scene = await openApplyScene({}, { isNew: true });
    expect((await scene.ciApply(1, [], { env })).err).toContain('runs on the protected branch');
  });

  it('does not wait for another apply, and reports the lock', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    let other: Promise<unknown> = Promise.resolve();
    scene.bench.wire.add({
      method: 'POST',
      path: /workspaces$/,
      fault: {
        first: async () => {
          other = scene.ciApply(8, [], { env: { GITHUB_RUN_ID: '772' } });
          await other;
        },
      },
    });
    await scene.ciApply(0);
    await other;
  });

  it('applies several stacks one after another, and reports the result of each', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    const { out, err } = await scene.ciApply(1, ['.', 'missing.yaml']);
    expect(out).toContain('.: done, or nothing to do (exit code 0)\nmissing.yaml: error (exit code 1)');
    expect(err).toContain('exit code 1, error: Remove the cause that is reported above');
    expect(await scene.bench.idsOf('first')).toHaveLength(1);
    const same = await scene.ciApply(0, ['.', '../pay', 'trueup.yaml']);
    expect(same.out).not.toContain('exit code');
    await scene.expectRefused('"../.." is not in this repository: name a stack of it', 1, ['../..']);
  });
});
