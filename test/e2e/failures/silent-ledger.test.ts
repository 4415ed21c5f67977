/**
 * A ledger that accepts connections and never answers: the timeout of a run and signals end the wait,
 * and every process that was started for it. Runs the real CLI against servers that only accept connections.
 */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveGit } from '../../support/ledger/git-http.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { startGuardHolder } from '../../support/ledger/other-holder.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { type Running, startTrueup } from '../../support/cli/process.ts';
import { openSilentServer, type SilentServer } from '../../support/cli/silent-server.ts';

const gitPlace = 'the ledger "refs/trueup/payments" of the remote "origin"';
const postgresPlace = 'the ledger of stack "payments" in PostgreSQL';

interface Scene {
  readonly server: SilentServer;
  start(...args: readonly string[]): Running;
}

async function openScene(ledger: string, urlAt: (port: number) => string): Promise<Scene> {
  const server = await openSilentServer();
  const stack = await (await openBench()).checkout({ spec: { ledger } });
  await stack.declare(workspace('app'));
  git(stack.directory, 'init', '--quiet');
  git(stack.directory, 'remote', 'add', 'origin', urlAt(server.port));
  const env = { ...secrets, TRUEUP_LEDGER_URL: urlAt(server.port) };
  return { server, start: (...args) => startTrueup(args, { cwd: stack.directory, env }) };
}

const overHttp = () => openScene('git', (port) => `http://127.0.0.1:${port}/remote.git`);

describe('a ledger that never answers', () => {
  it.each([
    ['git over HTTP', 'git', 'http', gitPlace],
    ['git by its own protocol', 'git', 'git', gitPlace],
    ['PostgreSQL', 'postgres', 'postgres', postgresPlace],
  ])('in %s is given up when the time of the run is over, and its connections are closed', async (...of) => {
    const [, ledger, scheme, place] = of;
    const { server, start } = await openScene(ledger, (port) => `${scheme}://127.0.0.1:${port}/remote.git`);
    const { code, err } = await start('plan', '--timeout', '2s').ended;
    expect(err).toBe(
      `error: the deadline of 2s passed while waiting to read the ledger (${place}); --timeout gives a run more time, or "timeout" in the stack's spec\n`,
    );
    expect(code).toBe(1);
    await server.allClosed();
  });

  it.each([
    ['apply', 'to read the ledger', ['apply', '--yes']],
    ['history', 'to read the history', ['history']],
    ['history show', 'to read an entry of the history', ['history', 'show', 'some-id']],
    ['unlock', 'to see who holds the lock', ['unlock', '--id', 'some-id']],
    ['recover', 'to read the ledger', ['recover', '--yes']],
    ['recover --moved', 'to take the lock', ['recover', '--moved', 'acme']],
    ['export', 'to read the ledger', ['export']],
  ] as const)('does not delay %s longer than --timeout', async (_, what, args) => {
    const { server, start } = await overHttp();
    const { code, err } = await start(...args, '--timeout', '1s').ended;
    expect(err).toContain(`the deadline of 1s passed while waiting ${what} (${gitPlace})`);
    expect(err).not.toContain('trueup unlock');
    expect(code).toBe(1);
    await server.allClosed();
  });

  it('is reported in JSON with --format json', async () => {
    const { start } = await overHttp();
    for (const args of [['plan'], ['apply', '--yes'], ['history']]) {
      const { code, out } = await start(...args, '--format', 'json', '--timeout', '1s').ended;
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({
        diagnostics: [
          {
            code: 'deadline',
            message: expect.stringContaining('the deadline of 1s passed while waiting to read'),
          },
        ],
      });
    }
  });

  it('is named after a few seconds, with what trueup waits for', async () => {
    const { start } = await overHttp();
    const running = start('plan');
    await running.waitForText(
      /waiting for the ledger "refs\/trueup\/payments" of the remote "origin" for 5 s: to read the ledger\n/,
    );
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });

  it.each([
    ['plan', 'SIGINT'],
    ['plan', 'SIGTERM'],
    ['apply', 'SIGINT'],
    ['history', 'SIGTERM'],
    ['export', 'SIGINT'],
    ['recover', 'SIGINT'],
  ] as const)('does not keep %s from ending at the first %s with exit code 130', async (command, signal) => {
    const { server, start } = await overHttp();
    const running = start(command);
    await server.reached;
    running.kill(signal);
    expect(await running.ended).toMatchObject({
      code: 130,
      signal: null,
      err: expect.stringContaining('interrupted'),
    });
    await server.allClosed();
  });
});

describe('a git remote that does not answer when it is asked for the last applied commit', () => {
  it('does not delay a plan longer than its timeout, and the plan says so', async () => {
    const server = await openSilentServer();
    const stack = await (await openBench()).checkout();
    const commitAll = (message: string) => {
      git(stack.directory, 'init', '--quiet');
      git(stack.directory, 'add', 'trueup.yaml');
      git(stack.directory, 'commit', '--quiet', '-m', message);
    };
    commitAll('what is applied');
    await stack.setUp(workspace('app'));
    await rm(join(stack.directory, '.git'), { recursive: true });
    commitAll('a clone that does not know it');
    await stack.declare(workspace('app', { description: 'new' }));
    git(stack.directory, 'remote', 'add', 'origin', `git://127.0.0.1:${server.port}/remote.git`);
    const running = startTrueup(['plan', '--timeout', '3s'], { cwd: stack.directory, env: secrets });
    const { code, out } = await running.ended;
    expect(code).toBe(0);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'this run has reached its timeout of 3s; --timeout gives it more',
    );
    await server.allClosed();
  });
});

