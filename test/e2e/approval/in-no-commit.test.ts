// Changes that were applied but are in no commit that others have are reverted only after an acknowledgement.
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { type Job, type Jobs, openJobs } from '../../support/ledger/commit-jobs.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder, writeFiles } from '../../support/rig/temporary-folder.ts';

const app = (description: string) => workspace('app', { description });
const web = (description: string) => workspace('web', { description });
const text = (...documents: readonly object[]) => documents.map((one) => JSON.stringify(one)).join('\n---\n');

/** Edits the manifests of a clone. */
function edit({ directory }: Job, ...documents: readonly object[]): Promise<void> {
  return writeFile(join(directory, 'manifests', 'all.yaml'), text(...documents));
}

async function expectBlocked({ bench }: Jobs, job: Job): Promise<void> {
  bench.wire.reset();
  const { guards } = await job.plan();
  expect(guards.find(({ id }) => id === 'commit-unknown')).toMatchObject({ effect: 'blocks' });
  await job.run(['apply', '--yes'], 5);
  expect(bench.wire.writes()).toEqual([]);
}

/** A pushed and applied commit with two workspaces, and a clone in which somebody works. */
async function opened() {
  const jobs = await openJobs();
  const commit = jobs.declare(app('one'), web('one'));
  await jobs.job(commit).run(['apply', '--yes'], 0);
  const mine = jobs.job(commit);
  const commitHere = (message: string, ...more: readonly string[]) =>
    git(mine.directory, 'commit', '--quiet', '--all', '-m', message, ...more);
  return { ...jobs, commit, mine, commitHere };
}

describe('a commit that was applied and never pushed is not reverted', () => {
  it('after it was amended, and applied again with nothing to do', async () => {
    const jobs = await opened();
    const { mine, commitHere } = jobs;
    await edit(mine, app('mine'), web('one'), workspace('extra'));
    commitHere('first words');
    await mine.run(['apply', '--yes'], 0);
    commitHere('better words', '--amend');
    await mine.run(['apply', '--yes'], 0);
    await expectBlocked(jobs, jobs.job(jobs.commit));
  });

  it('if it was applied before it was committed, and then again with nothing to do', async () => {
    const jobs = await opened();
    const { mine, commitHere } = jobs;
    await edit(mine, app('mine'), web('one'), workspace('extra'));
    await mine.run(['apply', '--yes'], 0);
    commitHere('now committed');
    await mine.run(['apply', '--yes'], 0);
    await expectBlocked(jobs, jobs.job(jobs.commit));
  });

  it('after the next one of the same clone was applied', async () => {
    const jobs = await opened();
    const { mine, commitHere } = jobs;
    await edit(mine, app('mine'), web('one'), workspace('extra'));
    commitHere('one');
    await mine.run(['apply', '--yes'], 0);
    await edit(mine, app('mine'), web('two'), workspace('extra'));
    commitHere('two');
    await mine.run(['apply', '--yes'], 0);
    await expectBlocked(jobs, jobs.job(jobs.declare(app('one'), web('two'))));
  });

  it('but fields that earlier commits set can be changed without a block', async () => {
    const jobs = await opened();
    const { mine, commitHere } = jobs;
    await edit(mine, app('mine'), web('one'));
    commitHere('one');
    await mine.run(['apply', '--yes'], 0);
    const next = jobs.job(jobs.declare(app('mine'), web('two')));
    expect((await next.plan()).guards).toMatchObject([{ id: 'commit-unknown', effect: 'warns' }]);
    await next.run(['apply', '--yes'], 0);
  });
});

