// Old applies are dropped from the history, and everything that needs the history still works.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ledgerPruneSchema } from '../../../src/commands/ledger/schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { holdLock, open } from '../../support/cli/locked-stack.ts';
import { movableStack } from '../../support/cli/movable-stack.ts';
import { git } from '../../support/ledger/git-remote.ts';

const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(ledgerPruneSchema);
const prune = ['ledger', 'prune', '--older-than', '90d', '--yes'];

const historyOf = (stack: Checkout) => join(stack.directory, '.trueup', 'payments.history');

/** Moves all applies so far to the year 2020. */
async function age(stack: Checkout): Promise<void> {
  for (const name of await readdir(historyOf(stack))) {
    const file = join(historyOf(stack), name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll(/"(began|ended)": "\d{4}/g, '"$1": "2020'));
  }
}

/** Three applies; the first two, or all, are old. */
async function applied(howMany: 'two' | 'all' = 'two') {
  const { bench, stack } = await open();
  const digests: string[] = [];
  for (const description of ['one', 'two', 'three']) {
    if (description === 'three' && howMany === 'two') await age(stack);
    await stack.declare(workspace('app', { description }));
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest], 0);
    digests.push(digest);
  }
  if (howMany === 'all') await age(stack);
  return { bench, stack, digests };
}

async function answer(stack: Checkout, ...args: readonly string[]) {
  const found = JSON.parse((await stack.run([...prune, '--format', 'json', ...args], 0)).out);
  expect(isValid(found), JSON.stringify(isValid.errors)).toBe(true);
  return found;
}

describe('trueup ledger prune', () => {
  it('drops old applies, and leaves the ledger as it is', async () => {
    const { stack } = await applied();
    const before = await readFile(stack.ledgerFile, 'utf8');
    expect(await answer(stack, '--dry-run')).toMatchObject({ dryRun: true, dropped: 2, kept: 1 });
    expect(await readdir(historyOf(stack))).toHaveLength(3);
    expect((await stack.run(prune, 0)).out).toContain('Dropped 2 applies');
    expect(await readdir(historyOf(stack))).toHaveLength(1);
    expect(await readFile(stack.ledgerFile, 'utf8')).toBe(before);
    expect((await stack.run(['ledger', 'show'], 0)).out).toMatch(/^lock +nobody holds it$/m);
    expect(await answer(stack)).toMatchObject({ dropped: 0, kept: 1 });
  });

  it('keeps what history, its revert, drift and plan need', async () => {
    const { stack } = await applied();
    await stack.run(prune, 0);
    expect((await stack.run(['history'], 0)).out).toContain('Older applies were dropped');
    expect((await stack.run(['history', 'show', 'latest', '--revert'], 0)).out).toContain('two');
    await stack.run(['drift'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('keeps the last apply at any age', async () => {
    const { stack } = await applied('all');
    expect(await answer(stack)).toMatchObject({ dropped: 2, kept: 1 });
    expect((await stack.run(['history', 'show', 'latest'], 0)).out).toContain('three');
  });

  it('keeps an apply on a machine whose clock was a year ahead, and those after it, but not older ones', async () => {
    const { stack } = await applied('all');
    const now = () => Date.now() + 366 * 24 * 3_600_000;
    await stack.declare(workspace('app', { description: 'ahead' }));
    const ended = await trueup(['apply', '--yes'], { cwd: stack.directory, env: secrets, now });
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    await stack.declare(workspace('app', { description: 'right' }));
    await stack.run(['apply', '--yes'], 0);
    expect(await answer(stack)).toMatchObject({ dropped: 3, kept: 2 });
    expect((await stack.run(['history', 'show', 'latest'], 0)).out).toContain('right');
  });

  it('does not let an approval of a dropped apply be used again, also after the ledger was lost', async () => {
    const { stack, digests } = await applied();
    const [first = ''] = digests;
    await stack.run(prune, 0);
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    const { endedApprovals } = JSON.parse(await readFile(stack.ledgerFile, 'utf8'));
    expect(Object.keys(endedApprovals)).toEqual(expect.arrayContaining([...digests]));
    await stack.declare(workspace('app', { description: 'four' }));
    expect((await stack.run(['apply', '--approve', first], 4)).err).toContain('approv');
  });

  it('keeps an apply that has begun and not ended', async () => {
    const { bench, stack } = await applied();
    const [newest = ''] = (await readdir(historyOf(stack))).sort().reverse();
    const file = join(historyOf(stack), newest);
    const { ended: _, ...begun } = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify(begun));
    await age(stack);
    expect(await answer(stack)).toMatchObject({ dropped: 1, kept: 2 });
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('does not wait while another run holds the lock, and drops nothing', async () => {
    const { stack } = await applied();
    await holdLock(stack);
    expect((await stack.run(prune, 8)).err).toContain('ann');
    expect(await readdir(historyOf(stack))).toHaveLength(3);
  });

  it('drops nothing while an entry cannot be read, nor without a ledger, nor without an age', async () => {
    const { stack } = await applied();
    await writeFile(join(historyOf(stack), '20190101T000000000Z-aaaa.json'), 'no JSON');
    expect((await stack.run(prune, 1)).err).toContain('20190101T000000000Z-aaaa');
    await rm(join(historyOf(stack), '20190101T000000000Z-aaaa.json'));
    await rm(stack.ledgerFile);
    expect((await stack.run(prune, 1)).err).toContain('"trueup recover" rebuilds');
    expect((await stack.run(['ledger', 'prune', '--older-than', '90'], 1)).err).toContain('like 90d');
    expect(await readdir(historyOf(stack))).toHaveLength(3);
  });

  it('needs --yes if there is no terminal', async () => {
    const { stack } = await applied();
    expect((await stack.run(['ledger', 'prune', '--older-than', '90d'], 1)).err).toContain('pass --yes');
    expect(await readdir(historyOf(stack))).toHaveLength(3);
  });

  it('removes the files from a ledger in git, and a later move does not bring them back', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await age(scene.stack);
    await scene.run(['ledger', 'move', '--to', 'git', '--yes', '--write'], 0);
    const files = () => git(scene.remote, 'ls-tree', '-r', '--name-only', 'refs/trueup/payments');
    expect(files().match(/history/g)).toHaveLength(2);
    await scene.run(prune, 0);
    expect(files().match(/history/g)).toHaveLength(1);
    await scene.run(['ledger', 'move', '--to', 'local', '--yes', '--write'], 0);
    expect(await readdir(historyOf(scene.stack))).toHaveLength(1);
    await scene.run(['plan', '--exit-code'], 0);
  });
});
