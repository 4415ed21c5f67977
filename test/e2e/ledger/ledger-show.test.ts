// `trueup ledger show`: the summary of a ledger, which changes nothing.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ledgerSchema } from '../../../src/commands/ledger/schema.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { holdLock, open } from '../../support/cli/locked-stack.ts';
import { startTrueup } from '../../support/cli/process.ts';

const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(ledgerSchema);

async function summary(stack: Checkout) {
  const answer = JSON.parse((await stack.run(['ledger', 'show', '--format', 'json'], 0)).out);
  expect(isValid(answer), JSON.stringify(isValid.errors)).toBe(true);
  return answer;
}

async function text(stack: Checkout): Promise<string> {
  return (await stack.run(['ledger', 'show'], 0)).out;
}

/** The files of the ledger with their contents. */
async function filesOf(stack: Checkout): Promise<ReadonlyMap<string, string>> {
  const folder = join(stack.directory, '.trueup');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)));
}

describe('trueup ledger show', () => {
  it('says before the first apply that there are no records, and writes no file', async () => {
    const { bench, stack } = await open();
    const out = await text(stack);
    expect(out).toMatch(/^Stack payments\n/);
    expect(out).toMatch(/^records +none: nothing was applied yet$/m);
    expect(out).toMatch(/^lock +nobody holds it$/m);
    expect(await summary(stack)).toMatchObject({ known: false, records: { total: 0, kinds: {} } });
    expect(await filesOf(stack)).toEqual(new Map());
    expect(bench.wire.seen).toEqual([]);
  });

  it('shows id, targets, records by kind and approvals, in 80 columns', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'taken' }] } });
    const stack = await bench.checkout();
    const taken = workspace('taken');
    await stack.declare(workspace('app'), role('web'), {
      ...taken,
      metadata: { ...taken.metadata, adopt: true },
    });
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest], 0);
    const found = await summary(stack);
    expect(found).toMatchObject({
      stack: 'payments',
      known: true,
      stackId: expect.stringMatching(/^[0-9a-f]{8}$/),
      records: {
        total: 3,
        kinds: { Workspace: { total: 2, created: 1, adopted: 1 }, ClusterAuthRole: { total: 1, created: 1 } },
      },
      approvals: { ended: 1 },
      begunCreations: [],
    });
    expect(Object.keys(found.targets)).toEqual(['acme', 'prod']);
    const out = await text(stack);
    expect(out).toContain(found.stackId);
    expect(out).toMatch(/^records +3: 1 ClusterAuthRole, 2 Workspace \(1 adopted\)$/m);
    expect(out).toMatch(/^approvals +none open, 1 ended$/m);
    expect(out).toMatch(/^target +acme: \S+/m);
  });

  it('shows who holds the lock, does not wait for it, and changes nothing', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    await holdLock(stack);
    const before = await filesOf(stack);
    expect(await text(stack)).toMatch(/^lock +held:\n +who: +ann\n/m);
    expect(await summary(stack)).toMatchObject({ lock: { id: 'lock-of-ann', run: { who: 'ann' } } });
    expect(await filesOf(stack)).toEqual(before);
  });

  it('names a creation of a killed apply, and its open approval', async () => {
    const { bench, stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'), workspace('web'));
    const { digest } = await stack.plan();
    let applying = startTrueup(['--version'], { cwd: stack.directory });
    const kill = async () => {
      applying.kill('SIGKILL');
      await applying.ended;
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: kill } });
    applying = startTrueup(['apply', '--approve', digest], { cwd: stack.directory, env: secrets });
    await applying.ended;
    const out = await text(stack);
    expect(out).toMatch(/^begun +1 creation of unknown outcome; .*\n +Workspace\/acme\/web$/m);
    expect(out).toContain(`open: ${digest}`);
    expect(await summary(stack)).toMatchObject({
      begunCreations: ['Workspace/acme/web'],
      approvals: { open: { digest } },
    });
  });

  it('shows the ledger also if the history cannot be read, and exits with 1', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    const [entry = ''] = [...(await filesOf(stack)).keys()].filter((file) =>
      file.includes('payments.history'),
    );
    await writeFile(entry, 'no json');
    const { out, err } = await stack.run(['ledger', 'show'], 1);
    expect(out).toMatch(/^records +1: 1 Workspace$/m);
    expect(out).toMatch(/^begun +unknown: the history cannot be read$/m);
    expect(err).toContain(entry);
  });
});
