/** The temporary repository that uses the objects and the remotes of a clone, in clones of many kinds. */
import { describe, expect, it } from 'vitest';
import { gitLedger } from '../../../src/ledger/git/git-ledger.ts';
import { openCommits } from '../../../src/ledger/git/read-commits.ts';
import { WaitEnded } from '../../../src/model/ledger.ts';
import { KnownSecrets } from '../../../src/redaction/known-secrets.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';

describe('The properties of a clone', () => {
  it('are read for a ledger even if the first caller has stopped waiting', async () => {
    const at = { directory: makeRemote().clone(), env: process.env, secrets: new KnownSecrets() };
    const stopped = new AbortController();
    const first = openCommits({ ...at, signal: stopped.signal });
    const store = gitLedger(at, { remote: 'origin', stack: 'payments' });
    const reading = store.read();
    stopped.abort();
    await expect(first).rejects.toThrow(WaitEnded);
    expect((await reading).known).toBe(false);
    await store.close();
    await (await openCommits({ ...at, signal: new AbortController().signal })).close();
  });
});

describe('A bare repository', () => {
  it('has no work tree whose commits could be read, with the message of git', async () => {
    const bare = makeRemote().clone('--bare');
    const at = { directory: bare, env: process.env, secrets: new KnownSecrets() };
    await expect(openCommits(at)).rejects.toThrow(
      'git rev-parse failed: fatal: this operation must be run in a work tree',
    );
    expect(git(bare, 'rev-parse', '--is-bare-repository')).toBe('true');
  });
});
