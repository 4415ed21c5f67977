// Problems that only a git ref can have: the repository of the user, unusual clones, remotes that are missing or refuse.
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gitLedger } from '../../../src/ledger/git/git-ledger.ts';
import { openCommits } from '../../../src/ledger/git/read-commits.ts';
import { repositoryCommit } from '../../../src/ledger/git/checkout.ts';
import type { StackStore } from '../../../src/model/ledger.ts';
import { git, makeRemote, stateOf } from '../../support/ledger/git-remote.ts';
import { entry, ledger, lock, namesIn } from '../../support/ledger/ledger-samples.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

function open(directory: string, remote = 'origin', stack = 'payments'): StackStore {
  const store = gitLedger({ directory, env: process.env }, { remote, stack });
  onTestFinished(() => store.close());
  return store;
}

function hook(directory: string, name: string, script: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, name), 0o755);
}

function deepIn(clone: string): string {
  const directory = join(clone, 'stacks', 'payments');
  mkdirSync(directory, { recursive: true });
  return directory;
}

async function useAll(store: StackStore): Promise<void> {
  await store.read();
  await store.lock(lock('mine'));
  await store.write(ledger(0, 'a'));
  await store.keepEntries([entry('e1')]);
  await store.listEntries(5);
  await store.unlock('mine');
}

it('The remote is not asked for the newest entry by a run that has taken the lock', async () => {
  const remote = makeRemote();
  const [ours, theirs] = [open(remote.clone()), open(remote.clone())];
  await ours.read();
  await theirs.keepEntries([entry('e1')]);
  await ours.lock(lock('mine'));
  rmSync(remote.directory, { recursive: true });
  expect(await ours.newestEntryId()).toBe('e1');
});

describe('the repository of the user', () => {
  it('stays unchanged, including all files', async () => {
    const clone = makeRemote().clone();
    writeFileSync(join(clone, 'file.txt'), 'half-staged');
    git(clone, 'add', 'file.txt');
    writeFileSync(join(clone, 'file.txt'), 'and edited again');
    writeFileSync(join(clone, 'new.txt'), 'untracked');
    const before = stateOf(clone);
    await useAll(open(clone));
    await open(clone).read();
    expect(stateOf(clone)).toEqual(before);
  });

  it('runs none of its hooks', async () => {
    const clone = makeRemote().clone();
    for (const name of ['pre-push', 'reference-transaction', 'pre-commit'])
      hook(join(clone, '.git', 'hooks'), name, 'exit 1');
    await useAll(open(clone));
  });

  it('may be shallow', async () => {
    const remote = makeRemote();
    await open(remote.clone()).write(ledger(0, 'a'));
    const shallow = remote.clone('--depth=1');
    expect(git(shallow, 'rev-parse', '--is-shallow-repository')).toBe('true');
    const before = stateOf(shallow);
    const store = open(shallow);
    const read = await store.read();
    expect(namesIn(read)).toEqual(['a']);
    await store.write(read);
    await useAll(open(shallow, 'origin', 'other'));
    expect(stateOf(shallow)).toEqual(before);
    expect((await open(remote.clone('--depth=1')).read()).serial).toBe(2);
  });

  it('may be a work tree of another one, or a directory deep inside', async () => {
    const remote = makeRemote();
    const clone = remote.clone();
    const tree = `${clone}-tree`;
    git(clone, 'worktree', 'add', '--quiet', tree, '-b', 'side');
    await open(deepIn(tree)).write(ledger(0, 'a'));
    expect((await open(clone).read()).serial).toBe(1);
  });

  it('may have the stack in its own directory, for writing and for reading', async () => {
    const remote = makeRemote();
    const [writing, reading] = [deepIn(remote.clone()), deepIn(remote.clone())];
    await useAll(open(writing));
    await open(writing).lock(lock('theirs'));
    const store = open(reading);
    expect((await store.read()).serial).toBe(1);
    expect(await store.readLock()).toEqual(lock('theirs'));
    expect(await store.listEntries(5)).toHaveLength(1);
  });

  it('may be running its own hook', async () => {
    const clone = makeRemote().clone();
    const other = join(makeRemote().clone(), '.git');
    const env = {
      ...{ ...process.env, GIT_DIR: '/nowhere/.git', GIT_INDEX_FILE: '/nowhere/index' },
      ...{ GIT_COMMON_DIR: other, GIT_CONFIG: join(other, 'config'), GIT_SHALLOW_FILE: '/nowhere/shallow' },
    };
    const store = gitLedger({ directory: clone, env }, { remote: 'origin', stack: 'payments' });
    onTestFinished(() => store.close());
    expect((await store.write(ledger(0, 'a'))).serial).toBe(1);
    expect((await open(clone).read()).serial).toBe(1);
  });

  it.each(['line\nfeed', 'co:lon', '#hash', 'quo"te', ' space'])(
    'may be in a folder with any name: %j',
    async (name) => {
      const clone = join(temporaryFolder(), name);
      cpSync(makeRemote().clone(), clone, { recursive: true });
      await useAll(open(clone));
      await useAll(open(deepIn(clone), 'origin', 'other'));
    },
  );
});

