// docs/guides/ci.md word for word: its commands run in an empty directory, with the package that `npm pack` makes. Then the jobs of its
// workflows run for the pull request that it opens, against a double of GitHub, until the change is applied.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runAction } from './support/ci/run-steps.ts';
import { openBench, secrets } from './support/cli/bench.ts';
import { githubJob, openGithub } from './support/code-host/github.ts';
import { git } from './support/ledger/git-remote.ts';
import { packInto, userEnvironment } from './support/packed-package.ts';
import { makeFolder, temporaryFolder } from './support/rig/temporary-folder.ts';
import { stepsOf, runAllSteps } from './support/typed-page.ts';

const page = readFileSync(fileURLToPath(new URL('../docs/guides/ci.md', import.meta.url)), 'utf8');

it('the guide leads from an empty repository to a pull request whose plan is applied', async () => {
  const [bench, github] = [await openBench(), await openGithub()];
  const [home, prefix, place] = [makeFolder(), makeFolder(), temporaryFolder()];
  const remote = join(place, 'infra.git');
  git(place, 'init', '--quiet', '--bare', '-b', 'main', remote);
  git(remote, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  const { tarball } = await packInto(home);
  const identity = { NAME: 'Ann', EMAIL: 'ann@example.com' };
  const people = ['AUTHOR', 'COMMITTER'].flatMap((who) =>
    Object.entries(identity).map(([name, value]) => [`GIT_${who}_${name}`, value]),
  );
  const env = {
    ...userEnvironment({ home, prefix, node: process.execPath }),
    ...Object.fromEntries(people),
    ...secrets,
  };
  const typed = await runAllSteps(stepsOf(page), {
    cwd: place,
    env: {
      ...env,
      REPOSITORY: remote,
      SERVICE_URL: bench.wire.url,
      DIALECT: 'neutral',
      TRUEUP_SOURCE: tarball,
    },
  });
  expect(typed.join('\n')).toContain('Workspace/acme/network');

  const work = join(place, 'infra');
  const head = git(work, 'rev-parse', 'first');
  const pull = github.state.openPull({ number: 11, author: 'ann', head, branch: 'first' });
  for (const user of ['ann', 'alice']) github.state.permissions.set(user, 'write');
  const job = async (branch: string, command: string, more: Readonly<Record<string, string>>) => {
    const cwd = join(temporaryFolder(), 'clone');
    git(place, 'clone', '--quiet', '--depth=1', '--branch', branch, `file://${remote}`, cwd);
    const of = { ...env, ...githubJob(github), GITHUB_RUN_ID: '771', GITHUB_WORKSPACE: cwd, ...more };
    return runAction({ command }, { cwd, env: of });
  };

  const repo = { full_name: 'acme/infra' };
  const base = { sha: git(work, 'rev-parse', 'main'), ref: 'main', repo };
  const event = {
    number: 11,
    state: 'open',
    user: { login: 'ann' },
    head: { sha: head, ref: 'first', repo },
    base,
  };
  const file = join(temporaryFolder(), 'event.json');
  writeFileSync(file, JSON.stringify({ number: 11, pull_request: event }));
  const ofPull = {
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_REF: 'refs/pull/11/merge',
    GITHUB_EVENT_PATH: file,
  };
  const planned = await job('first', 'plan', ofPull);
  expect(planned, planned.out + planned.err).toMatchObject({ code: 0 });
  expect(pull.comments.map(({ body }) => body).join()).toContain('network');

  const ofMain = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main' };
  github.state.review(pull, { by: 'alice' });
  git(work, 'switch', '--quiet', 'main');
  git(work, 'merge', '--quiet', '--no-ff', '-m', 'Merge', 'first');
  git(work, 'push', '--quiet', 'origin', 'main');
  github.state.merge(pull, { by: 'ann', commits: [git(work, 'rev-parse', 'main')] });
  const applied = await job('main', 'apply', ofMain);
  expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
  expect(applied.out).toContain('approved by "alice" (review, pull request 11)');
  expect(await bench.idsOf('network')).toHaveLength(1);
}, 300_000);
