/** The temporary repository that uses the objects and the remotes of a clone, in clones of many kinds. */
import { describe, expect, it } from 'vitest';
import { openCommits } from '../../../src/ledger/git/read-commits.ts';
import { KnownSecrets } from '../../../src/redaction/known-secrets.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';

describe('A bare repository', () => {
  it('has no work tree whose commits could be read, in the words of git', async () => {
    const bare = makeRemote().clone('--bare');
    const at = { directory: bare, env: process.env, secrets: new KnownSecrets() };
    await expect(openCommits(at)).rejects.toThrow(
      'git rev-parse failed: fatal: this operation must be run in a work tree',
    );
    expect(git(bare, 'rev-parse', '--is-bare-repository')).toBe('true');
  });
});