describe('the ref', () => {
  it('has readable files, and one commit after any number of writes', async () => {
    const remote = makeRemote();
    const store = open(remote.clone());
    await useAll(store);
    await store.lock(lock('again'));
    const ref = 'refs/trueup/payments';
    const names = git(remote.directory, 'ls-tree', '-r', '--name-only', ref).split('\n');
    expect(names).toEqual(['history/e1.json', 'ledger.json', 'lock.json']);
    expect(JSON.parse(git(remote.directory, 'show', `${ref}:ledger.json`))).toMatchObject({ serial: 1 });
    expect(git(remote.directory, 'rev-list', '--count', ref)).toBe('1');
    expect(git(remote.directory, 'for-each-ref', '--format=%(refname)')).toBe(`refs/heads/main\n${ref}`);
  });

  it('is written again when another run pushed between the read and the push', async () => {
    const remote = makeRemote();
    const [ours, theirs] = [open(remote.clone()), open(remote.clone())];
    await ours.keepEntries([entry('e1')]);
    // The copy of the ref in `ours` is out of date from here on.
    await theirs.keepEntries([entry('e2')]);
    await theirs.lock(lock('theirs'));
    await ours.keepEntries([entry('e3')]);
    expect((await ours.listEntries(9)).map(({ id }) => id)).toEqual(['e3', 'e2', 'e1']);
    expect(await ours.readLock()).toEqual(lock('theirs'));
  });

  it('counts as written when only the response to the push was lost', async () => {
    const remote = makeRemote();
    // The update is done when this hook runs, and its failure makes the connection end in an error.
    hook(join(remote.directory, 'hooks'), 'post-receive', 'kill -9 $PPID');
    const store = open(remote.clone());
    expect((await store.write(ledger(0, 'a'))).serial).toBe(1);
    expect((await open(remote.clone()).read()).serial).toBe(1);
  });

  it('has the same ledger and lock as before when git was killed during a read', async () => {
    const remote = makeRemote();
    const theirs = open(remote.clone());
    await theirs.write(ledger(0, 'a'));
    await theirs.lock(lock('theirs'));
    const bin = temporaryFolder();
    const killed = 'case " $* " in *" cat-file "*) kill -9 $$ ;; esac';
    hook(bin, 'git', `${killed}\nPATH="$REAL_PATH" exec git "$@"`);
    const path = process.env['PATH'] ?? '';
    const env = { ...process.env, REAL_PATH: path, PATH: `${bin}:${path}` };
    const ours = gitLedger({ directory: remote.clone(), env }, { remote: 'origin', stack: 'payments' });
    onTestFinished(() => ours.close());
    const message = /cannot be read: git cat-file failed: it was killed/;
    for (const use of [
      () => ours.read(),
      () => ours.readLock(),
      () => ours.lock(lock('mine')),
      () => ours.write(ledger(0, 'b')),
    ])
      await expect(use()).rejects.toThrow(message);
    expect(namesIn(await theirs.read())).toEqual(['a']);
    expect(await theirs.readLock()).toEqual(lock('theirs'));
  });

  it.each(['whole', 'relative'])(
    'leaves nothing behind in the directory for temporary files (%s path)',
    async (path) => {
      const directory = temporaryFolder();
      const before = process.env['TMPDIR'];
      // Deep enough that a relative path leads elsewhere from there.
      const clone = join(temporaryFolder(), 'a/b/c/d/e/f/g/h/clone');
      cpSync(makeRemote().clone(), clone, { recursive: true });
      process.env['TMPDIR'] = path === 'whole' ? directory : relative(process.cwd(), directory);
      try {
        const store = gitLedger(
          { directory: clone, env: process.env },
          { remote: 'origin', stack: 'payments' },
        );
        await useAll(store);
        await store.close();
        const reader = await openCommits({ directory: clone, env: process.env });
        expect(await reader.tipOf('main')).toBe(git(clone, 'rev-parse', 'HEAD'));
        await reader.close();
        expect(readdirSync(directory).filter((name) => name.startsWith('trueup-git-'))).toEqual([]);
      } finally {
        if (before === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = before;
      }
    },
  );
});

describe('it reports', () => {
  it('that the directory is not in a repository', async () => {
    const directory = temporaryFolder();
    const message = `"ledger: git" needs a git repository, but "${directory}" is not in one`;
    await expect(open(directory).read()).rejects.toThrow(message);
    await expect(open(directory).write(ledger(0))).rejects.toThrow(message);
  });

  it('that the remote does not exist', async () => {
    const clone = makeRemote().clone();
    await expect(open(clone, 'upstream').read()).rejects.toThrow(
      /needs the remote "upstream", which this repository does not have: add it with "git remote add/,
    );
  });

  it('that git is not installed', async () => {
    const clone = makeRemote().clone();
    const store = gitLedger(
      { directory: clone, env: { PATH: '/nowhere' } },
      { remote: 'origin', stack: 'payments' },
    );
    await expect(store.read()).rejects.toThrow('git cannot be run: it is not installed, or not in PATH');
  });

  it.each([
    'http://me:planted@127.0.0.1:1/x.git',
    'http://me:of/planted@127.0.0.1:1/x.git',
    "http://me:of'planted@127.0.0.1:1/x.git",
    'http://127.0.0.1:1/x.git?private_token=planted',
  ])('that the remote cannot be reached, without the secrets of its address (%s)', async (address) => {
    const clone = makeRemote().clone();
    git(clone, 'remote', 'set-url', 'origin', address);
    const failure = await open(clone)
      .read()
      .catch((error: Error) => error.message);
    expect(failure).toContain('the ledger "refs/trueup/payments" of the remote "origin" cannot be read');
    expect(failure).not.toContain('planted');
  });

  it('that the run may not push there, with the message of the server', async () => {
    const remote = makeRemote();
    hook(join(remote.directory, 'hooks'), 'pre-receive', 'echo "only releases may be pushed" >&2; exit 1');
    const store = open(remote.clone());
    expect((await store.read()).known).toBe(false);
    await expect(store.write(ledger(0, 'a'))).rejects.toThrow(
      /cannot be written: .*only releases may be pushed.*needs permission to push "refs\/trueup\/payments"/,
    );
  });

  it('that a folder of the history is missing in the clone, and keeps the history', async () => {
    const remote = makeRemote();
    const theirs = open(remote.clone());
    await theirs.keepEntries([entry('e1')]);
    const clone = remote.clone();
    git(clone, 'fetch', '--quiet', 'origin', '+refs/trueup/*:refs/trueup/*');
    const folder = git(clone, 'rev-parse', 'refs/trueup/payments:history');
    rmSync(join(clone, '.git', 'objects', folder.slice(0, 2), folder.slice(2)));
    const ours = open(clone);
    await expect(ours.listEntries(5)).rejects.toThrow(/is damaged: a folder of it is missing.*git fsck/);
    await expect(ours.keepEntries([entry('e2')])).rejects.toThrow(/is damaged/);
    expect(await theirs.listEntries(5)).toHaveLength(1);
  });

  it('that the content is not a ledger', async () => {
    const remote = makeRemote();
    const clone = remote.clone();
    writeFileSync(join(clone, 'ledger.json'), 'half a led');
    git(clone, 'add', 'ledger.json');
    git(clone, 'commit', '--quiet', '-m', 'x');
    git(clone, 'push', '--quiet', 'origin', 'HEAD:refs/trueup/payments');
    await expect(open(clone).read()).rejects.toThrow(
      'the ledger "refs/trueup/payments" of the remote "origin" is damaged: it is not JSON',
    );
  });
});

describe('the commit of the manifests', () => {
  it('is reported with whether there are uncommitted changes, except our own files', async () => {
    const clone = makeRemote().clone();
    const head = git(clone, 'rev-parse', 'HEAD');
    const place = { directory: clone, env: process.env };
    mkdirSync(join(clone, '.trueup'));
    writeFileSync(join(clone, '.trueup', 'payments.ledger.json'), '{}');
    expect(await repositoryCommit(place)).toEqual({ commit: head, dirty: false });
    writeFileSync(join(clone, 'new.yaml'), 'kind: X');
    expect(await repositoryCommit(place)).toEqual({ commit: head, dirty: true });
  });

  it('is unknown outside of a repository, and without git', async () => {
    const directory = temporaryFolder();
    const why = async (env: Record<string, string | undefined>) => repositoryCommit({ directory, env });
    expect(await why(process.env)).toEqual({ why: expect.stringMatching(/^not a git repository/) });
    expect(await why({ PATH: '/nowhere' })).toEqual({ why: expect.stringMatching(/not installed/) });
  });
});
