/** What an apply does when a person or a CI job stops it, once or twice. Runs a real process against a slow service. */
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { fakeAnswer, type Rule } from '../../support/cli/faulty-proxy.ts';
import { holdRequest } from '../../support/cli/held-request.ts';
import { type ProcessObserver, type Exited, startTrueup, trueupProcess } from '../../support/cli/process.ts';

const stuckCreate = { method: 'POST', path: /\/organizations\/acme\/workspaces$/ };

async function interruptedTwice(bench: Bench, stack: Checkout, rule: Omit<Rule, 'fault'>): Promise<Exited> {
  const stuck = holdRequest(rule);
  bench.wire.add(stuck.rule);
  const act = async ({ sendSignal, waitForText }: ProcessObserver) => {
    await stuck.reached;
    sendSignal('SIGINT');
    await waitForText(/interrupted: any write that was sent is waited for/);
    sendSignal('SIGTERM');
  };
  const exited = await trueupProcess(['apply', '--yes'], { cwd: stack.directory, env: secrets }, act);
  stuck.release();
  return exited;
}

function lockOf({ directory }: Checkout) {
  return localLedger(`${directory}/.trueup/payments.ledger.json`, 'payments').readLock();
}

describe('a signal during the last write', () => {
  it('ends the apply with the message that no plan has verified it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const stuck = holdRequest({ method: 'PATCH', path: /\/workspaces\/ws-/ });
    bench.wire.add(stuck.rule);
    const act = async ({ sendSignal, waitForText }: ProcessObserver) => {
      await stuck.reached;
      sendSignal('SIGINT');
      await waitForText(/interrupted: any write that was sent is waited for/);
      stuck.release();
    };
    const options = { cwd: stack.directory, env: secrets };
    const { code, out, err } = await trueupProcess(['apply', '--yes'], options, act);
    expect(code, out + err).toBe(130);
    expect(out).toContain('1 applied');
    expect(err).toContain('all changes were carried out, but no plan was made to verify them: interrupted');
  });
});

