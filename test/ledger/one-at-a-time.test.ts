import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { oneAtATime } from '../../src/ledger/one-at-a-time.ts';

function guardFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-guard-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'deep', 'guard');
}

describe('work that one at a time may do', () => {
  test('never overlaps, and all of it is done', async () => {
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
    const ends = await Promise.all(Array.from({ length: 10 }, () => oneAtATime(guard, work)));
    expect([ends.length, most]).toEqual([10, 1]);
    expect(existsSync(guard)).toBe(false);
  });

  test('leaves the way free when it fails', async () => {
    const guard = guardFile();
    const failing = oneAtATime(guard, () => Promise.reject(new Error('the disk is full')));
    await expect(failing).rejects.toThrow('the disk is full');
    expect(await oneAtATime(guard, async () => 'next')).toBe('next');
  });

  test('waits for who is inside', async () => {
    const guard = guardFile();
    await oneAtATime(guard, async () => {});
    writeFileSync(guard, '');
    const seen: string[] = [];
    const waiting = oneAtATime(guard, async () => seen.push('inside'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    seen.push('still outside');
    rmSync(guard);
    await waiting;
    expect(seen).toEqual(['still outside', 'inside']);
  });

  test('does not wait for one that was killed inside', async () => {
    const guard = guardFile();
    await oneAtATime(guard, async () => {});
    writeFileSync(guard, '');
    utimesSync(guard, new Date(0), new Date(0));
    expect(await oneAtATime(guard, async () => 'inside')).toBe('inside');
  });

  test('is told when the guard cannot be made', async () => {
    const guard = guardFile();
    writeFileSync(join(guard, '..', '..', 'file'), '');
    const below = join(guard, '..', '..', 'file', 'guard');
    await expect(oneAtATime(below, async () => {})).rejects.toThrow(/EEXIST|ENOTDIR/);
  });
});
