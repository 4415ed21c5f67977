/** Each error in JSON has a code that says why the command failed, so that no program has to parse messages. */
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets, type StackOptions } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { holdLock } from '../../support/cli/locked-stack.ts';
import { trueup } from '../../support/captured-host.ts';

async function open(options: StackOptions = {}): Promise<Checkout> {
  const stack = await (await openBench()).checkout(options);
  await stack.declare(workspace('app'));
  return stack;
}

/** The codes of all diagnostics of a command. */
async function codesOf(
  stack: Checkout,
  args: readonly string[],
  { code, env = {} }: { readonly code: number; readonly env?: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  const ran = await trueup([...args, '--format', 'json'], {
    cwd: stack.directory,
    env: { ...secrets, ...env },
  });
  expect(ran, ran.out + ran.err).toMatchObject({ code });
  const { diagnostics } = JSON.parse(ran.out) as {
    readonly diagnostics: readonly { readonly code: string }[];
  };
  return diagnostics.map((diagnostic) => diagnostic.code);
}

describe('in JSON, an error has its own code', () => {
  it.each([
    ['plan --nonsense', 'usage'],
    ['plan --out -', 'output-refused'],
    ['apply', 'nobody-to-ask'],
    ['apply --ack nonsense', 'unknown-guard'],
    ['apply --ack deletes', 'ack-without-plan'],
    ['show none.json', 'plan-unreadable'],
    ['show manifests/all.yaml', 'not-a-plan'],
    ['history show none', 'unknown-apply'],
  ])('when the command line is "trueup %s"', async (line, code) => {
    expect(await codesOf(await open(), line.split(' '), { code: 1 })).toEqual([code]);
  });

  it('when a token cannot be read', async () => {
    const stack = await open({ workspaces: { token: { env: 'NOT_SET' } } });
    expect(await codesOf(stack, ['plan'], { code: 1 })).toEqual(['secret-unreadable']);
  });

  it('when the address of a proxy is invalid', async () => {
    const stack = await open({ workspaces: { url: 'http://service.test' } });
    const env = { http_proxy: 'http://[' };
    expect(await codesOf(stack, ['plan'], { code: 1, env })).toEqual(['proxy-address']);
  });

  it('when a plan file is of another version, was edited, or is not the one that was approved', async () => {
    const stack = await open();
    const { out } = await stack.run(['plan', '--out', 'plan.json', '--format', 'json'], 0);
    const plan = JSON.parse(out);
    await stack.write('newer.json', JSON.stringify({ ...plan, version: 99 }));
    await stack.write('edited.json', JSON.stringify({ ...plan, stack: 'other' }));
    expect(await codesOf(stack, ['apply', 'newer.json'], { code: 4 })).toEqual(['plan-version']);
    expect(await codesOf(stack, ['apply', 'edited.json'], { code: 4 })).toEqual(['plan-edited']);
    const other = ['apply', 'plan.json', '--approve', '0'.repeat(32)];
    expect(await codesOf(stack, other, { code: 4 })).toEqual(['approval-mismatch']);
  });

  it('when a plan is not the approved one, is blocked by guards, or has problems', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'taken' }] } });
    const stack = await bench.checkout();
    await stack.setUp(...['one', 'two', 'three', 'four', 'five'].map((name) => workspace(name)));
    await stack.declare(workspace('one'));
    const approved = ['apply', '--approve', '0'.repeat(32)];
    expect(await codesOf(stack, approved, { code: 4 })).toEqual(['approval-stale']);
    expect(await codesOf(stack, ['apply', '--yes'], { code: 5 })).toEqual(['guards-block']);
    await stack.declare(workspace('taken'));
    expect(await codesOf(stack, ['apply', '--yes'], { code: 9 })).toEqual(['plan-problems']);
  });

  it('when another run holds the lock', async () => {
    const stack = await open();
    await holdLock(stack);
    expect(await codesOf(stack, ['apply', '--yes'], { code: 8 })).toEqual(['locked']);
  });

  it('when the ledger is damaged', async () => {
    const stack = await open();
    await stack.run(['apply', '--yes'], 0);
    await stack.write('.trueup/payments.ledger.json', '{');
    expect(await codesOf(stack, ['plan'], { code: 1 })).toEqual(['ledger-damaged']);
  });

  it('when the ledger cannot be used, or its address is invalid', async () => {
    const inGit = await open({ spec: { ledger: 'git' } });
    expect(await codesOf(inGit, ['plan'], { code: 1 })).toEqual(['ledger-unusable']);
    const inDatabase = await open({ spec: { ledger: { postgres: { url: { env: 'LEDGER' } } } } });
    const env = { LEDGER: 'nonsense' };
    expect(await codesOf(inDatabase, ['plan'], { code: 7, env })).toEqual(['ledger-address']);
  });
});
