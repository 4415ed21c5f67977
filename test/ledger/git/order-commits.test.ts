// Whether a plan would revert a later commit, with real clones of real repositories.
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CommitScene, openScene, orderIn } from '../../support/ledger/commit-scene.ts';
import { serveGit } from '../../support/ledger/git-http.ts';
import { git, stateOf } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const manifest = 'pay/manifests/app.yaml';

/** An older and a newer commit that differ in a manifest. */
function twoCommits(): CommitScene & { readonly older: string; readonly newer: string } {
  const scene = openScene();
  return { ...scene, older: scene.commit({ [manifest]: 'one' }), newer: scene.commit({ [manifest]: 'two' }) };
}

/** @param files their new texts; undefined removes one */
function commitLocally(clone: string, files: Readonly<Record<string, string | undefined>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    if (text === undefined) rmSync(join(clone, path));
    else writeFileSync(join(clone, path), text);
  }
  git(clone, 'add', '--all');
  git(clone, 'commit', '--quiet', '-m', 'x');
  return git(clone, 'rev-parse', 'HEAD');
}

const behind = (applied: string, ours: string, differs = true) => ({ is: 'behind', applied, ours, differs });
const diverged = (applied: string, ours: string, differs = true) => ({
  ...behind(applied, ours, differs),
  is: 'diverged',
});
const ahead = { is: 'ahead' };

describe('a clone that has the whole history', () => {
  it('reports an older commit, the same, a later one, and one of another branch', async () => {
    const { older, newer, author, at } = twoCommits();
    git(author, 'checkout', '--quiet', '-b', 'side', older);
    git(author, 'commit', '--quiet', '--allow-empty', '-m', 'aside');
    git(author, 'push', '--quiet', 'origin', 'side');
    const side = git(author, 'rev-parse', 'HEAD');
    const clone = at(older);
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
    expect(await orderIn(clone, older)).toEqual(ahead);
    git(clone, 'checkout', '--quiet', newer);
    expect(await orderIn(clone, older)).toEqual(ahead);
    expect(await orderIn(clone, side)).toEqual(diverged(side, newer));
  });

  it('needs no remote', async () => {
    const { older, newer, at } = twoCommits();
    const clone = at(older);
    git(clone, 'remote', 'set-url', 'origin', 'file:///nowhere');
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
    git(clone, 'checkout', '--quiet', newer);
    expect(await orderIn(clone, older)).toEqual(ahead);
  });

  it('except for a commit that was pushed later asks its remote, and is not changed', async () => {
    const scene = openScene();
    const older = scene.commit({ [manifest]: 'one' });
    const clone = scene.at(older);
    const newer = scene.commit({ [manifest]: 'two' });
    const before = stateOf(clone);
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
    expect(stateOf(clone)).toEqual(before);
  });

  it('and commits that are not pushed yet are reported as diverged from a pushed one', async () => {
    const scene = openScene();
    const clone = scene.at(scene.commit({ [manifest]: 'one' }));
    git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'mine alone');
    const mine = git(clone, 'rev-parse', 'HEAD');
    const newer = scene.commit({ [manifest]: 'two' });
    expect(await orderIn(clone, newer)).toEqual(diverged(newer, mine));
    const other = scene.commit({ [manifest]: 'one' });
    expect(await orderIn(clone, other)).toEqual(diverged(other, mine, false));
  });
});

