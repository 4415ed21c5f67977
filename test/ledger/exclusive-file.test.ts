import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startGuardHolder } from '../support/ledger/other-holder.ts';
import { withExclusiveFile } from '../../src/ledger/exclusive-file.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

function guardFile(): string {
  const directory = temporaryFolder();
  return join(directory, 'deep', 'guard');
}

/** The waits of a process, and an action after this number of attempts. */
function* triesUntil(tries: number, then: () => void): Generator<number> {
  for (let tried = 0; ; tried += 1) {
    if (tried === tries) then();
    yield 1;
  }
}

/** A guard file with a very old modification time, which says nothing about its current holder. */
const longAgo = (guard: string) => utimesSync(guard, new Date(0), new Date(0));

describe('work under an exclusive lock', () => {
  it('never overlaps, and all of it is done', async () => {
    const guard = guardFile();
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      inside -= 1;
      return 'done';
    };
    const ends = await Promise.all(Array.from({ length: 10 }, () => withExclusiveFile(guard, work)));
    expect([ends.length, most]).toEqual([10, 1]);
  });

  it('leaves only an empty file of its owner', async () => {
    const guard = guardFile();
    await withExclusiveFile(guard, async () => expect(readdirSync(join(guard, '..'))).toEqual(['guard']));
    expect(readdirSync(join(guard, '..'))).toEqual(['guard']);
    expect([statSync(guard).size, statSync(guard).mode & 0o777]).toEqual([0, 0o600]);
  });

  it('releases the lock when it fails', async () => {
    const guard = guardFile();
    const failing = withExclusiveFile(guard, () => Promise.reject(new Error('the disk is full')));
    await expect(failing).rejects.toThrow('the disk is full');
    expect(await withExclusiveFile(guard, async () => 'next')).toBe('next');
  });

  it('waits for another process that holds the lock, even if that is suspended', async () => {
    const guard = guardFile();
    const holder = await startGuardHolder(guard);
    holder.pause();
    longAgo(guard);
    const seen: string[] = [];
    const tries = triesUntil(20, () => {
      seen.push('still outside');
      holder.leave();
    });
    await withExclusiveFile(guard, async () => seen.push('inside'), tries);
    expect(seen).toEqual(['still outside', 'inside']);
  });

  it('runs one at a time of several that wait, for any clock of the file server', async () => {
    const guard = guardFile();
    const holder = await startGuardHolder(guard);
    longAgo(guard);
    let inside = 0;
    const most: number[] = [];
    const work = async () => {
      most.push(++inside);
      longAgo(guard);
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
      inside -= 1;
    };
    const patience = () => triesUntil(10, holder.leave);
    await Promise.all(Array.from({ length: 5 }, () => withExclusiveFile(guard, work, patience())));
    expect(most).toEqual([1, 1, 1, 1, 1]);
  });

  it('continues at once when the process with the lock is killed', async () => {
    const guard = guardFile();
    const holder = await startGuardHolder(guard);
    await holder.kill();
    expect(existsSync(guard)).toBe(true);
    expect(await withExclusiveFile(guard, async () => 'inside', [])).toBe('inside');
  });

  it('is given up with a message when the lock is never released', async () => {
    const guard = guardFile();
    const holder = await startGuardHolder(guard);
    await expect(withExclusiveFile(guard, async () => {}, [1, 1])).rejects.toThrow(
      `another process has kept "${guard}" locked: it is suspended, or the file system does not support locks`,
    );
    holder.leave();
  });

  it('is reported when the guard file cannot be made, or is another file', async () => {
    const guard = guardFile();
    writeFileSync(join(guard, '..', '..', 'file'), '');
    const below = join(guard, '..', '..', 'file', 'guard');
    await expect(withExclusiveFile(below, async () => {})).rejects.toThrow(/EEXIST|ENOTDIR/);
    mkdirSync(join(guard, '..'));
    writeFileSync(guard, 'something else '.repeat(100));
    await expect(withExclusiveFile(guard, async () => {})).rejects.toThrow(
      /guard" cannot be locked: .*not a database/,
    );
  });

  it('is refused if the guard file is read-only, because it would not exclude anything', async () => {
    const guard = guardFile();
    await withExclusiveFile(guard, async () => {});
    chmodSync(guard, 0o400);
    const entered = await withExclusiveFile(guard, async () => 'inside').catch(
      (error: Error) => error.message,
    );
    // Root may write everywhere, so nothing is refused.
    if (process.getuid?.() !== 0) expect(entered).toContain('EACCES');
  });
});