describe('an apply for which git could not find the commit', () => {
  async function appliedWithoutGit() {
    const jobs = await opened();
    const later = jobs.declare(app('two'), web('one'), workspace('new'));
    const bare = jobs.job(later);
    await rm(join(bare.directory, '..', '.git'), { recursive: true });
    await bare.run(['apply', '--yes'], 0);
    return { ...jobs, later };
  }

  it('is not reverted by somebody who has not pulled', async () => {
    const jobs = await appliedWithoutGit();
    await expectBlocked(jobs, jobs.job(jobs.commit));
  });

  it('does not block a commit with the same manifests, nor later commits', async () => {
    const { job, later, declare, store } = await appliedWithoutGit();
    expect((await job(later).plan()).guards).toEqual([]);
    await job(later).run(['apply', '--yes'], 0);
    const { commit } = await store.read();
    expect(commit).toMatchObject({ id: later });
    expect(commit).not.toHaveProperty('uncommitted');
    expect((await job(declare(app('three'), web('one'))).plan()).guards).toEqual([]);
  });
});

describe('an apply from standard input', () => {
  it('of the output of an edited program is not reverted by the last commit of the program', async () => {
    const jobs = await openJobs({ spec: { manifests: ['-'] } });
    const commit = jobs.scene.commit({ 'pay/make.sh': 'old' });
    const mine = jobs.job(commit);
    await mine.run(['apply', '--yes'], 0, text(app('one')));
    await writeFile(join(mine.directory, 'make.sh'), 'edited');
    await mine.run(['apply', '--yes'], 0, text(app('mine'), workspace('extra')));
    const other = jobs.job(commit);
    const piped = (args: readonly string[], code: number) => other.run(args, code, text(app('one')));
    const { out } = await piped(['plan', '--format', 'json'], 0);
    expect(JSON.parse(out).acknowledge).toContain('commit-unknown');
    await piped(['apply', '--yes'], 5);
  });

  it('counts as that of the commit if only new files were written beside it', async () => {
    const jobs = await openJobs({ spec: { manifests: ['-'] } });
    const mine = jobs.job(jobs.scene.commit({ 'pay/make.sh': 'old' }));
    await writeFile(join(mine.directory, 'plan.json'), '');
    await mine.run(['apply', '--yes'], 0, text(app('one')));
    expect((await jobs.store.read()).commit).not.toHaveProperty('uncommitted');
  });
});

describe('manifests that git ignores', () => {
  async function appliedIgnored() {
    const jobs = await openJobs();
    const commit = jobs.scene.commit({
      'pay/manifests/app.yaml': text(app('one')),
      'pay/.gitignore': 'local-*\n',
    });
    const generate = async (job: Job, ...documents: readonly object[]) => {
      await writeFile(join(job.directory, 'manifests', 'local-more.yaml'), text(...documents));
      return job;
    };
    const mine = await generate(jobs.job(commit), workspace('extra'));
    await mine.run(['apply', '--yes'], 0);
    return { ...jobs, commit, mine, generate };
  }

  it('are not deleted by a checkout that lacks them', async () => {
    const jobs = await appliedIgnored();
    await expectBlocked(jobs, jobs.job(jobs.commit));
    expect(await jobs.bench.idsOf('extra')).toHaveLength(1);
  });

  it('block nothing if each job generates them again, also with other edits', async () => {
    const { commit, job, mine, generate } = await appliedIgnored();
    const next = await generate(job(commit), web('one'));
    expect((await next.plan()).guards).toEqual([]);
    await next.run(['apply', '--yes'], 0);
    await writeFile(join(mine.directory, 'manifests', 'app.yaml'), text(app('two')));
    expect((await mine.plan()).guards).toEqual([]);
  });

  it('generated by an edited program are not reverted by the last commit of the program', async () => {
    const jobs = await appliedIgnored();
    const { mine, generate, commit, job } = jobs;
    await writeFile(join(mine.directory, '.gitignore'), 'local-*\n# edited\n');
    await (await generate(mine, workspace('extra'), web('mine'))).run(['apply', '--yes'], 0);
    await expectBlocked(jobs, await generate(job(commit), workspace('extra')));
  });

  it('do not hide a later apply for which git could not find the commit', async () => {
    const jobs = await appliedIgnored();
    const { generate, commit, job } = jobs;
    const bare = await generate(job(commit), workspace('extra'), web('new'));
    await rm(join(bare.directory, '..', '.git'), { recursive: true });
    await bare.run(['apply', '--yes'], 0);
    await expectBlocked(jobs, await generate(job(commit), workspace('extra')));
  });
});