describe('the files of the stack', () => {
  it('are those of its patterns, in either commit', async () => {
    const scene = openScene();
    const { author } = scene;
    const older = scene.commit({ [manifest]: 'one', 'shared/base.yaml': 'one', 'pay/tool.sh': 'one' });
    const table: [boolean, Record<string, string | undefined>, string[]?][] = [
      [true, { [manifest]: 'two' }],
      [true, { 'pay/manifests/new.yaml': 'x' }],
      [true, { [manifest]: undefined }],
      [false, { 'pay/tool.sh': 'two' }],
      [false, { 'other/manifests/a.yaml': 'x' }],
      [false, { [manifest]: 'two' }, ['manifests', '!**/app.yaml']],
      [true, { 'shared/base.yaml': 'two' }, ['../shared/*.yaml']],
    ];
    for (const [differs, files, patterns] of table) {
      git(author, 'checkout', '--quiet', '--detach', older);
      const newer = commitLocally(author, files);
      git(author, 'checkout', '--quiet', older);
      const order = await orderIn(author, newer, patterns === undefined ? {} : { patterns });
      expect(order, JSON.stringify(files)).toEqual(behind(newer, older, differs));
    }
  });

  it('include a changed submodule, which counts as one path', async () => {
    const scene = openScene();
    const { author } = scene;
    const older = scene.commit({ 'pay/tool.sh': 'one' });
    const table: [boolean, string, string?][] = [
      [true, 'pay/manifests'],
      [true, 'pay/manifests/team', 'manifests/**/*.yaml'],
      [true, 'pay/manifests', 'manifests'],
      [true, 'teams', '../teams/pay/*.yaml'],
      [false, 'pay/vendor'],
      [false, 'manifests'],
    ];
    for (const [differs, path, pattern = 'manifests/*.yaml'] of table) {
      git(author, 'checkout', '--quiet', '--detach', older);
      git(author, 'update-index', '--add', '--cacheinfo', `160000,${older},${path}`);
      git(author, 'commit', '--quiet', '-m', 'x');
      const newer = git(author, 'rev-parse', 'HEAD');
      git(author, 'checkout', '--quiet', older);
      expect(await orderIn(author, newer, { patterns: [pattern] }), path).toEqual(
        behind(newer, older, differs),
      );
    }
  });

  it('include changed files behind a symbolic link', async () => {
    const scene = openScene();
    const { author } = scene;
    mkdirSync(join(author, 'pay'));
    symlinkSync('../teams/pay', join(author, 'pay', 'manifests'));
    const older = scene.commit({ 'teams/pay/app.yaml': 'one', 'pay/tool.sh': 'one' });
    const newer = commitLocally(author, { 'teams/pay/app.yaml': 'two' });
    git(author, 'checkout', '--quiet', older);
    expect(await orderIn(author, newer)).toEqual(behind(newer, older));
    expect(await orderIn(author, newer, { patterns: ['roles/*.yaml'] })).toEqual(behind(newer, older, false));
  });
});

/** The commit that is checked out, the applied one, and their order. */
const bothWays = (older: string, newer: string) =>
  [
    [older, newer, behind(newer, older)],
    [newer, older, ahead],
  ] as const;

describe('a shallow clone', () => {
  it('asks its remote, in both directions, and is not changed', async () => {
    const { older, newer, shallowAt } = twoCommits();
    for (const [checkedOut, applied, expected] of bothWays(older, newer)) {
      const clone = shallowAt(checkedOut);
      expect(git(clone, 'rev-list', '--all', 'HEAD', '--count')).toBe('1');
      const before = stateOf(clone);
      expect(await orderIn(clone, applied)).toEqual(expected);
      expect(stateOf(clone)).toEqual(before);
    }
  });

  it('gets commits further apart than its first fetch, and of another branch', async () => {
    const scene = openScene();
    const older = scene.commit({ [manifest]: 'one' });
    scene.commits(100);
    const newer = scene.commit({ [manifest]: 'two' });
    expect(await orderIn(scene.shallowAt(older), newer)).toEqual(behind(newer, older));
    expect(await orderIn(scene.shallowAt(newer), older)).toEqual(ahead);
    git(scene.author, 'checkout', '--quiet', '-b', 'side', older);
    const side = scene.commits(70);
    expect(await orderIn(scene.shallowAt(side), newer)).toEqual(diverged(newer, side));
  });

  it('with both commits, but not those in between, asks its remote', async () => {
    const scene = openScene();
    const older = scene.commit({ [manifest]: 'one' });
    scene.commits(3);
    const newer = scene.commit({ [manifest]: 'two' });
    const clone = scene.shallowAt(older);
    git(clone, 'fetch', '--quiet', '--depth=1', 'origin', newer);
    const before = stateOf(clone);
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
    expect(stateOf(clone)).toEqual(before);
  });

  it('with enough of the history needs no remote', async () => {
    const { older, newer, at } = twoCommits();
    const clone = at(older, '--depth=2');
    expect(git(clone, 'rev-parse', '--is-shallow-repository')).toBe('true');
    git(clone, 'remote', 'set-url', 'origin', 'file:///nowhere');
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
  });

  it('with its own commit on top is ordered correctly', async () => {
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'mine alone');
    expect(await orderIn(clone, newer)).toEqual(diverged(newer, git(clone, 'rev-parse', 'HEAD')));
    git(clone, 'checkout', '--quiet', older);
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
  });

  it('may be a work tree of another one', async () => {
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    const tree = `${clone}-tree`;
    git(clone, 'worktree', 'add', '--quiet', tree, older);
    expect(await orderIn(tree, newer)).toEqual(behind(newer, older));
  });
});

