// action.yml and examples/ci/github: bash runs each `run:` step against a double of GitHub. Not tested, because it needs a runner of
// GitHub: steps with `uses:`, how a runner evaluates expressions, and what it does with permissions, secrets and environments.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openApplyScene, type ApplyScene } from '../../support/ci/apply-scene.ts';
import { pinTrueup } from '../../support/ci/pinned-trueup.ts';
import {
  readYaml,
  runAction,
  runSteps,
  type WorkflowFile,
  type WorkflowStep,
} from '../../support/ci/run-steps.ts';
import { secrets } from '../../support/cli/bench.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { githubJob } from '../../support/code-host/github.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const folder = 'examples/ci/github';
const workflows = readdirSync(fileURLToPath(new URL(`../../../${folder}`, import.meta.url)))
  .filter((name) => name.endsWith('.yml'))
  .map((name) => `${folder}/${name}`);

const stepsOf = (path: string): readonly WorkflowStep[] =>
  path === 'action.yml'
    ? readYaml<{ runs: { steps: WorkflowStep[] } }>(path).runs.steps
    : Object.values(readYaml<WorkflowFile>(path).jobs).flatMap(({ steps }) => steps);

describe.each(['action.yml', ...workflows])('%s', (path) => {
  it('has no expression in a script, because a name from outside could run as code there', () => {
    for (const { run = '' } of stepsOf(path)) expect(run).not.toContain('${{');
  });
});

it.each(workflows)('%s gives the action only inputs that it has', (path) => {
  const { inputs } = readYaml<{ inputs: object }>('action.yml');
  const steps = stepsOf(path).filter(({ uses }) => uses === './.github/actions/trueup');
  expect(steps).not.toEqual([]);
  for (const { with: given = {} } of steps)
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given)));
});

it.each(workflows.filter((path) => path.includes('apply')))(
  '%s can be started manually, only for the protected branch',
  (path) => {
    const { on, jobs } = readYaml<WorkflowFile>(path);
    expect(Object.keys(on)).toContain('workflow_dispatch');
    for (const { needs, if: condition } of Object.values(jobs))
      if (needs === undefined) expect(condition).toBe("github.ref == 'refs/heads/main'");
  },
);

it('a workflow with the action has at most ten lines of steps', () => {
  const text = readFileSync(new URL(`../../../${folder}/pull-request.yml`, import.meta.url), 'utf8');
  expect(text.split('steps:\n')[1]?.split('\n').length).toBeLessThanOrEqual(10);
});

