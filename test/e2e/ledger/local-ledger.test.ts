// A ledger in local files that trueup would not create like that: links, shared files, damaged files.
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { lock } from '../../support/ledger/ledger-samples.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const ledgerFile = (directory: string, stack: string) => join(directory, '.trueup', `${stack}.ledger.json`);

/** A checkout whose ledger is a link to this file. */
async function linkedTo(kept: string, bench: Bench): Promise<Checkout> {
  const stack = await bench.checkout();
  const ledger = ledgerFile(stack.directory, 'payments');
  await mkdir(join(ledger, '..'));
  await symlink(kept, ledger);
  return stack;
}

async function keptFolder(): Promise<string> {
  const folder = temporaryFolder();
  return folder;
}

describe('a ledger that is a link', () => {
  it.each(['payments.json', 'not/there/yet/payments.json'])('is written to its target: %s', async (name) => {
    const bench = await openBench();
    const folder = await keptFolder();
    const stack = await linkedTo(join(folder, name), bench);
    await stack.setUp(workspace('one'));
    await stack.setUp(workspace('one'), workspace('two'));
    const ledger = ledgerFile(stack.directory, 'payments');
    expect((await lstat(ledger)).isSymbolicLink()).toBe(true);
    expect(Object.keys(JSON.parse(await readFile(join(folder, name), 'utf8')).records)).toContain(
      'Workspace/acme/two',
    );
    expect(await readdir(join(ledger, '..'))).toEqual(['payments.ledger.json']);
    // Files that are not records are in a folder that git ignores.
    expect(await readdir(join(folder, name, '..'))).toEqual(['.trueup', 'payments.history', 'payments.json']);
    expect((await stack.run(['history'], 0)).out.match(/^\d{8}/gm)).toHaveLength(2);
  });

  it('to another, relative link is written to the last target, too', async () => {
    const bench = await openBench();
    const folder = await keptFolder();
    await symlink('payments.json', join(folder, 'current'));
    const stack = await linkedTo(join(folder, 'current'), bench);
    await stack.setUp(workspace('one'));
    expect((await lstat(join(folder, 'current'))).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).toContain('payments.json');
  });

  it('is locked for all stacks with a link to the same target', async () => {
    const bench = await openBench();
    const kept = join(await keptFolder(), 'payments.json');
    const [ours, theirs] = [await linkedTo(kept, bench), await linkedTo(kept, bench)];
    const store = localLedger(ledgerFile(theirs.directory, 'payments'), 'payments');
    await store.lock(lock('theirs'));
    await ours.declare(workspace('one'));
    expect((await ours.run(['apply', '--yes'], 8)).err).toContain('theirs');
    expect(bench.written()).toEqual([]);
    await store.unlock('theirs');
    await ours.run(['apply', '--yes'], 0);
  });

  it('to itself is reported', async () => {
    const bench = await openBench();
    const stack = await linkedTo('payments.ledger.json', bench);
    await stack.declare(workspace('one'));
    for (const args of [['plan'], ['apply', '--yes'], ['history'], ['unlock', '--id', 'x']])
      expect((await stack.run(args, 1)).err).toMatch(/too many (symbolic )?links|ELOOP/);
  });

  it('stays a link when its damaged target is moved aside', async () => {
    const bench = await openBench();
    const folder = await keptFolder();
    const stack = await linkedTo(join(folder, 'payments.json'), bench);
    await stack.setUp(workspace('one'));
    await writeFile(join(folder, 'payments.json'), 'torn');
    await stack.run(['recover', '--yes'], 0);
    expect((await lstat(ledgerFile(stack.directory, 'payments'))).isSymbolicLink()).toBe(true);
    const names = await readdir(folder);
    expect(names).toContain('payments.json');
    expect(names.filter((name) => name.startsWith('payments.json.damaged-'))).toHaveLength(1);
  });
});

describe('a damaged entry of the history', () => {
  it('that is the only one does not count as an empty history', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('one'));
    const folder = join(stack.directory, '.trueup', 'payments.history');
    for (const name of await readdir(folder)) await writeFile(join(folder, name), '{');
    const { out, err } = await stack.run(['history'], 1);
    expect(out).toBe('');
    expect(err).toContain('cannot be read');
  });

  it.each(['', '{ "torn": ', 'null', '{"version":1,"id":"x","changes":[]}'])(
    'is named, and the others are shown: %s',
    async (text) => {
      const stack = await (await openBench()).checkout();
      for (const name of ['one', 'two', 'three']) await stack.setUp(workspace(name));
      const folder = join(stack.directory, '.trueup', 'payments.history');
      const [first = '', second = '', third = ''] = (await readdir(folder)).sort();
      await writeFile(join(folder, second), text);
      const { out, err } = await stack.run(['history'], 1);
      for (const name of [first, third]) expect(out).toContain(name.replace('.json', ''));
      expect(out).not.toContain(second.replace('.json', ''));
      expect(err).toMatch(
        /^error: the history entry ".*" cannot be read: trueup did not write it in this form/,
      );
      expect(err).toContain(second);
      expect(err.trim().split('\n')).toHaveLength(1);
      const json = await stack.run(['history', '--format', 'json'], 1);
      const { entries, damaged } = JSON.parse(json.out);
      expect(entries.map(({ id }: { id: string }) => `${id}.json`)).toEqual([third, first]);
      expect(damaged).toEqual([err.trim().replace('error: ', '')]);
      expect(json.err).toBe('');
    },
  );
});
