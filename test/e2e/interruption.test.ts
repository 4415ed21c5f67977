/** What a person or a CI gets who stops an apply, once or twice: a real process, and a service that takes its time. */
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../src/ledger/local-file.ts';
import { type Bench, type Checkout, openBench, secrets } from './bench.ts';
import { role, workspace } from './documents.ts';
import type { Rule } from './faulty-proxy.ts';
import { type Bystander, type Exited, trueupProcess } from './process.ts';

const stuckCreate = { method: 'POST', path: /\/organizations\/acme\/workspaces$/ };

/** The rule, made to hold its request until it is let go; `reached` resolves when the request is there. */
function holding(rule: Omit<Rule, 'fault'>) {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const first = () => {
    reached.resolve();
    return release.promise;
  };
  const held: Rule = { ...rule, fault: { first } };
  return { rule: held, reached: reached.promise, release: release.resolve };
}

async function interruptedTwice(bench: Bench, stack: Checkout, rule: Omit<Rule, 'fault'>): Promise<Exited> {
  const stuck = holding(rule);
  bench.wire.add(stuck.rule);
  const act = async ({ signals, sees }: Bystander) => {
    await stuck.reached;
    signals('SIGINT');
    await sees(/interrupted: what was sent is waited for/);
    signals('SIGTERM');
  };
  const exited = await trueupProcess(['apply', '--yes'], { cwd: stack.directory, env: secrets }, act);
  stuck.release();
  return exited;
}

function lockOf({ directory }: Checkout) {
  return localLedger(`${directory}/.trueup/payments.ledger.json`, 'payments').readLock();
}

describe('a second signal', () => {
  it('gives up what is in flight as unknown, starts nothing, keeps the ledger, and frees the lock', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web', { remoteStateConsumers: ['app'] }), role('api'));
    const { code, out, err } = await interruptedTwice(bench, stack, stuckCreate);
    expect(code, out + err).toBe(130);
    expect(err).toContain('interrupted again: what was sent is given up');
    expect(out).toMatch(/unknown +\+ Workspace\/acme\/app/);
    expect(out).toMatch(/skipped +\+ RemoteStateConsumers\/acme\/web/);
    expect(out).not.toContain('failed');
    expect(Object.keys((await stack.ledger()).records)).not.toContain('Workspace/acme/app');
    expect(await lockOf(stack)).toBeUndefined();
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('leaves what was only looked at once more as never started', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const { code, out } = await interruptedTwice(bench, stack, {
      method: 'GET',
      path: new RegExp(`/workspaces/${await bench.idOf('app')}\\b`),
    });
    expect(code, out).toBe(130);
    expect(out).toContain('interrupted before it was started');
    expect(out).toContain('1 skipped');
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('a first signal', () => {
  it('while a change is looked at once more keeps it from being sent', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const look = holding({
      method: 'GET',
      path: new RegExp(`/workspaces/${await bench.idOf('app')}\\b`),
    });
    bench.wire.add(look.rule);
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(['apply', '--yes'], options, async ({ signals, sees }) => {
      await look.reached;
      signals('SIGINT');
      await sees(/interrupted/);
      look.release();
    });
    expect(code, out).toBe(130);
    expect(out).toContain('interrupted before it was started');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('while nothing but the proof is left ends at once, with everything applied', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const afterWrite = holding({ method: 'GET', path: /include=/ });
    bench.wire.add({
      ...stuckCreate,
      fault: { first: async () => bench.wire.add(afterWrite.rule) },
    });
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(['apply', '--yes'], options, async ({ signals }) => {
      await afterWrite.reached;
      signals('SIGINT');
    });
    afterWrite.release();
    expect(code, out).toBe(130);
    expect(out).toContain('1 applied');
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/app']);
    await stack.run(['plan', '--exit-code'], 0);
  });
});