describe('a removal that is in the index only', () => {
  it.each(['link', 'submodule'])('of a %s is not reverted by a clean checkout', async (kind) => {
    const jobs = await openJobs({
      spec: { manifests: ['manifests/**/*.yaml'] },
    });
    const { author } = jobs.scene;
    const runGit = (directory: string, ...args: readonly string[]) =>
      git(directory, '-c', 'protocol.file.allow=always', ...args);
    if (kind === 'link') {
      mkdirSync(join(author, 'pay', 'manifests'));
      symlinkSync('../../team', join(author, 'pay', 'manifests', 'team'));
    } else {
      const team = temporaryFolder();
      writeFiles(team, { 'web.yaml': text(web('one')) });
      for (const args of [['init'], ['add', '.'], ['commit', '-m', 'x']]) runGit(team, ...args);
      runGit(author, 'submodule', '--quiet', 'add', team, 'pay/manifests/team');
    }
    const commit = jobs.scene.commit({
      'pay/manifests/app.yaml': text(app('one')),
      ...(kind === 'link' ? { 'team/web.yaml': text(web('one')) } : {}),
    });
    const checkOut = () => {
      const job = jobs.job(commit);
      runGit(job.directory, 'submodule', '--quiet', 'update', '--init');
      return job;
    };
    const mine = checkOut();
    await mine.run(['apply', '--yes'], 0);
    runGit(mine.directory, 'rm', '--quiet', '-f', 'manifests/team');
    await mine.run(['apply', '--yes'], 0);
    expect(await jobs.bench.idsOf('web')).toEqual([]);
    await expectBlocked(jobs, checkOut());
  });
});

it('A link that was checked out as a text file does not delete the resources of its target', async () => {
  const jobs = await openJobs({ spec: { manifests: ['manifests/**/*.yaml'] } });
  const { author } = jobs.scene;
  mkdirSync(join(author, 'pay', 'manifests'));
  symlinkSync('../../team', join(author, 'pay', 'manifests', 'team'));
  const commit = jobs.scene.commit({
    'pay/manifests/app.yaml': text(app('one')),
    'team/web.yaml': text(web('one')),
  });
  await jobs.job(commit).run(['apply', '--yes'], 0);
  const other = jobs.job(commit);
  git(other.directory, 'config', 'core.symlinks', 'false');
  await rm(join(other.directory, 'manifests', 'team'));
  git(other.directory, 'checkout', '--', 'manifests/team');
  const { err } = await other.run(['apply', '--yes'], 1);
  expect(err).toContain('manifests/team');
  expect(await jobs.bench.idsOf('web')).toHaveLength(1);
});

it('Two stack files with one stack name are a conflict, also if a sparse checkout lacks one of them', async () => {
  const jobs = await openJobs();
  const { author } = jobs.scene;
  const first = jobs.declare(app('one'));
  await jobs.job(first).run(['apply', '--yes'], 0);
  await cp(join(author, 'pay', 'trueup.yaml'), join(author, 'copy', 'trueup.yaml'));
  const commit = jobs.scene.commit({ 'copy/manifests/all.yaml': text(app('copied')) });
  const { directory } = jobs.job(commit);
  git(join(directory, '..'), 'sparse-checkout', 'set', '--no-cone', '/copy/');
  expect(existsSync(join(directory, 'trueup.yaml'))).toBe(false);
  const copy = join(directory, '..', 'copy');
  renameSync(join(directory, '.trueup'), join(copy, '.trueup'));
  const { code, out } = await trueup(['plan'], { cwd: copy, env: secrets });
  expect([code, out]).toEqual([9, expect.stringContaining('another stack file')]);
});
