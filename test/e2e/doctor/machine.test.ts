// What trueup doctor reports about this machine: Node, git, and the CI job.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkNode, oldestNode } from '../../../src/commands/doctor/check-machine.ts';
import about from '../../../package.json' with { type: 'json' };
import { runDoctor } from '../../support/cli/doctor-report.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { stackText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** A target that needs no address. */
const embedded = [
  { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme', dialect: 'neutral' },
];
const empty = stackText({ targets: embedded, manifests: [] });
const PATH = process.env['PATH'] ?? '';

/** Examines a stack with an embedded target in this environment. HERE in a value is replaced by the folder. */
const withEnv = (env: Record<string, string>, files: Record<string, string> = {}) => {
  const cwd = temporaryFolder({ 'trueup.yaml': empty, ...files });
  const placed = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('HERE', cwd)]),
  );
  return runDoctor({ cwd, env: placed });
};

describe('trueup doctor reports about Node', () => {
  it('that it is older than the package allows', () => {
    expect(about.engines.node).toBe(`>=${oldestNode.major}.${oldestNode.minor}`);
    expect(checkNode('v22.17.1')).toEqual([
      expect.objectContaining({ level: 'error', id: 'node-too-old', fix: 'install Node 22.18 or newer' }),
    ]);
    expect(checkNode('v20.19.0')).toEqual([expect.objectContaining({ level: 'error' })]);
    for (const version of ['v22.18.0', 'v23.0.0', 'v100.1.0'])
      expect(checkNode(version)).toEqual([expect.objectContaining({ level: 'ok' })]);
  });
});

describe('trueup doctor reports about git', () => {
  it('that it is missing, as an error only if the ledger needs it', async () => {
    const cwd = temporaryFolder({ 'trueup.yaml': empty });
    const env = { PATH: cwd };
    expect(await runDoctor({ cwd, env })).toMatchObject({ code: 0, summary: { warnings: 1 } });
    const needs = temporaryFolder({
      'trueup.yaml': stackText({ targets: embedded, manifests: [], spec: { ledger: 'git' } }),
    });
    const found = await runDoctor({ cwd: needs, env });
    expect(found.one('git-missing')).toMatchObject({
      level: 'error',
      fix: expect.stringContaining('install git'),
    });
  });

  it('a shallow clone, a repository without a commit, and no repository', async () => {
    const shallow = makeRemote().clone('--depth', '2');
    writeFileSync(join(shallow, 'trueup.yaml'), empty);
    const found = await runDoctor({ cwd: shallow, env: { PATH } });
    expect(found.one('git-shallow').message).toContain('a shallow clone with 2 commits');
    expect(found.one('git-shallow').fix).toContain('fetch-depth: 0');
    const fresh = temporaryFolder({ 'trueup.yaml': empty });
    expect((await runDoctor({ cwd: fresh, env: { PATH } })).of('git')).toEqual(['info git-no-repository']);
    git(fresh, 'init', '--quiet');
    expect((await runDoctor({ cwd: fresh, env: { PATH } })).of('git')).toEqual(['warning git-no-commit']);
  });
});

const event = (from: string) =>
  JSON.stringify({
    pull_request: {
      number: 7,
      head: { sha: 'a'.repeat(40), repo: { full_name: from } },
      base: { repo: { full_name: 'acme/infra' } },
    },
  });

const action = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '771', GITHUB_EVENT_PATH: 'HERE/event.json' };

describe('trueup doctor reports about a CI job', () => {
  it('that its pull request comes from a fork, so that it has no secrets', async () => {
    const files = { 'event.json': event('stranger/infra') };
    const found = await withEnv({ ...action, GITHUB_EVENT_NAME: 'pull_request' }, files);
    expect(found.one('ci-fork')).toMatchObject({ level: 'warning' });
    const target = {
      ...action,
      GITHUB_EVENT_NAME: 'pull_request_target',
      GITHUB_TOKEN: 'planted-token-of-github',
    };
    expect((await withEnv(target, files)).of('ci')).toEqual(['ok ci']);
    const merge = {
      ...{ GITLAB_CI: 'true', CI_PIPELINE_ID: '1', CI_MERGE_REQUEST_IID: '7' },
      ...{ CI_MERGE_REQUEST_PROJECT_ID: '10', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '11' },
    };
    expect((await withEnv(merge)).of('ci')).toEqual(['warning ci-fork']);
  });

  it('that it cannot write a comment', async () => {
    const found = await withEnv(action, { 'event.json': event('acme/infra') });
    expect(found.one('ci-no-comment-token').fix).toContain('pull-requests: write');
  });

  it('that it gets no protected variables', async () => {
    const found = await withEnv({
      ...{ GITLAB_CI: 'true', CI_PIPELINE_ID: '1', CI_COMMIT_REF_PROTECTED: 'false' },
    });
    expect(found.of('ci')).toEqual(['info ci-unprotected-branch']);
  });

  it('that its CI is not known, unless TRUEUP_RUN_ID names the job', async () => {
    expect((await withEnv({ CI: 'true' })).one('ci-unknown-job').fix).toContain('TRUEUP_RUN_ID');
    expect((await withEnv({ CI: 'true', TRUEUP_RUN_ID: '7' })).of('ci')).toEqual(['ok ci']);
    expect((await withEnv({ CI: 'false' })).of('ci')).toEqual(['ok ci']);
  });
});
