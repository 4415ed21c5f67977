// One apply at a time: the lock of a stack, which runs wait for it, and which may take it over.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runOnThisMachine } from '../../support/cli/run-on-this-machine.ts';
import type { LedgerLock } from '../../../src/model/ledger.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, secrets } from '../../support/cli/bench.ts';
import { holdLock, open, storeOf } from '../../support/cli/locked-stack.ts';
import { startTrueup } from '../../support/cli/process.ts';

/** The pid of a process that is gone. */
async function gonePid(stack: Checkout): Promise<number> {
  const child = startTrueup(['--version'], { cwd: stack.directory });
  await child.ended;
  return child.pid;
}

const run = (stack: Checkout, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  trueup(args, { cwd: stack.directory, env: { ...secrets, ...env } });

describe('an apply that finds the stack locked', () => {
  it('exits with 8, shows who holds the lock, where, since when and in which run, and writes nothing', async () => {
    const { bench, stack } = await open();
    await holdLock(stack, { attempt: 2, url: 'https://ci.example.com/771' });
    const { err, out } = await stack.run(['apply', '--yes'], 8);
    expect(err).toContain('error: stack "payments" is locked');
    for (const part of [
      'ann',
      'ci-runner-7, process 4711',
      '2026-11-20T11:42:00.000Z',
      'github/acme/infra/771/apply, attempt 2',
      'https://ci.example.com/771',
      'trueup unlock --id lock-of-ann',
    ])
      expect(err).toContain(part);
    expect(out).toBe('');
    expect(bench.wire.seen).toEqual([]);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('repeats the path in the command that unlocks', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const { err } = await stack.run(['apply', '--yes', 'trueup.yaml'], 8);
    expect(err).toContain('trueup unlock --id lock-of-ann trueup.yaml');
  });

  it('quotes the id in the printed command, so that a forged lock file cannot add a command', async () => {
    const { stack } = await open();
    const lock = await holdLock(stack, {}, 'a b; rm -rf /');
    const { err } = await stack.run(['apply', '--yes', join(stack.directory, 'trueup.yaml')], 8);
    expect(err).toContain("trueup unlock --id 'a b; rm -rf /' /");
    await stack.run(['unlock', '--id', lock.id], 0);
  });

  it('waits as long as --lock-timeout allows, and says who holds the lock', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const waiting = startTrueup(['apply', '--yes', '--lock-timeout', '1h'], {
      cwd: stack.directory,
      env: secrets,
    });
    await waiting.waitForText(/waiting for the lock of stack "payments": ann holds it/);
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(await waiting.ended).toMatchObject({ code: 0 });
    expect(await storeOf(stack).readLock()).toBeUndefined();
  });

  it('gives up when the time is over', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const { err } = await stack.run(['apply', '--yes', '--lock-timeout', '1s'], 8);
    expect(err).toContain('also after the wait');
  });

  it('ends at once when it is interrupted while it waits', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const args = ['apply', '--yes', '--lock-timeout', '1h'];
    const waiting = startTrueup(args, { cwd: stack.directory, env: secrets });
    await waiting.waitForText(/waiting for the lock/);
    waiting.kill('SIGINT');
    expect(await waiting.ended).toMatchObject({ code: 130 });
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it.each(['soon', '-5', '', '5 parsecs'])('refuses "%s" as a time to wait', async (text) => {
    const { stack } = await open();
    const { err } = await stack.run(['apply', '--yes', '--lock-timeout', text], 1);
    expect(err).toContain('a time to wait is written like 30s, 5m or 1h');
  });
});

describe('two applies at once', () => {
  it('the second one is refused as long as the first one runs', async () => {
    const { bench, stack } = await open();
    let proceed = () => {};
    const second = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    let sending = () => {};
    const first = new Promise<void>((resolve) => {
      sending = resolve;
    });
    const meet = () => {
      sending();
      return second;
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: meet } });
    const one = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
    await first;
    const other = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
    const refused = await other.ended;
    expect(refused.code).toBe(8);
    expect(refused.err).toContain(`process ${one.pid}`);
    expect(refused.err).not.toContain('is gone');
    proceed();
    expect(await one.ended).toMatchObject({ code: 0 });
    expect(await bench.idsOf('app')).toHaveLength(1);
  });
});

describe('a command that only reads', () => {
  it('neither takes a lock nor waits for one', async () => {
    const { stack } = await open();
    await holdLock(stack);
    await stack.run(['validate'], 0);
    await stack.run(['plan'], 0);
    await stack.run(['history'], 0);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });
});

