/** The objects that trueup writes itself are those that git would write. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeBlob, writeCommitObject, writeTree } from '../../../src/ledger/git/loose-objects.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** Names for which another order than git's would be wrong. */
const paths = ['a.json', 'a/x.json', 'a-b', 'ä.json', 'b/deep/er/y.json', 'b.json', 'Z', 'a0'];

describe.each(['sha1', 'sha256'])('Objects of a repository with ids of %s', (format) => {
  const openRepository = () => {
    const repository = temporaryFolder();
    git(repository, 'init', '--quiet', `--object-format=${format}`);
    return { repository, to: { directory: join(repository, '.git', 'objects'), format } };
  };

  it('have the ids and the content that git gives them', async () => {
    const { repository, to } = openRepository();
    const blobs = new Map<string, string>();
    for (const path of paths) blobs.set(path, await writeBlob(to, `text of ${path}\n`));
    const tree = await writeTree(to, blobs);
    const commit = await writeCommitObject(to, {
      ...{ tree, message: 'payments: keep ä' },
      ...{ by: 'trueup <trueup@localhost>', at: Date.parse('2026-02-03T04:05:06.789Z') },
    });
    git(repository, 'fsck', '--strict', '--no-dangling', commit);
    const listed = git(repository, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', commit);
    expect(listed.split('\n').sort()).toEqual(paths.toSorted());
    for (const path of paths)
      expect(git(repository, 'cat-file', 'blob', `${commit}:${path}`)).toBe(`text of ${path}`);
    git(repository, 'read-tree', commit);
    expect(git(repository, 'write-tree')).toBe(tree);
    expect(git(repository, 'show', '-s', '--format=%an <%ae> %at %ct %s%P', commit)).toBe(
      'trueup <trueup@localhost> 1770091506 1770091506 payments: keep ä',
    );
  });

  it('are the same when they are written again, even concurrently', async () => {
    const { repository, to } = openRepository();
    const first = await writeBlob(to, 'text');
    expect(await writeBlob(to, 'text')).toBe(first);
    const large = 'x'.repeat(1_000_000);
    const atOnce = await Promise.all(Array.from({ length: 8 }, () => writeBlob(to, large)));
    expect(git(repository, 'cat-file', '-s', atOnce[0] ?? '')).toBe('1000000');
    expect(new Set(atOnce).size).toBe(1);
    expect(await writeTree(to, new Map())).toBe(git(repository, 'write-tree'));
  });

  it('leave nothing behind if they cannot be written', async () => {
    const { to } = openRepository();
    const id = await writeBlob(to, 'text');
    const folder = join(to.directory, id.slice(0, 2));
    rmSync(join(folder, id.slice(2)));
    mkdirSync(join(folder, id.slice(2)));
    await expect(writeBlob(to, 'text')).rejects.toThrow('rename');
    expect(readdirSync(folder)).toEqual([id.slice(2)]);
  });
});