describe('a local ledger that another process has locked', () => {
  it('does not delay an apply longer than its timeout', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    await startGuardHolder(join(stack.directory, '.trueup', 'payments.ledger.json.guard'));
    const { code, err } = await startTrueup(['apply', '--yes', '--timeout', '1s'], {
      cwd: stack.directory,
      env: secrets,
    }).ended;
    expect(err).toContain('the deadline of 1s passed while waiting to take the lock (the ledger "');
    expect(err).not.toContain('trueup unlock');
    expect(code).toBe(1);
  });
});

/** An apply with a ledger in git over HTTP, whose create waits for its answer; `answer` releases the answer. */
async function applying() {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: { ledger: 'git' } });
  await stack.declare(workspace('app'));
  const { clone, host, remote } = await cloneOf(stack);
  const { arrived, answer } = holdCreate(bench);
  const running = startTrueup(['apply', '--yes'], { cwd: clone, env: secrets });
  await Promise.race([arrived, running.ended]);
  return { host, remote, running, answer };
}

async function cloneOf(stack: Checkout) {
  const remote = makeRemote();
  git(remote.directory, 'config', 'http.receivepack', 'true');
  const host = await serveGit(remote.directory, 'Basic planted');
  const clone = remote.clone();
  git(clone, 'remote', 'set-url', 'origin', host.url);
  git(clone, 'config', 'http.extraHeader', 'Authorization: Basic planted');
  await cp(stack.directory, clone, { recursive: true });
  return { clone, host, remote };
}

function holdCreate({ wire }: Bench) {
  const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = () => {
    arrived.resolve();
    return answered.promise;
  };
  wire.add({ method: 'POST', path: /\/organizations\/acme\/workspaces$/, fault: { first } });
  return { arrived: arrived.promise, answer: answered.resolve };
}

describe('a ledger that stops answering during an apply', () => {
  it('is given up at the second Ctrl-C, and trueup says what was done and how to release the lock', async () => {
    const { host, running, answer } = await applying();
    host.silence();
    running.kill('SIGINT');
    await running.waitForText(/interrupted: any write that was sent is waited for/);
    answer();
    await host.leftWaiting;
    running.kill('SIGINT');
    const { code, out, err } = await running.ended;
    expect(out).toMatch(/applied +\+ Workspace\/acme\/app/);
    const lines = err.replaceAll(/--id \S+/g, '--id ID').split('\n');
    expect(lines).toContain(
      `error: the lock could not be given back: the run was interrupted while waiting to give the lock back (${gitPlace}), and it did not answer afterwards either`,
    );
    expect(err).toMatch(/^ {2}its id is (\S+); if it still exists, remove it: trueup unlock --id \1$/m);
    expect(code).toBe(130);
  });
});

describe('a ledger that answers', () => {
  it('gets the records and the history entry of an interrupted apply, and its lock is released', async () => {
    const { remote, running, answer } = await applying();
    running.kill('SIGINT');
    await running.waitForText(/interrupted: any write that was sent is waited for/);
    answer();
    const { code, out, err } = await running.ended;
    expect(out).toMatch(/applied +\+ Workspace\/acme\/app/);
    expect(err.match(/^error: .*$/gm)).toEqual([
      'error: all changes were carried out, but no plan was made to verify them: interrupted',
    ]);
    expect(code).toBe(130);
    const show = (file: string) => git(remote.directory, 'show', `refs/trueup/payments:${file}`);
    const files = git(remote.directory, 'ls-tree', '-r', '--name-only', 'refs/trueup/payments').split('\n');
    expect(files).not.toContain('lock.json');
    expect(JSON.parse(show('ledger.json')).records).toHaveProperty(['Workspace/acme/app']);
    const [entry = ''] = files.filter((file) => file.startsWith('history/'));
    expect(JSON.parse(show(entry))).toMatchObject({
      ended: expect.any(String),
      changes: [{ outcome: 'applied' }],
    });
  });
});

describe('a plan that is interrupted during a read', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends at %s with exit code 130 and the one word "interrupted"',
    async (signal) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.declare(workspace('app'));
      const reached = Promise.withResolvers<void>();
      const first = () => {
        reached.resolve();
        return new Promise(() => {});
      };
      bench.wire.add({
        method: 'GET',
        path: /\/organizations\/acme\/workspaces\?/,
        times: 9,
        fault: { first },
      });
      const running = startTrueup(['plan'], { cwd: stack.directory, env: secrets });
      await reached.promise;
      running.kill(signal);
      expect(await running.ended).toEqual({ code: 130, signal: null, out: '', err: '\ninterrupted\n' });
    },
  );
});