describe('an apply releases the lock', () => {
  const lockAfter = async (stack: Checkout) => expect(await storeOf(stack).readLock()).toBeUndefined();

  it('when it is done, and holds it until then', async () => {
    const { bench, stack } = await open();
    const seen: (LedgerLock | undefined)[] = [];
    const look = async () => seen.push(await storeOf(stack).readLock());
    bench.wire.add({ path: /workspaces/, times: 99, fault: { first: look } });
    await stack.run(['apply', '--yes'], 0);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.every((lock) => lock !== undefined)).toBe(true);
    await lockAfter(stack);
  });

  it('when there is no terminal for its question', async () => {
    const { stack } = await open();
    await stack.run(['apply'], 1);
    await lockAfter(stack);
  });

  it('when the plan has problems', async () => {
    const { bench, stack } = await open();
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    await stack.run(['apply', '--yes'], 9);
    await lockAfter(stack);
  });

  it('when a target cannot be reached', async () => {
    const { stack } = await open();
    const text = JSON.stringify({
      apiVersion: 'trueup.dev/v1',
      kind: 'Stack',
      metadata: { name: 'payments' },
      spec: {
        manifests: ['manifests/*.yaml'],
        targets: [
          {
            name: 'acme',
            service: 'workspaces',
            url: 'http://127.0.0.1:1',
            organization: 'acme',
            token: { env: 'NOT_SET' },
            dialect: 'neutral',
          },
        ],
      },
    });
    await stack.write('trueup.yaml', text);
    await stack.run(['apply', '--yes'], 1);
    await lockAfter(stack);
  });

  it('when changes fail', async () => {
    const { bench, stack } = await open();
    bench.wire.add({ method: 'POST', path: /workspaces/, times: 99, fault: { answer: 422 } });
    await stack.run(['apply', '--yes'], 1);
    await lockAfter(stack);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'when %s ends it while it plans, before anything is written',
    async (signal) => {
      const { bench, stack } = await open();
      let stalled = () => {};
      const isStalled = new Promise<void>((resolve) => {
        stalled = resolve;
      });
      const never = () => {
        stalled();
        return new Promise(() => {});
      };
      bench.wire.add({ method: 'GET', path: /workspaces/, times: 99, fault: { first: never } });
      const planning = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
      await isStalled;
      planning.kill(signal);
      expect(await planning.ended).toMatchObject({ code: 130 });
      expect(bench.wire.writes()).toEqual([]);
      await lockAfter(stack);
    },
  );

  it('when it is interrupted during writes, after they have finished', async () => {
    const { bench, stack } = await open();
    let applying = startTrueup(['--version'], { cwd: stack.directory });
    const interrupt = async () => {
      applying.kill('SIGINT');
      await applying.waitForText(/interrupted/);
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: interrupt } });
    applying = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
    expect(await applying.ended).toMatchObject({ code: 130 });
    expect(await bench.idsOf('app')).toHaveLength(1);
    await lockAfter(stack);
  });
});

describe('the lock of an apply that was killed', () => {
  /** An apply that was killed in the middle of its first write. */
  async function killed(env: Readonly<Record<string, string>> = {}) {
    const { bench, stack } = await open();
    let applying = startTrueup(['--version'], { cwd: stack.directory });
    const kill = async () => {
      applying.kill('SIGKILL');
      await applying.ended;
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: kill } });
    applying = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: { ...secrets, ...env } });
    expect(await applying.ended).toMatchObject({ signal: 'SIGKILL' });
    return { bench, stack };
  }

  it('stays, and the next apply says that its process is gone', async () => {
    const { stack } = await killed();
    const { err } = await stack.run(['apply', '--yes'], 8);
    expect(err).toContain('on this host is gone: that run seems to have crashed');
    const id = /unlock --id (\S+)/.exec(err)?.[1] ?? '';
    await stack.run(['unlock', '--id', id], 0);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each([
    { GITHUB_RUN_ID: '771', GITHUB_RUN_ATTEMPT: '1', GITHUB_JOB: 'apply' },
    { CI_PIPELINE_ID: '12', CI_JOB_ID: '400', CI_JOB_NAME: 'apply' },
    { BUILD_ID: '9', JOB_NAME: 'infra' },
    { TRUEUP_RUN_ID: 'nightly-3' },
  ])('is taken over by the same job on the same host: %o', async (env) => {
    const { bench, stack } = await killed(env);
    const again = await run(stack, ['apply', '--yes'], env);
    expect(again).toMatchObject({ code: 0 });
    expect(again.err).toContain('took over the lock');
    expect(await bench.idsOf('app')).toHaveLength(1);
    expect(await storeOf(stack).readLock()).toBeUndefined();
  });

  it('is taken over only after the serial of the ledger was raised, which stops the former holder', async () => {
    const env = { GITHUB_RUN_ID: '771' };
    const { bench, stack } = await killed(env);
    const { serial } = await storeOf(stack).read();
    const seen: number[] = [];
    const look = async () => seen.push((await storeOf(stack).read()).serial);
    bench.wire.add({ method: 'GET', path: /workspaces/, fault: { first: look } });
    await run(stack, ['apply', '--yes'], env);
    expect(seen).toEqual([serial + 1]);
  });

  it('is not taken over by another job, nor by a run without a job', async () => {
    const { stack } = await killed({ GITHUB_RUN_ID: '771' });
    expect((await run(stack, ['apply', '--yes'], { GITHUB_RUN_ID: '772' })).code).toBe(8);
    expect((await run(stack, ['apply', '--yes'])).code).toBe(8);
  });
});

