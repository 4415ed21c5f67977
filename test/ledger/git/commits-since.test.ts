/** The commits since the last apply, in clones of CI jobs. */
import { describe, expect, it } from 'vitest';
import { commitsSince, commitThatAdded, zeroCommitId } from '../../../src/ledger/git/commits-since.ts';
import { type CommitScene, openScene } from '../../support/ledger/commit-scene.ts';
import { git } from '../../support/ledger/git-remote.ts';

interface Merged {
  readonly base: string;
  readonly head: string;
  /** of the branch */
  readonly own: readonly string[];
}

/** A branch of two commits that began before the last apply, merged in one of the usual ways. */
function mergeBranch({ author, commit }: CommitScene, how: 'merge' | 'squash' | 'rebase'): Merged {
  const run = (...args: readonly string[]) => git(author, ...args);
  commit({ 'pay/begin.yaml': 'a' });
  const main = run('rev-parse', '--abbrev-ref', 'HEAD');
  run('checkout', '--quiet', '-b', 'topic');
  const own = ['b', 'c'].map((text) => commit({ 'pay/topic.yaml': text }));
  run('checkout', '--quiet', main);
  const base = commit({ 'pay/other.yaml': 'd' });
  if (how === 'merge') run('merge', '--quiet', '--no-ff', '-m', 'merged', 'topic');
  if (how === 'squash') {
    run('merge', '--quiet', '--squash', 'topic');
    run('commit', '--quiet', '-m', 'squashed');
  }
  if (how === 'rebase') {
    run('rebase', '--quiet', main, 'topic');
    run('checkout', '--quiet', main);
    run('merge', '--quiet', '--ff-only', 'topic');
  }
  run('push', '--quiet', 'origin', 'HEAD');
  return { base, head: run('rev-parse', 'HEAD'), own };
}

const since = async (directory: string, head: string, base: string) => {
  const read = { head, since: base, inspect: async () => {} };
  return (await commitsSince({ directory, env: process.env }, read)).range;
};

const idsOf = (commits: readonly { readonly id: string }[]) => commits.map(({ id }) => id);

describe.each(['a whole clone', 'a shallow clone'])('In %s', (sort) => {
  const cloneAt = (scene: CommitScene, head: string) =>
    sort === 'a whole clone' ? scene.at(head) : scene.shallowAt(head);

  it('a merge is one commit on the line, and includes those of its branch', async () => {
    const scene = openScene();
    const { base, head, own } = mergeBranch(scene, 'merge');
    const range = await since(cloneAt(scene, head), head, base);
    expect(idsOf(range.line)).toEqual([head]);
    expect(new Set(idsOf(range.all))).toEqual(new Set([head, ...own]));
    expect(range.base).toBe(base);
    expect(range.all.every(({ merged }) => merged === 0)).toBe(true);
  });

  it('a squash is one commit', async () => {
    const scene = openScene();
    const { base, head } = mergeBranch(scene, 'squash');
    const range = await since(cloneAt(scene, head), head, base);
    expect([idsOf(range.line), idsOf(range.all)]).toEqual([[head], [head]]);
  });

  it('a rebase consists of its commits, the oldest first', async () => {
    const scene = openScene();
    const { base, head } = mergeBranch(scene, 'rebase');
    const clone = cloneAt(scene, head);
    const range = await since(clone, head, base);
    expect(idsOf(range.line)).toEqual(
      git(scene.author, 'rev-list', '--reverse', `${base}..HEAD`).split('\n'),
    );
    expect(range.line).toHaveLength(2);
  });

  it('the commit that added a file is found on the line, with its parent', async () => {
    const scene = openScene();
    const { base, head } = mergeBranch(scene, 'merge');
    scene.commit({ 'pay/topic.yaml': 'changed' });
    const last = scene.commits(3);
    const added = await commitThatAdded(
      { directory: cloneAt(scene, last), env: process.env },
      last,
      'pay/topic.yaml',
    );
    expect(added).toEqual({ id: head, parent: base });
  });

  it('a file that was removed and added again counts as added by the later commit', async () => {
    const scene = openScene();
    scene.commit({ 'pay/begin.yaml': 'a' });
    git(scene.author, 'rm', '--quiet', 'pay/begin.yaml');
    const parent = scene.commit({ 'pay/other.yaml': 'b' });
    const id = scene.commit({ 'pay/begin.yaml': 'a' });
    const head = scene.commits(1);
    const added = await commitThatAdded(
      { directory: cloneAt(scene, head), env: process.env },
      head,
      'pay/begin.yaml',
    );
    expect(added).toEqual({ id, parent });
  });

  it('nothing is new if the last apply was from this commit, or from a later one', async () => {
    const scene = openScene();
    const { base, head } = mergeBranch(scene, 'merge');
    expect(await since(cloneAt(scene, head), head, head)).toEqual({ base: head, line: [], all: [] });
    expect(await since(cloneAt(scene, base), base, head)).toEqual({ base: head, line: [], all: [] });
  });
});

it('a range can begin with the first commit of a repository', async () => {
  const scene = openScene();
  const head = scene.commit({ 'pay/begin.yaml': 'a' });
  const all = git(scene.author, 'rev-list', '--reverse', head).split('\n');
  const range = await since(scene.shallowAt(head), head, zeroCommitId);
  expect(range.base).toBe(undefined);
  expect(idsOf(range.line)).toEqual(all);
});

it('a file that the commit does not have was added by no commit', async () => {
  const scene = openScene();
  const head = scene.commit({ 'pay/begin.yaml': 'a' });
  const found = commitThatAdded({ directory: scene.at(head), env: process.env }, head, 'pay/none.yaml');
  await expect(found).rejects.toThrow('does not have the commit that added "pay/none.yaml"');
});

it('a commit that no longer exists is an error, and so is an invalid id', async () => {
  const scene = openScene();
  const head = scene.commit({ 'pay/begin.yaml': 'a' });
  await expect(since(scene.shallowAt(head), head, 'a'.repeat(40))).rejects.toThrow(/does not have commit/);
  await expect(since(scene.shallowAt(head), head, '--output=x')).rejects.toThrow(
    /not the id of a git commit/,
  );
});

it('more than 500 commits are an error', async () => {
  const scene = openScene();
  const base = scene.commit({ 'pay/begin.yaml': 'a' });
  const head = scene.commits(501);
  await expect(since(scene.at(head), head, base)).rejects.toThrow('more than 500 commits');
});
