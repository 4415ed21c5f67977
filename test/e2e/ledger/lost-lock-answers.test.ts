/**
 * A lock in a git ref whose push got no answer: the run does not know that it holds the lock. At its end it releases the
 * lock, or says how to remove it. Runs the real CLI against a real remote.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { startTrueup } from '../../support/cli/process.ts';

const ref = 'refs/trueup/payments';

/** The first push is carried out, but its connection breaks; then the next `failedReads` reads of the remote fail. */
async function lostLock(failedReads: number) {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: { ledger: 'git' } });
  await stack.declare(workspace('app'));
  const remote = makeRemote();
  const clone = remote.clone();
  cpSync(stack.directory, clone, { recursive: true });
  const script = (file: string, ...lines: string[]) => {
    writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(file, 0o755);
    return file;
  };
  const failing = join(remote.directory, 'failing');
  mkdirSync(join(remote.directory, 'hooks'), { recursive: true });
  const hook = join(remote.directory, 'hooks', 'post-receive');
  script(
    hook,
    `rm "${hook}"`,
    `mkdir "${failing}"`,
    `cd "${failing}"`,
    `touch ${numbers(failedReads)}`,
    'kill -9 $PPID',
  );
  const uploadPack = script(
    join(remote.directory, 'look'),
    `for left in "${failing}"/*; do if [ -e "$left" ]; then rm "$left"; exit 1; fi; done`,
    'exec git-upload-pack "$@"',
  );
  git(clone, 'config', 'remote.origin.uploadpack', uploadPack);
  const ran = await startTrueup(['apply', '--yes'], { cwd: clone, env: secrets }).ended;
  expect(existsSync(failing)).toBe(true);
  const files = git(remote.directory, 'ls-tree', '--name-only', ref).split('\n');
  return { bench, remote, clone, ran, files };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index).join(' ');

describe('an apply that does not know that it holds the lock', () => {
  it('releases the lock when it finds it, and the next apply is not locked out', async () => {
    const { bench, clone, ran, files } = await lostLock(1);
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: the ledger .* cannot be read/),
    });
    expect(files).not.toContain('lock.json');
    expect(bench.wire.writes()).toEqual([]);
    const again = await startTrueup(['apply', '--yes'], { cwd: clone, env: secrets }).ended;
    expect(again, again.err).toMatchObject({ code: 0 });
  });

  it('says how to remove the lock when it cannot read', async () => {
    const { remote, clone, ran } = await lostLock(9);
    expect(ran).toMatchObject({ code: 1 });
    const { id } = JSON.parse(git(remote.directory, 'show', `${ref}:lock.json`));
    expect(ran.err).toContain(`its id is ${id}; if it still exists, remove it: trueup unlock --id ${id}\n`);
    git(clone, 'config', '--unset', 'remote.origin.uploadpack');
    const unlocked = await startTrueup(['unlock', '--id', id], { cwd: clone, env: secrets }).ended;
    expect(unlocked, unlocked.err).toMatchObject({ code: 0 });
  });
});