describe('a clone without trees', () => {
  it('compares files without keeping any', async () => {
    const { older, newer, at } = twoCommits();
    const clone = at(older, '--filter=tree:0');
    const before = stateOf(clone);
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
    expect(stateOf(clone)).toEqual(before);
  });
});

describe('a remote', () => {
  it('that cannot leave files out of its responses is supported', async () => {
    const { older, newer, shallowAt, remote } = twoCommits();
    git(remote.directory, 'config', 'uploadpack.allowFilter', 'false');
    expect(await orderIn(shallowAt(older), newer)).toEqual(behind(newer, older));
  });

  it('that does not serve commits by their id is asked for its branches', async () => {
    const { older, newer, shallowAt } = twoCommits();
    for (const [checkedOut, applied, expected] of bothWays(older, newer)) {
      const clone = shallowAt(checkedOut);
      git(clone, 'config', 'protocol.version', '0');
      expect(await orderIn(clone, applied)).toEqual(expected);
    }
  });

  it.each(['0', '2'])('without the commit is named (protocol %s)', async (version) => {
    const { older, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    git(clone, 'config', 'protocol.version', version);
    const applied = '0123456789abcdef0123456789abcdef01234567';
    expect(await orderIn(clone, applied)).toEqual({
      is: 'unknown',
      applied,
      why: 'the remote "origin" does not have commit 0123456789ab',
      isLost: true,
    });
  });

  it('that does not exist makes a commit that the clone lacks a lost one', async () => {
    const { older, at } = twoCommits();
    const clone = at(older);
    git(clone, 'remote', 'remove', 'origin');
    expect(await orderIn(clone, '0123456789abcdef0123456789abcdef01234567')).toMatchObject({
      is: 'unknown',
      why: 'this clone does not have it, and has no remote',
      isLost: true,
    });
  });

  it('that cannot be reached is named, without the password of its address', async () => {
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    git(clone, 'remote', 'set-url', 'origin', 'http://me:planted@127.0.0.1:1/x.git');
    const order = await orderIn(clone, newer);
    expect(order).toMatchObject({
      is: 'unknown',
      why: expect.stringMatching(/^the remote "origin" cannot be read: /),
    });
    expect(JSON.stringify(order)).not.toContain('planted');
  });

  it('that never responds is given up', async () => {
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    const silent = createServer(() => {});
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    git(clone, 'remote', 'set-url', 'origin', `git://127.0.0.1:${port}/x.git`);
    expect(await orderIn(clone, newer, { timeout: 500 })).toMatchObject({
      is: 'unknown',
      why: 'git did not answer within 0.5 seconds',
    });
  });

  it('is that of the branch, else origin, else the only one', async () => {
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    const url = git(clone, 'remote', 'get-url', 'origin');
    git(clone, 'remote', 'add', 'broken', 'file:///nowhere');
    expect((await orderIn(clone, newer)).is).toBe('behind');
    git(clone, 'checkout', '--quiet', '-b', 'work');
    git(clone, 'config', 'branch.work.remote', 'broken');
    expect(await orderIn(clone, newer)).toMatchObject({
      why: expect.stringContaining('the remote "broken"'),
    });
    git(clone, 'config', 'branch.work.remote', '.');
    expect((await orderIn(clone, newer)).is).toBe('behind');
    git(clone, 'remote', 'remove', 'broken');
    git(clone, 'remote', 'rename', 'origin', 'upstream');
    expect((await orderIn(clone, newer)).is).toBe('behind');
    git(clone, 'remote', 'add', 'another', url);
    expect(await orderIn(clone, newer)).toMatchObject({ why: expect.stringContaining('and has no remote') });
  });

  it('is reached with the settings and credentials of the clone, each sent once', async () => {
    const { older, newer, shallowAt, remote } = twoCommits();
    const host = await serveGit(remote.directory, 'Basic planted');
    const clone = shallowAt(older);
    git(clone, 'remote', 'set-url', 'origin', 'work:remote.git');
    const home = join(clone, '..', 'home');
    mkdirSync(home);
    const site = host.url.replace('remote.git', '');
    // One applies to this clone only, the other to all: neither may be lost, and neither may be used twice.
    writeFileSync(join(home, 'address'), `[url "${site}"]\n insteadOf = work:\n`);
    const token = `[http "${site}"]\n extraHeader = "Authorization: Basic planted"\n`;
    const include = `[includeIf "gitdir:${clone}/"]\n path = address\n`;
    writeFileSync(join(home, '.gitconfig'), `${token}${include}`);
    const env = { PATH: process.env['PATH'], HOME: home };
    expect(await orderIn(clone, newer, { env })).toEqual(behind(newer, older));
    expect(host.credentials.length).toBeGreaterThan(1);
    expect(new Set(host.credentials.map(String))).toEqual(new Set(['Basic planted']));
  });

  it('that needs unknown credentials is given up at once', async () => {
    const { older, newer, shallowAt, remote } = twoCommits();
    const host = await serveGit(remote.directory, 'Basic planted');
    const clone = shallowAt(older);
    git(clone, 'remote', 'set-url', 'origin', host.url);
    const env = { PATH: process.env['PATH'], HOME: clone };
    expect(await orderIn(clone, newer, { env })).toMatchObject({
      is: 'unknown',
      why: expect.stringMatching(/^the remote "origin" cannot be read: fatal: could not read Username/),
    });
  });

  it('may have a relative address', async () => {
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    git(clone, 'remote', 'set-url', 'origin', '../remote.git');
    expect(await orderIn(clone, newer)).toEqual(behind(newer, older));
  });
});

describe('the order is unknown', () => {
  it('without git, without a repository, and without a commit', async () => {
    const directory = temporaryFolder();
    const { older, newer, shallowAt } = twoCommits();
    const clone = shallowAt(older);
    const why = async (where: string, env = process.env) => {
      const order = await orderIn(where, newer, { env });
      return order.is === 'unknown' ? order.why : order.is;
    };
    expect(await why(clone, { PATH: '/nowhere' })).toBe(
      'git cannot be run: it is not installed, or not in PATH',
    );
    git(directory, 'init', '--quiet', 'pay');
    expect(await why(directory)).toBe('the repository has no commit yet');
    rmSync(join(directory, 'pay', '.git'), { recursive: true });
    expect(await why(directory)).toMatch(/^not a git repository/);
  });

  it('for something that is not a commit', async () => {
    const { older, at } = twoCommits();
    expect(await orderIn(at(older), '--upload-pack=touch')).toMatchObject({
      is: 'unknown',
      why: 'it is not the id of a git commit',
    });
  });
});

it('nothing is left in the directory for temporary files, even if the order is unknown', async () => {
  const directory = temporaryFolder();
  const { older, newer, shallowAt } = twoCommits();
  const clone = shallowAt(older);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  try {
    expect((await orderIn(clone, newer)).is).toBe('behind');
    git(clone, 'remote', 'set-url', 'origin', 'file:///nowhere');
    expect((await orderIn(clone, newer)).is).toBe('unknown');
    expect(readdirSync(directory)).toEqual([]);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
});