describe('a second signal', () => {
  it('abandons writes in flight as unknown, starts nothing, writes the ledger, and releases the lock', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web', { remoteStateConsumers: ['app'] }), role('api'));
    const { code, out, err } = await interruptedTwice(bench, stack, stuckCreate);
    expect(code, out + err).toBe(130);
    expect(err).toContain('interrupted again: writes in flight are abandoned');
    expect(out).toMatch(/unknown +\+ Workspace\/acme\/app/);
    expect(out).toMatch(/skipped +\+ RemoteStateConsumers\/acme\/web/);
    expect(out).not.toMatch(/^failed|\d failed/m);
    expect(out).toMatch(/\d changes? may have been made/);
    expect(out).not.toContain('Nothing changed');
    expect(Object.keys((await stack.ledger()).records)).not.toContain('Workspace/acme/app');
    expect(await lockOf(stack)).toBeUndefined();
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('reports a change as not sent if only the last read before its write was in flight', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const { code, out } = await interruptedTwice(bench, stack, {
      method: 'GET',
      path: new RegExp(`/workspaces/${await bench.idOf('app')}\\b`),
    });
    expect(code, out).toBe(130);
    expect(out).toContain('not sent: the run was stopped');
    expect(out).toContain('1 skipped');
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('a first signal', () => {
  it('during the last read before a write stops the write, and does not wait for an answer', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const heldRead = holdRequest({
      method: 'GET',
      path: new RegExp(`/workspaces/${await bench.idOf('app')}\\b`),
    });
    bench.wire.add(heldRead.rule);
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(
      ['apply', '--yes'],
      options,
      async ({ sendSignal, waitForText }) => {
        await heldRead.reached;
        sendSignal('SIGINT');
        await waitForText(/interrupted/);
      },
    );
    heldRead.release();
    expect(code, out).toBe(130);
    expect(out).toContain('not sent: the run was stopped');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('during the plan after an apply ends the run at once, with everything applied', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const afterWrite = holdRequest({ method: 'GET', path: /include=/ });
    bench.wire.add({
      ...stuckCreate,
      fault: { first: async () => bench.wire.add(afterWrite.rule) },
    });
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(['apply', '--yes'], options, async ({ sendSignal }) => {
      await afterWrite.reached;
      sendSignal('SIGINT');
    });
    afterWrite.release();
    expect(code, out).toBe(130);
    expect(out).toContain('1 applied');
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/app']);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('a change in a run that is stopped', () => {
  const stopped = 'not sent: the run was stopped';

  it('is not sent again after the wait that a 429 asked for', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('web'));
    const before = (await stack.ledger()).records;
    await stack.declare(workspace('app', { autoApply: true }), workspace('web', { autoApply: true }));
    const [app, web] = [await bench.idOf('app'), await bench.idOf('web')];
    const heldRead = holdRequest({ method: 'GET', path: new RegExp(`/workspaces/${web}\\b`) });
    const headers = { 'retry-after': '6' };
    const refusal = { method: 'PATCH', path: new RegExp(app), fault: { answer: 429, headers } };
    bench.wire.add(heldRead.rule, refusal);
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(
      ['apply', '--yes'],
      options,
      async ({ sendSignal, waitForText }) => {
        await heldRead.reached;
        await waitForText(/it answered 429 to PATCH/);
        heldRead.release();
        sendSignal('SIGINT');
      },
    );
    expect(code, out).toBe(130);
    expect(out).toContain('2 skipped');
    expect(out).toContain(stopped);
    expect(bench.wire.writes()).toMatchObject([{ status: 429 }]);
    expect((await stack.ledger()).records).toEqual(before);
    const [newest] = JSON.parse((await stack.run(['history', '--format', 'json'], 0)).out).entries;
    expect((await stack.run(['history', 'show', newest.id], 0)).out).toContain(stopped);
    await stack.run(['apply', '--yes'], 0);
  });

  it('sends no further calls, and its record contains what was done', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    await stack.declare(workspace('stays'), workspace('app', { lock: { reason: 'frozen' } }));
    const create = holdRequest(stuckCreate);
    bench.wire.add(create.rule);
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(
      ['apply', '--yes'],
      options,
      async ({ sendSignal, waitForText }) => {
        await create.reached;
        sendSignal('SIGINT');
        await waitForText(/interrupted/);
        create.release();
      },
    );
    expect(code, out).toBe(130);
    expect(out).toContain(stopped);
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({ origin: 'created' });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written().slice(1)).toEqual(['POST /api/v2/workspaces/ws-…/actions/lock']);
  });

  it('is not sent again after a 503 when the time of the run is over', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const answered = Promise.withResolvers<void>();
    bench.wire.setHandler(async ({ method }, pass) => {
      if (method !== 'PATCH') return pass();
      await answered.promise;
      return fakeAnswer({ answer: 503 });
    });
    const where = { cwd: stack.directory, env: secrets };
    const running = startTrueup(['apply', '--yes', '--timeout', '2s'], where);
    await running.waitForText(/this run has reached its timeout of 2s.*nothing new is started/);
    answered.resolve();
    const { code, out } = await running.ended;
    expect(code, out).toBe(1);
    expect(out).toMatch(/failed +~ Workspace\/acme\/app/);
    expect(out).toContain('answered 503');
    expect(bench.wire.writes()).toMatchObject([{ status: 503 }]);
  });
});

describe('a create whose answer is lost while the run is stopped', () => {
  async function lostCreate(isCarriedOut: boolean) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const [reached, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    bench.wire.setHandler(async ({ method }, pass) => {
      if (method !== 'POST') return pass();
      reached.resolve();
      await answered.promise;
      if (isCarriedOut) await pass();
      return undefined;
    });
    const options = { cwd: stack.directory, env: secrets };
    const exited = await trueupProcess(['apply', '--yes'], options, async ({ sendSignal, waitForText }) => {
      await reached.promise;
      sendSignal('SIGINT');
      await waitForText(/interrupted/);
      answered.resolve();
    });
    bench.wire.setHandler(undefined);
    expect(exited.code, exited.out).toBe(130);
    expect(bench.wire.writes()).toHaveLength(1);
    return { bench, stack, out: exited.out };
  }

  it('is looked up and not sent again, and the outcome says so', async () => {
    const { bench, stack, out } = await lostCreate(false);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'looked up by name afterwards: it does not exist; not sent again: the run was stopped',
    );
    expect((await stack.ledger()).records).toEqual({});
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('is looked up, found, and recorded in the ledger', async () => {
    const { bench, stack, out } = await lostCreate(true);
    expect(out).toContain('1 applied');
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({
      id: await bench.idOf('app'),
      origin: 'created',
    });
  });
});

it('an interrupted apply is reported in JSON with a code, and with what was done by then', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.declare(workspace('app'), workspace('web'));
  const stuck = holdRequest(stuckCreate);
  bench.wire.add(stuck.rule);
  const { code, out } = await trueupProcess(
    ['apply', '--yes', '--format', 'json'],
    { cwd: stack.directory, env: secrets },
    async ({ sendSignal, waitForText }) => {
      await stuck.reached;
      sendSignal('SIGINT');
      await waitForText(/nothing new is started/);
      stuck.release();
    },
  );
  expect(code, out).toBe(130);
  expect(JSON.parse(out).diagnostics).toMatchObject([
    { code: 'interrupted', message: expect.stringMatching(/carried out.*: interrupted$/) },
  ]);
});
