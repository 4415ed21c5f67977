/** The files that trueup keeps beside a stack are private to their owner, and git ignores them. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { serveProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** What `git add -A` would stage below the folder. */
function staged(cwd: string): string[] {
  execFileSync('git', ['init', '--quiet'], { cwd });
  execFileSync('git', ['add', '--all'], { cwd });
  return execFileSync('git', ['ls-files'], { cwd, encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('the folder .trueup', () => {
  it('that an apply creates for its ledger is ignored by git, and closed to other users', async () => {
    const { checkout } = await openBench();
    const stack = await checkout();
    await stack.setUp(workspace('app'));
    expect(staged(stack.directory)).toEqual(['manifests/all.yaml', 'trueup.yaml']);
    expect(await modeOf(join(stack.directory, '.trueup'))).toBe('700');
  });

  it('that a plan creates for the embedded service is ignored and closed, too', async () => {
    const cwd = embeddedStack();
    expect(await trueup(['plan'], { cwd })).toMatchObject({ code: 0, err: '' });
    expect(await readdir(join(cwd, '.trueup'))).toContain('embedded.db.tokens.json');
    expect(staged(cwd)).toEqual(['manifests/all.yaml', 'trueup.yaml']);
    expect(await modeOf(join(cwd, '.trueup'))).toBe('700');
  });

  it('that is created for a plan file is ignored, too', async () => {
    const { checkout } = await openBench();
    const stack = await checkout();
    await stack.declare(workspace('app'));
    await stack.run(['plan', '--out', '.trueup/approved/plan.json'], 0);
    expect(await readdir(join(stack.directory, '.trueup', 'approved'))).toEqual(['plan.json']);
    expect(staged(stack.directory)).toEqual(['manifests/all.yaml', 'trueup.yaml']);
  });

  it('that "trueup serve" creates for its data is ignored and closed under any name', async () => {
    const cwd = temporaryFolder();
    await serveProcess(['--data', 'service/data/my.db'], { cwd });
    expect(await readdir(join(cwd, 'service', 'data'))).toContain('my.db');
    expect(staged(cwd)).toEqual([]);
    expect(await modeOf(join(cwd, 'service', 'data'))).toBe('700');
  });

  it('is not changed if it existed with other contents', async () => {
    const { checkout } = await openBench();
    const arranged = await checkout();
    await mkdir(join(arranged.directory, '.trueup'), { mode: 0o755 });
    await writeFile(join(arranged.directory, '.trueup', '.gitignore'), '*\n!*.ledger.json\n');
    await arranged.setUp(workspace('app'));
    expect(staged(arranged.directory)).toContain('.trueup/payments.ledger.json');
    expect(await modeOf(join(arranged.directory, '.trueup'))).toBe('755');

    const kept = await checkout({ name: 'kept' });
    await mkdir(join(kept.directory, '.trueup'));
    await writeFile(join(kept.directory, '.trueup', 'notes.txt'), 'of ours');
    await kept.setUp(workspace('other'));
    expect(staged(kept.directory)).toContain('.trueup/kept.ledger.json');
  });

  it('does not contain a ledger for which the stack names another folder, so that git can track it', async () => {
    const { checkout } = await openBench();
    const stack = await checkout({ spec: { ledger: { local: { folder: 'ledger' } } } });
    await stack.setUp(workspace('app'));
    expect(staged(stack.directory)).toContain('ledger/payments.ledger.json');
    expect(await readdir(stack.directory)).not.toContain('.trueup');
    expect((await stack.run(['plan', '--exit-code'], 0)).out).toContain('No changes');
  });

  it('that somebody created and left empty is used like a new one', async () => {
    const cwd = embeddedStack();
    await mkdir(join(cwd, '.trueup'));
    expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
    expect(staged(cwd)).toEqual(['manifests/all.yaml', 'trueup.yaml']);
  });
});

describe('the data of the embedded service', () => {
  it('can be read only by its owner, from the start and in all files', async () => {
    const cwd = embeddedStack();
    await serveProcess([], { cwd });
    expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
    const names = (await readdir(join(cwd, '.trueup'))).filter((name) => name.startsWith('embedded.db'));
    expect(names).toEqual(expect.arrayContaining(['embedded.db', 'embedded.db-shm', 'embedded.db-wal']));
    for (const name of names) expect([name, await modeOf(join(cwd, '.trueup', name))]).toEqual([name, '600']);
  });

  it('is closed to other users again if an earlier version left it open', async () => {
    const cwd = embeddedStack();
    expect(await trueup(['plan'], { cwd })).toMatchObject({ code: 0 });
    const data = join(cwd, '.trueup', 'embedded.db');
    await chmod(data, 0o644);
    expect(await trueup(['plan'], { cwd })).toMatchObject({ code: 0 });
    expect(await modeOf(data)).toBe('600');
    expect((await readFile(data)).subarray(0, 6).toString()).toBe('SQLite');
  });
});