describe('the action', () => {
  it('plans a pull request: comment, outputs, and plan files to upload', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/new.yaml': documentsText([workspace('pay-new')]) });
    const job = await scene.job({
      before: pinTrueup,
      runs: (cwd, env) => runAction({ command: 'plan' }, { cwd, env }),
    });
    expect(job, job.out + job.err).toMatchObject({ code: 0 });
    expect(job.outputs).toMatchObject({ stack: 'pay', changes: '2', 'exit-code': '0' });
    expect(scene.github.comments.map(({ body }) => body).join()).toContain('pay-new');
    expect(existsSync(join(job.clone, 'plans', 'pay.plan.json'))).toBe(true);
  });

  it('plans the one stack of a matrix job, also in a folder with a space', async () => {
    const scene = await openCiScene();
    scene.propose({
      'stacks/two words/trueup.yaml': scene.stack('words'),
      'stacks/two words/manifests/app.yaml': documentsText([workspace('words-app')]),
    });
    const job = await scene.job({
      before: pinTrueup,
      runs: (cwd, env) => runAction({ command: 'plan', stacks: 'stacks/two words\n' }, { cwd, env }),
    });
    expect(job, job.out + job.err).toMatchObject({ code: 0, outputs: { stack: 'words' } });
  });

  it('fails with the exit code of trueup', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/new.yaml': 'apiVersion: trueup.dev/v1\nkind: Nothing\n' });
    const runs = (cwd: string, env: Readonly<Record<string, string>>) =>
      runAction({ command: 'plan' }, { cwd, env });
    expect(await scene.job({ before: pinTrueup, runs })).toMatchObject({
      code: 7,
      outputs: { 'exit-code': '7' },
    });
  });

  it('applies a plan after a review approved it, and not before', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { approve, merge } = await scene.pull([workspace('first')]);
    merge();
    const refused = await applyJob(scene, { command: 'apply', stacks: 'pay' });
    expect(refused, refused.out).toMatchObject({ code: 4 });
    expect(scene.bench.wire.writes()).toEqual([]);
    approve('alice');
    const done = await applyJob(scene, { command: 'apply', stacks: 'pay' });
    expect(done, done.err).toMatchObject({ code: 0 });
    expect(done.out).toContain('approved by "alice" (review, pull request 11)');
  });

  it('records a plan for the reviewers of an environment, and applies it after they approved it', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { digest, merge } = await scene.pull([workspace('first')]);
    merge();
    const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
    const recorded = await applyJob(scene, { command: 'record', stacks: 'pay' });
    expect(recorded.outputs).toContain(digest);
    const wanted = { command: 'apply', stacks: 'pay', environment: 'production', digest };
    expect(await applyJob(scene, wanted)).toMatchObject({ code: 4 });
    scene.github.state.approveRun(run, { by: 'alice', environment: 'production' });
    const done = await applyJob(scene, wanted);
    expect(done, done.err).toMatchObject({ code: 0 });
    expect(done.out).toContain('approved by "alice" (environment)');
  });

  it('adds trueup to the PATH of later steps, and refuses an unknown command', async () => {
    const cwd = temporaryFolder();
    pinTrueup(cwd);
    const files = temporaryFolder({ path: '' });
    const env = { PATH: process.env['PATH'] ?? '', GITHUB_PATH: join(files, 'path') };
    expect(await runAction({ command: 'install' }, { cwd, env })).toMatchObject({ code: 0 });
    expect(readFileSync(join(files, 'path'), 'utf8')).toBe(`${cwd}/tools/trueup/node_modules/.bin\n`);
    const { code, out } = await runAction({ command: '$(touch x)' }, { cwd, env });
    expect([code, out.includes('::error::the input "command"')]).toEqual([1, true]);
    expect(existsSync(join(cwd, 'x'))).toBe(false);
  });
});

interface Hook {
  readonly id: string;
  readonly entry: string;
  readonly language: string;
}

describe('the hooks for pre-commit', () => {
  const stack = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name: 'pay' },
    spec: {
      manifests: ['*.yaml', '!trueup.yaml'],
      targets: [{ name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' }],
    },
  };
  const good = 'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app }\nspec: {}\n';

  it.each([
    ['trueup-validate', good.replace('spec: {}', 'spec: { autoAply: true }'), 7],
    ['trueup-fmt', good.replace('{ name: app }', '{name:   app}'), 2],
  ])('%s passes, and fails for a bad manifest', async (id, bad, code) => {
    const hook = readYaml<Hook[]>('.pre-commit-hooks.yaml').find((one) => one.id === id);
    expect(hook?.language).toBe('system');
    const cwd = temporaryFolder({ 'trueup.yaml': JSON.stringify(stack), 'app.yaml': good });
    pinTrueup(cwd);
    const env = { PATH: process.env['PATH'] ?? '' };
    const run = () =>
      runSteps(
        [{ run: 'npm ci --offline --prefix tools/trueup' }, { run: hook?.entry ?? '' }],
        { cwd, env },
        String,
      );
    await runSteps(
      [{ run: 'npm ci --offline --prefix tools/trueup && tools/trueup/node_modules/.bin/trueup fmt' }],
      { cwd, env },
      String,
    );
    expect(await run()).toMatchObject({ code: 0 });
    writeFileSync(join(cwd, 'app.yaml'), bad);
    expect(await run()).toMatchObject({ code });
  });
});

/** A job of the protected branch. */
async function applyJob({ scene, github }: ApplyScene, inputs: Readonly<Record<string, string>>) {
  const cwd = scene.remote.clone('--depth=1');
  pinTrueup(cwd);
  const files = temporaryFolder({ outputs: '' });
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...secrets,
    ...githubJob(github),
    GITHUB_REF: 'refs/heads/main',
    GITHUB_RUN_ID: '771',
    GITHUB_JOB: 'apply',
    GITHUB_OUTPUT: join(files, 'outputs'),
  };
  const ended = await runAction(inputs, { cwd, env });
  return { ...ended, outputs: readFileSync(join(files, 'outputs'), 'utf8') };
}
