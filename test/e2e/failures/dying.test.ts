/** A run that is ended from outside, or loses its reader: writes in flight finish, the ledger is written, the lock is released. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { mainFile, onTerminal, spawnTrueup, startTrueup } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const anyCreate = { method: 'POST', path: /\/organizations\/acme\/workspaces$/ };

function lockOf({ directory }: Checkout) {
  return localLedger(`${directory}/.trueup/payments.ledger.json`, 'payments').readLock();
}

/** Runs trueup with its stdout on a full disk. */
async function intoFullDisk(
  args: readonly string[],
  stack: Checkout,
): Promise<{ code: unknown; err: string }> {
  const full = openSync('/dev/full', 'w');
  const at = { cwd: stack.directory, env: secrets };
  const child = spawnTrueup(args, at, ['ignore', full, 'pipe']);
  closeSync(full);
  let err = '';
  child.stderr?.on('data', (chunk) => {
    err += String(chunk);
  });
  const [code] = await once(child, 'close');
  return { code, err };
}

it('a command in a deleted folder says that the folder does not exist', () => {
  const folder = temporaryFolder();
  const ran = spawnSync('bash', ['-c', 'rmdir "$PWD"; exec "$0" "$@"', process.execPath, mainFile, 'plan'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(ran).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'error: the current folder does not exist any more: change to another one\n',
  });
});

describe('output that cannot be written', () => {
  it('does not stop an apply: it finishes, releases its lock and reports the lost output', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web'));
    const { code, err } = await intoFullDisk(['apply', '--yes'], stack);
    expect(err).toMatch(/^error: the output of this command could not be written: .*no space left/m);
    expect(err).not.toMatch(/^ +at /m);
    expect(code).toBe(1);
    expect(await lockOf(stack)).toBeUndefined();
    await stack.run(['plan', '--exit-code'], 0);
    expect(Object.keys((await stack.ledger()).records)).toHaveLength(2);
  });

  it.each([['validate'], ['schema', 'Workspace'], ['history'], ['--help'], ['plan', '--format', 'json']])(
    'is reported on stderr by every command, with exit code 1: %s',
    async (...args) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('app'));
      const { code, err } = await intoFullDisk(args, stack);
      expect(err).toMatch(/^error: the output of this command could not be written: .*no space left/m);
      expect(code).toBe(1);
    },
  );

  it('is not a failure when the reader closes the pipe', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(...Array.from({ length: 30 }, (_, n) => workspace(`app-${n}`)));
    const at = { cwd: stack.directory, env: secrets };
    const child = spawnTrueup(['apply', '--yes'], at, ['ignore', 'pipe', 'ignore']);
    child.stdout?.once('data', () => child.stdout?.destroy());
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('a terminal that is closed', () => {
  it.each([
    ['asks for confirmation', { description: 'new' }, /Apply this change\?/],
    ['asks to acknowledge a guard', { globalRemoteState: true }, /type the guard that blocks/],
  ])(
    'while apply %s ends the apply: nothing is written, the lock is released, exit code 130',
    async (_, spec, question) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.declare(workspace('app', spec));
      const exitCodeFile = join(stack.directory, 'code');
      const at = { cwd: stack.directory, env: secrets, exitCodeFile };
      await onTerminal(['apply'], at, async ({ waitForText, closeTerminal }) => {
        await waitForText(question);
        expect(await lockOf(stack)).toBeDefined();
        closeTerminal();
      });
      const code = () => readFile(exitCodeFile, 'utf8').catch(() => '');
      await expect.poll(code, { timeout: 20_000 }).toBe('130\n');
      expect(await lockOf(stack)).toBeUndefined();
      expect(bench.wire.writes()).toEqual([]);
      await stack.applyAcknowledged();
    },
  );

  it('stops an apply as Ctrl-C does: writes in flight finish, and the lock is released', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web', { remoteStateConsumers: ['app'] }));
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const first = () => {
      reached.resolve();
      return release.promise;
    };
    bench.wire.add({ ...anyCreate, fault: { first } });
    const running = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
    await reached.promise;
    running.kill('SIGHUP');
    await running.waitForText(/interrupted: any write that was sent is waited for/);
    release.resolve();
    const { code, out } = await running.ended;
    expect(code, out).toBe(130);
    expect(await lockOf(stack)).toBeUndefined();
    expect(Object.keys((await stack.ledger()).records).length).toBeGreaterThan(0);
    await stack.run(['apply', '--yes'], 0);
  });
});

describe('a command that fails', () => {
  const answers = async (args: readonly string[], code: number) => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const { out } = await stack.run(args, code);
    return JSON.parse(out);
  };

  it.each([
    [['plan', '--format', 'json', '--bogus'], "unknown option '--bogus'"],
    [['apply', '--format=json'], 'nothing was written: apply asks before it writes'],
    [['show', '/nowhere/plan.json', '--format', 'json'], '/nowhere/plan.json'],
    [['history', 'show', 'abc', '--format', 'json'], 'abc'],
  ])('answers in JSON if it was asked for JSON: "%s"', async (args, message) => {
    const { diagnostics } = await answers(args, 1);
    expect(diagnostics).toMatchObject([{ severity: 'error', message: expect.stringContaining(message) }]);
  });

  it('answers in JSON when a token is missing, too', async () => {
    const stack = await (await openBench()).checkout({ workspaces: { token: { env: 'NOT_SET' } } });
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['plan', '--format', 'json'], 1);
    expect(JSON.parse(out).diagnostics).toMatchObject([{ message: expect.stringContaining('NOT_SET') }]);
  });

  it('prints errors in colour with --color always', async () => {
    const stack = await (await openBench()).checkout({ workspaces: { token: { env: 'NOT_SET' } } });
    await stack.declare(workspace('app'));
    const { err } = await stack.run(['plan', '--color', 'always'], 1);
    expect(err).toContain('\u001b[');
  });
});
