/** trueup never waits without end, and reports long waits. Runs the real CLI against a slow service. */
import { describe, expect, it } from 'vitest';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { storeOf } from '../../support/cli/locked-stack.ts';
import { fakeAnswer } from '../../support/cli/faulty-proxy.ts';
import { startTrueup, trueupProcess } from '../../support/cli/process.ts';

const listing = { method: 'GET', path: /\/organizations\/acme\/workspaces\?/ };
const never = { first: () => new Promise(() => {}) };

describe('a service that does not answer', () => {
  it('is given up when the time of the run is over, and the plan says how to give it more', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ ...listing, times: 9, fault: never });
    const { err, out } = await stack.run(['plan', '--timeout', '1s'], 1);
    expect(out + err).toContain(
      'this run has reached its timeout of 1s; --timeout gives it more, or "timeout" in the stack',
    );
  });

  it('holds an apply no longer than the stack says, and nothing is sent', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { timeout: '1s' } });
    await stack.declare(workspace('app'));
    bench.wire.add({ ...listing, times: 9, fault: never });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain('this run has reached its timeout of 1s');
    expect(bench.wire.writes()).toEqual([]);
    bench.wire.reset();
    await stack.run(['apply', '--yes', '--timeout', '5m'], 0);
  });

  it('is still waited for after the time is over if a write was sent, and nothing new is started', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web', { remoteStateConsumers: ['app'] }));
    const answered = Promise.withResolvers<void>();
    bench.wire.add({
      method: 'POST',
      path: /workspaces$/,
      times: 2,
      fault: { first: () => answered.promise },
    });
    const running = startTrueup(['apply', '--yes', '--timeout', '2s'], {
      cwd: stack.directory,
      env: secrets,
    });
    await running.waitForText(/this run has reached its timeout of 2s.*nothing new is started/);
    answered.resolve();
    const { code, out } = await running.ended;
    expect(code, out).toBe(6);
    expect(out).toMatch(/applied +\+ Workspace\/acme\/app/);
    expect(out).toMatch(/skipped +\+ RemoteStateConsumers\/acme\/web/);
    expect(await storeOf(stack).readLock()).toBeUndefined();
    await stack.run(['apply', '--yes'], 0);
  });

  it('is reported in JSON, too, with what was done by then and what was not', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web', { remoteStateConsumers: ['app'] }));
    bench.wire.add({ ...listing, times: 9, fault: never });
    const before = await stack.run(['apply', '--yes', '--timeout', '1s', '--format', 'json'], 1);
    expect(JSON.parse(before.out).diagnostics).toMatchObject([
      {
        code: 'deadline',
        message: expect.stringMatching(
          /^nothing was written: this run has reached its timeout of 1s; --timeout gives it more/,
        ),
      },
    ]);
    bench.wire.reset();
    const answered = Promise.withResolvers<void>();
    bench.wire.add({
      method: 'POST',
      path: /workspaces$/,
      times: 2,
      fault: { first: () => answered.promise },
    });
    const running = startTrueup(['apply', '--yes', '--timeout', '2s', '--format', 'json'], {
      cwd: stack.directory,
      env: secrets,
    });
    await running.waitForText(/nothing new is started/);
    answered.resolve();
    const { code, out } = await running.ended;
    expect(code, out).toBe(6);
    const { summary, outcomes, diagnostics } = JSON.parse(out);
    expect(outcomes.map(({ outcome }: { outcome: string }) => outcome)).toContain('skipped');
    expect(diagnostics).toMatchObject([
      {
        code: 'deadline',
        message: expect.stringContaining(
          `${summary.applied} of ${outcomes.length} changes were carried out: this run has reached its timeout of 2s`,
        ),
      },
    ]);
  });

  it('is named on stderr after a few seconds, also without a terminal', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const answered = Promise.withResolvers<void>();
    bench.wire.add({ ...listing, fault: { first: () => answered.promise } });
    const running = startTrueup(['plan'], { cwd: stack.directory, env: secrets });
    await running.waitForText(
      /waiting for target "acme" for 5 s: the answer to GET .*\/organizations\/acme\/workspaces/,
    );
    answered.resolve();
    expect((await running.ended).code).toBe(0);
  });
});

describe('a service that asks for time', () => {
  it('gets only few requests if it asks for more time than the run has, and the plan says so', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'), role('api'));
    const headers = { 'retry-after': '7200' };
    bench.wire.add({
      path: /auth\/cluster/,
      times: 99,
      fault: { answer: 503, headers, body: { errors: [] } },
    });
    const { out } = await stack.run(['plan'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain('target "prod" asks to wait for 7200 s, and this run has');
    expect(bench.wire.seen.filter(({ path }) => path.includes('auth/cluster')).length).toBeLessThanOrEqual(4);
  });
});

describe('a pause before the next attempt', () => {
  it('that outlasts the run is reported, with how to give the run more time', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ ...listing, times: 99, fault: { answer: 500 } });
    const { code, out } = await trueupProcess(['plan', '--timeout', '2s'], {
      cwd: stack.directory,
      env: secrets,
    });
    expect(code, out).toBe(1);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'was given up: this run has reached its timeout of 2s; --timeout gives it more',
    );
  });

  it('that is longer than the service asks for is not reported as a request of the service', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ ...listing, times: 99, fault: { answer: 429, headers: { 'retry-after': '0' } } });
    const { code, out } = await trueupProcess(['plan', '--timeout', '3s'], {
      cwd: stack.directory,
      env: secrets,
    });
    expect(code, out).toBe(1);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /was given up: (target "acme" gets the next request in \d+ s,|this run)/,
    );
    expect(out).not.toContain('asks to wait');
  });
});

describe('a gateway that fails', () => {
  it('and sends x-ratelimit-reset, as with every answer, is not waited for that long', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ ...listing, fault: { answer: 502, headers: { 'x-ratelimit-reset': '3000' } } });
    const { out, err } = await stack.run(['plan', '--timeout', '5m'], 0);
    expect(out).toContain('1 to create');
    expect(err).not.toContain('3000');
  });

  it('with a deeply nested answer is reported like any other', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const text = '['.repeat(200_000) + ']'.repeat(200_000);
    bench.wire.setHandler(async ({ path }, pass) =>
      listing.path.test(path) ? { ...fakeAnswer({ answer: 403 }), text } : pass(),
    );
    const { out, err } = await stack.run(['plan'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain('cannot be listed: GET');
    expect(out + err).not.toContain('RangeError');
  });
});

describe('the timeout of a run', () => {
  it.each(['0s', 'soon', '-5m', '5'])('cannot be "%s"', async (timeout) => {
    const stack = await (await openBench()).checkout();
    const { err } = await stack.run(['plan', `--timeout=${timeout}`], 1);
    expect(err).toContain(`argument '${timeout}' is invalid`);
  });

  it('has a form such as 30m in the stack file', async () => {
    const stack = await (await openBench()).checkout({ spec: { timeout: 'long' } });
    const { err } = await stack.run(['validate'], 7);
    expect(err).toContain('a time such as 90s, 30m or 2h');
  });
});