describe('the lock of another host', () => {
  const github = { GITHUB_REPOSITORY: 'acme/infra', GITHUB_RUN_ID: '771', GITHUB_JOB: 'apply' };

  it('is taken over by a later attempt of the same job', async () => {
    const { stack } = await open();
    await holdLock(stack, { attempt: 1 });
    const again = await run(stack, ['apply', '--yes'], { ...github, GITHUB_RUN_ATTEMPT: '2' });
    expect(again).toMatchObject({ code: 0 });
  });

  it.each([
    ['the same attempt, which may be a sibling of a matrix', '3'],
    ['an earlier attempt', '2'],
    ['an attempt without a number', ''],
  ])('is left alone by %s', async (_, attempt) => {
    const { stack } = await open();
    await holdLock(stack, { attempt: 3 });
    const again = await run(stack, ['apply', '--yes'], { ...github, GITHUB_RUN_ATTEMPT: attempt });
    expect(again.code).toBe(8);
  });

  it('is taken over by a run with the same TRUEUP_RUN_ID', async () => {
    const { stack } = await open();
    await holdLock(stack, { id: 'run:deploy-9', sole: true });
    expect((await run(stack, ['apply', '--yes'], { TRUEUP_RUN_ID: 'deploy-8' })).code).toBe(8);
    expect((await run(stack, ['apply', '--yes'], { TRUEUP_RUN_ID: 'deploy-9' })).code).toBe(0);
  });

  it('is not taken over even if no process here has its process number', async () => {
    const { stack } = await open();
    const pid = await gonePid(stack);
    await holdLock(stack, { pid });
    const { err } = await run(stack, ['apply', '--yes'], github);
    expect(err).not.toContain('is gone');
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });
});

describe.runIf(process.platform === 'linux')('the lock of a container with the same host name', () => {
  const github = { GITHUB_REPOSITORY: 'acme/infra', GITHUB_RUN_ID: '771', GITHUB_JOB: 'apply' };
  const { pidNamespace: here = '' } = runOnThisMachine({});

  it.each([
    ['another container of this system', { pidNamespace: `${here}0` }, 8],
    ['a container of another system', { pidNamespace: `x${here}` }, 8],
    ['an earlier version, which did not record where it ran', {}, 8],
    ['the same container', { pidNamespace: here }, 0],
  ])(
    'is taken over by a job of the same matrix only if its process is certainly gone: %s',
    async (_, about, code) => {
      const { stack } = await open();
      const pid = await gonePid(stack);
      await holdLock(stack, { where: hostname(), pid, ...about });
      const ran = await run(stack, ['apply', '--yes'], github);
      expect(ran.code).toBe(code);
      expect(ran.err).not.toContain('is gone');
      expect(ran.err.includes('took over the lock')).toBe(code === 0);
    },
  );
});

describe('the lock of a process that still runs here', () => {
  it('is left alone, also by the same job', async () => {
    const { stack } = await open();
    const { where, pid = 0, pidNamespace } = runOnThisMachine({});
    await holdLock(stack, { where, pid, ...(pidNamespace && { pidNamespace }) });
    const github = { GITHUB_REPOSITORY: 'acme/infra', GITHUB_RUN_ID: '771', GITHUB_JOB: 'apply' };
    expect((await run(stack, ['apply', '--yes'], github)).code).toBe(8);
  });
});
