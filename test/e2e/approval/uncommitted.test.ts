// Changes that were applied from a work tree without a commit are reverted only after an acknowledgement.
import { mkdirSync, symlinkSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { openJobs } from '../../support/ledger/commit-jobs.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder, writeFiles } from '../../support/rig/temporary-folder.ts';

const app = (description: string) => workspace('app', { description });

describe('a work tree with changes that were not committed', () => {
  const texts = (...documents: readonly object[]) =>
    documents.map((one) => JSON.stringify(one)).join('\n---\n');
  const web = (description: string) => workspace('web', { description });

  /** Applies a commit with two workspaces; then another description and a third workspace from uncommitted changes. */
  async function appliedUncommitted() {
    const jobs = await openJobs();
    const commit = jobs.declare(app('one'), web('one'));
    await jobs.job(commit).run(['apply', '--yes'], 0);
    const mine = jobs.job(commit);
    const edit = (...documents: readonly object[]) =>
      writeFile(join(mine.directory, 'manifests', 'all.yaml'), texts(...documents));
    await edit(app('mine'), web('one'), workspace('more'));
    await mine.run(['apply', '--yes'], 0);
    jobs.bench.wire.reset();
    return { ...jobs, commit, mine, edit };
  }

  it('that was applied is reverted by a clean checkout of its commit only after an acknowledgement', async () => {
    const { bench, commit, job, store } = await appliedUncommitted();
    const clean = job(commit);
    const { guards, acknowledge, digest } = await clean.plan();
    expect(acknowledge).toContain('commit-unknown');
    expect(guards.find(({ id }) => id === 'commit-unknown')).toMatchObject({
      effect: 'blocks',
      message: expect.stringContaining(`with or after commit ${commit.slice(0, 12)}, changes were applied`),
      concerns: [
        { address: 'Workspace/acme/app', says: ['description'] },
        { address: 'Workspace/acme/more', says: [] },
      ],
    });
    await clean.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await clean.run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 0);
    expect((await store.read()).commit).not.toHaveProperty('uncommitted');
  });

  it('can be applied again, also after a file was written that is not part of the stack', async () => {
    const { bench, mine } = await appliedUncommitted();
    await writeFile(join(mine.directory, 'plan.json'), '{}');
    const attributes = { description: 'by hand' };
    await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
      data: { type: 'workspaces', attributes },
    });
    expect((await mine.plan()).guards).toEqual([]);
    await mine.run(['apply', '--yes'], 0);
    expect((await bench.byHand.attributes(await bench.idOf('app')))['description']).toBe('mine');
  });

  it('can be applied with a warning after more edits', async () => {
    const { mine, edit } = await appliedUncommitted();
    await edit(app('next'), web('one'), workspace('more'));
    expect((await mine.plan()).guards).toMatchObject([{ id: 'commit-unknown', effect: 'warns' }]);
    await mine.run(['apply', '--yes'], 0);
  });

  it('blocks the removal of what it created, also after other edits', async () => {
    const { bench, mine, edit } = await appliedUncommitted();
    await edit(app('mine'), web('other'));
    const { guards } = await mine.plan();
    expect(guards.find(({ id }) => id === 'commit-unknown')).toMatchObject({ effect: 'blocks' });
    await mine.run(['apply', '--yes'], 5);
    expect(await bench.idsOf('more')).toHaveLength(1);
  });

  it('blocks nothing once it is committed, and no other fields', async () => {
    const { declare, job } = await appliedUncommitted();
    const next = job(declare(app('mine'), web('two'), workspace('more')));
    expect((await next.plan()).guards).toEqual([]);
    await next.run(['apply', '--yes'], 0);
  });

  it('blocks nothing if only files outside of the stack were not committed', async () => {
    const jobs = await openJobs();
    const first = jobs.job(jobs.declare(app('one')));
    await writeFile(join(first.directory, 'plan.json'), '{}');
    await first.run(['apply', '--yes'], 0);
    expect((await jobs.job(jobs.declare(app('two'))).plan()).guards).toEqual([]);
  });

  it('blocks nothing if an earlier trueup applied it', async () => {
    const { commit, job, store } = await appliedUncommitted();
    const ledger = await store.read();
    await store.write({ ...ledger, commit: { id: commit, dirty: true } });
    expect((await job(commit).plan()).acknowledge).not.toContain('commit-unknown');
  });

  describe('stays protected after an apply from a clean checkout that', () => {
    /** A clean checkout whose plan would delete only what was applied without a commit. */
    async function addedUncommitted() {
      const jobs = await appliedUncommitted();
      await jobs.edit(app('one'), web('one'), workspace('more'));
      await jobs.mine.run(['apply', '--yes'], 0);
      const clean = jobs.job(jobs.commit);
      const expectBlocked = async () => {
        expect((await clean.plan()).acknowledge).toContain('commit-unknown');
        await clean.run(['apply', '--yes'], 5);
        expect(await jobs.bench.idsOf('more')).toHaveLength(1);
      };
      return { ...jobs, clean, expectBlocked };
    }

    it('applied a selection', async () => {
      const { clean, expectBlocked } = await addedUncommitted();
      await clean.run(['apply', '-', '--yes'], 0, texts(web('selected')));
      await expectBlocked();
    });

    it('could not delete it yet, because it was locked', async () => {
      const { bench, clean, expectBlocked } = await addedUncommitted();
      const id = await bench.idOf('more');
      await bench.byHand.post(`/workspaces/${id}/actions/lock`, {});
      expect((await clean.run(['apply', '--yes'], 0)).out).toContain('to be deleted, but kept');
      await bench.byHand.post(`/workspaces/${id}/actions/unlock`, {});
      await expectBlocked();
    });

    it('could not read all manifests', async () => {
      const { clean, expectBlocked } = await addedUncommitted();
      const file = join(clean.directory, 'trueup.yaml');
      const stack = await readFile(file, 'utf8');
      const { spec, ...rest } = JSON.parse(stack);
      const manifests = [...spec.manifests, 'generated/*.yaml'];
      await writeFile(file, JSON.stringify({ ...rest, spec: { ...spec, manifests } }));
      expect((await clean.run(['apply', '--yes'], 1)).out).toContain('more');
      await writeFile(file, stack);
      await expectBlocked();
    });
  });

  it.each([
    ['behind a symbolic link', 'link'],
    ['in a submodule', 'submodule'],
  ])('is noticed %s, too', async (_, place) => {
    const jobs = await openJobs(place === 'link' ? {} : { spec: { manifests: ['team/*.yaml'] } });
    const { author } = jobs.scene;
    const runGit = (directory: string, ...args: readonly string[]) =>
      git(directory, '-c', 'protocol.file.allow=always', ...args);
    if (place === 'link') {
      mkdirSync(join(author, 'pay', 'manifests'));
      symlinkSync('../../shared/app.txt', join(author, 'pay', 'manifests', 'app.yaml'));
    } else {
      const team = temporaryFolder();
      writeFiles(team, { 'app.yaml': texts(app('one')) });
      for (const args of [['init'], ['add', '.'], ['commit', '-m', 'x']]) runGit(team, ...args);
      runGit(author, 'submodule', '--quiet', 'add', team, 'pay/team');
    }
    const commit = jobs.scene.commit({ 'shared/app.txt': texts(app('one')) });
    const checkOut = () => {
      const job = jobs.job(commit);
      runGit(job.directory, 'submodule', '--quiet', 'update', '--init');
      return job;
    };
    const mine = checkOut();
    await mine.run(['apply', '--yes'], 0);
    const file = place === 'link' ? '../shared/app.txt' : 'team/app.yaml';
    await writeFile(join(mine.directory, file), texts(app('mine')));
    await mine.run(['apply', '--yes'], 0);
    const clean = checkOut();
    expect((await clean.plan()).acknowledge).toContain('commit-unknown');
    await clean.run(['apply', '--yes'], 5);
    expect((await jobs.bench.byHand.attributes(await jobs.bench.idOf('app')))['description']).toBe('mine');
  });

  describe('does not hide later commits', () => {
    /** The uncommitted changes are committed in two steps, and a selection of the second commit is applied. */
    it('from a job of a commit between them', async () => {
      const { declare, job, bench } = await appliedUncommitted();
      const between = declare(app('between'), web('one'), workspace('more'));
      const newest = declare(app('newest'), web('one'), workspace('more'));
      const selection = texts(app('newest'));
      const late = job(newest);
      const { digest, acknowledge } = JSON.parse(
        (await late.run(['plan', '-', '--format', 'json'], 0, selection)).out,
      );
      const acks = acknowledge.length === 0 ? [] : ['--ack', acknowledge.join(',')];
      await late.run(['apply', '-', '--approve', digest, ...acks], 0, selection);
      expect((await job(between).plan()).acknowledge).toContain('older-commit');
      await job(between).run(['apply', '-', '--yes'], 5, texts(app('between')));
      expect((await bench.byHand.attributes(await bench.idOf('app')))['description']).toBe('newest');
    });

    it('while a removal is pending, and protects other edits that were applied afterwards, too', async () => {
      const { bench, commit, job, edit, mine, store } = await appliedUncommitted();
      const id = await bench.idOf('more');
      await bench.byHand.post(`/workspaces/${id}/actions/lock`, {});
      await edit(app('one'), web('mine'));
      await mine.run(['apply', '--approve', (await mine.plan()).digest, '--ack', 'commit-unknown'], 0);
      const { guards } = await job(commit).plan();
      expect(guards.find(({ id: guard }) => guard === 'commit-unknown')).toMatchObject({
        effect: 'blocks',
        concerns: [{ address: 'Workspace/acme/web', says: ['description'] }],
      });
      await job(commit).run(['apply', '--yes'], 5);
      await bench.byHand.post(`/workspaces/${id}/actions/unlock`, {});
      const last = await mine.plan();
      await mine.run(['apply', '--approve', last.digest, '--ack', last.acknowledge.join(',')], 0);
      expect(await store.read()).not.toHaveProperty('otherCommits');
    });
  });

  describe('stays protected also if it was applied', () => {
    it('from a checkout that lacks a later commit of other files', async () => {
      const jobs = await openJobs();
      const first = jobs.declare(app('one'));
      const later = jobs.scene.commit({ 'other/readme.md': 'not of the stack' });
      await jobs.job(later).run(['apply', '--yes'], 0);
      const mine = jobs.job(first);
      await writeFile(join(mine.directory, 'manifests', 'all.yaml'), texts(app('mine')));
      await mine.run(['apply', '--yes'], 0);
      expect((await jobs.job(later).plan()).acknowledge).toContain('commit-unknown');
      await jobs.job(later).run(['apply', '--yes'], 5);
    });

    it('before the same documents were applied from standard input', async () => {
      const jobs = await openJobs();
      const commit = jobs.declare(app('one'));
      await jobs.job(commit).run(['apply', '--yes'], 0);
      const mine = jobs.job(commit);
      await writeFile(join(mine.directory, 'manifests', 'all.yaml'), texts(app('mine')));
      await mine.run(['apply', '--yes'], 0);
      await mine.run(['apply', '-', '--yes'], 0, texts(app('mine')));
      expect((await jobs.job(commit).plan()).acknowledge).toContain('commit-unknown');
      await jobs.job(commit).run(['apply', '--yes'], 5);
    });

    it('before a selection was applied without git', async () => {
      const { commit, job } = await appliedUncommitted();
      const bare = job(commit);
      await rm(join(bare.directory, '..', '.git'), { recursive: true });
      await bare.run(['apply', '-', '--yes'], 0, texts(web('selected')));
      const next = job(commit);
      expect((await next.plan()).acknowledge).toContain('commit-unknown');
      await next.run(['apply', '--yes'], 5);
    });
  });

  it('is ignored if only a file that is not a manifest was added to a submodule', async () => {
    const jobs = await openJobs({ spec: { manifests: ['team/*.yaml'] } });
    const team = temporaryFolder();
    writeFiles(team, { 'app.yaml': texts(app('one')) });
    const runGit = (directory: string, ...args: readonly string[]) =>
      git(directory, '-c', 'protocol.file.allow=always', ...args);
    for (const args of [['init'], ['add', '.'], ['commit', '-m', 'x']]) runGit(team, ...args);
    runGit(jobs.scene.author, 'submodule', '--quiet', 'add', team, 'pay/team');
    const mine = jobs.job(jobs.scene.commit({}));
    runGit(mine.directory, 'submodule', '--quiet', 'update', '--init');
    await writeFile(join(mine.directory, 'team', 'notes.txt'), '');
    await mine.run(['apply', '--yes'], 0);
    expect((await jobs.store.read()).commit).not.toHaveProperty('uncommitted');
  });
});
