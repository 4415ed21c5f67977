// examples/ci/gitlab/.gitlab-ci.yml, run unchanged by a local runner with its shell executor, in clones of a real repository and against
// a double of GitLab. Not tested, because it needs GitLab itself: images, protected variables and environments, resource groups.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openApplyScene, openGitlabScene } from '../../support/ci/apply-scene.ts';
import { pinTrueup } from '../../support/ci/pinned-trueup.ts';
import { secrets } from '../../support/cli/bench.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { gitlabTokens, openGitlab } from '../../support/code-host/gitlab.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const runner = join(root, '.ci/tools/node_modules/gitlab-ci-local/dist/index.js');

/** `npm ci --prefix .ci/tools` installs the runner, which needs rsync; with TRUEUP_REQUIRE_CI_TOOLS=1 both are required. */
const hasRunner = existsSync(runner) && spawnSync('rsync', ['--version']).status === 0;
const isSkipped = !hasRunner && process.env['TRUEUP_REQUIRE_CI_TOOLS'] !== '1';
if (isSkipped) console.warn('SKIPPED, for there is no gitlab-ci-local in .ci/tools, or no rsync');

/** Runs the jobs whose rules admit them. */
async function pipeline(clone: string, variables: Readonly<Record<string, string>>) {
  copyFileSync(join(root, 'examples/ci/gitlab/.gitlab-ci.yml'), join(clone, '.gitlab-ci.yml'));
  pinTrueup(clone);
  // The runner reads the name of the project from the remote, and jobs need the real remote.
  const remote = git(clone, 'remote', 'get-url', 'origin');
  git(clone, 'remote', 'set-url', 'origin', 'https://gitlab.example.com/acme/infra.git');
  git(clone, 'config', `url.${remote}.insteadOf`, 'https://gitlab.example.com/acme/infra.git');
  const all = { GITLAB_CI: 'true', ...variables };
  const given = Object.entries(all).flatMap(([name, value]) => ['--variable', `${name}=${value}`]);
  const options = [
    '--force-shell-executor',
    '--no-artifacts-to-source',
    '--ignore-predefined-vars',
    Object.keys(all).join(','),
  ];
  const child = spawn(process.execPath, [runner, ...options, ...given], {
    cwd: clone,
    env: { PATH: process.env['PATH'], HOME: clone, CI: 'true', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number, out: out + err, err };
}

describe.skipIf(isSkipped)("GitLab's file", { timeout: 240_000 }, () => {
  it('plans a merge request, and posts the plan as a note', async () => {
    const [scene, gitlab] = [await openCiScene(), await openGitlab()];
    const head = scene.propose({ 'stacks/pay/manifests/new.yaml': documentsText([workspace('pay-new')]) });
    const job = await scene.job({
      ref: 'head',
      runs: (cwd) =>
        pipeline(cwd, {
          ...secrets,
          ...ofProject(gitlab.url),
          CI_PIPELINE_SOURCE: 'merge_request_event',
          CI_COMMIT_BRANCH: '',
          CI_MERGE_REQUEST_IID: '3',
          CI_MERGE_REQUEST_PROJECT_ID: '5',
          CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '5',
          CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head,
          CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
        }),
    });
    expect(job, job.out).toMatchObject({ code: 0 });
    expect(job.out).toContain('PASS  plan');
    expect(gitlab.notes.map(({ body }) => body).join()).toContain('pay-new');
    expect(existsSync(join(job.clone, '.gitlab-ci-local/artifacts/plan/plans/pay.plan.json'))).toBe(true);
  });

  it('applies a merged plan after a person signed it, and not before', async () => {
    const spec = {
      ledger: 'git',
      approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] },
    };
    const [scene, gitlab] = [await openApplyScene({ spec }, { signers: ['alice'] }), await openGitlab()];
    const { pull, digest, merge } = await scene.pull([workspace('first')]);
    merge();
    const apply = () =>
      pipeline(scene.scene.remote.clone(), { ...secrets, ...ofMain(gitlab.url), GITLAB_TOKEN: '' });
    const refused = await apply();
    expect(refused.out).toContain('exit code 4');
    expect(refused.code).not.toBe(0);
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    const done = await apply();
    expect(done.out).toContain('approved by "alice@example.com" (signature)');
    expect(done).toMatchObject({ code: 0 });
    expect(await scene.bench.idsOf('first')).toHaveLength(1);
  });

  it('records a plan, and applies it in the job whose deployment was approved', async () => {
    const spec = { ledger: 'git', approvals: { accept: ['environment'] } };
    const scene = await openGitlabScene({ spec });
    const { gitlab } = scene;
    const { digest, merge } = await scene.pull([workspace('first')]);
    merge();
    const commit = scene.main();
    const deployed = { job: 1000, pipeline: 100, environment: 'production', commit, triggeredBy: 'ann' };
    const deployment = gitlab.state.deploy(deployed);
    const more = { TRUEUP_WAITS: 'yes', CI_PIPELINE_ID: '100', CI_JOB_ID: '1000' };
    const run = () =>
      pipeline(scene.scene.remote.clone(), {
        ...secrets,
        ...ofMain(gitlab.url),
        ...more,
        CI_COMMIT_SHA: commit,
      });
    const refused = await run();
    expect(refused.out).toContain(digest);
    expect(refused.code).not.toBe(0);
    expect(scene.bench.wire.writes()).toEqual([]);
    gitlab.state.members.set('bob', 40);
    gitlab.state.user('bob');
    gitlab.state.approveDeployment(deployment, 'bob');
    const done = await run();
    expect(done.out).toContain('approved by "bob" (environment)');
    expect(done).toMatchObject({ code: 0 });
    const again = await run();
    expect(again, again.out).toMatchObject({ code: 0 });
    expect(again.out.match(/^.*nothing to apply$/gm)).toHaveLength(2);
  });
});

const ofProject = (url: string) => ({
  CI_API_V4_URL: `${url}/api/v4`,
  CI_PROJECT_ID: '5',
  CI_COMMIT_REF_PROTECTED: 'true',
  GITLAB_TOKEN: gitlabTokens.project,
});

const ofMain = (url: string) => ({
  ...ofProject(url),
  CI_PIPELINE_SOURCE: 'push',
  CI_COMMIT_BRANCH: 'main',
  CI_DEFAULT_BRANCH: 'main',
});
