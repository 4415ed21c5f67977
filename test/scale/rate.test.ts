/** The rate of requests: waits are observed at the clock of the transport, so that the speed of the machine does not matter. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/api/transport/clock.ts';
import { openBench, secrets } from '../support/cli/bench.ts';
import { role, workspace } from '../support/cli/documents.ts';
import { fakeAnswer } from '../support/cli/faulty-proxy.ts';
import { smallSeed, startService } from '../support/rig/embedded-service.ts';
import { stackIn, workspacesTarget } from '../support/rig/stack-folder.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';
import { names } from '../support/scale/counted-stack.ts';

/** The default rate, which the stack does not set. */
const byDefault = { requestsPerSecond: undefined };

/** A stack whose roles all exist in the mount, at the default rate. */
async function stackWithRoles(count: number) {
  const bench = await openBench();
  const stack = await bench.checkout({ clusterAuth: byDefault });
  const all = names('role', count);
  const body = { bound_service_account_names: 'app', bound_service_account_namespaces: 'payments' };
  for (const name of all) await bench.byHandMount('POST', `role/${name}`, body);
  await stack.declare(...all.map((name) => role(name)));
  const waits = vi.spyOn(systemClock, 'wait');
  onTestFinished(() => waits.mockRestore());
  return { bench, stack, waits };
}

it('A plan of a thousand roles reads each once, and no read waits at 30 requests a second', async () => {
  const { bench, stack, waits } = await stackWithRoles(1000);
  await stack.run(['plan'], 0);
  const reads = bench.wire.seen.filter(({ path }) => /\/role\/role-/.test(path));
  expect(reads).toHaveLength(1000);
  expect(waits).not.toHaveBeenCalled();
});

it('A plan of many roles reads them at a limited rate after the service refused a request', async () => {
  const { bench, stack, waits } = await stackWithRoles(60);
  let reads = 0;
  bench.wire.setHandler(async ({ path }, pass) => {
    if (!/\/role\/role-/.test(path)) return pass();
    reads += 1;
    return reads === 20 ? fakeAnswer({ answer: 429, headers: { 'retry-after': '0' } }) : pass();
  });
  await stack.run(['plan'], 0);
  expect(reads).toBe(61);
  expect(waits.mock.calls.length).toBeGreaterThan(10);
});

it('A service that announces its limit refuses no request of an apply and its verification', async () => {
  const seed = smallSeed({ owners: { ci: secrets.API_TOKEN } });
  const service = await startService({ seed, rateLimit: 20 });
  onTestFinished(() => service.close());
  const targets = [workspacesTarget(service.url, byDefault)];
  const stack = stackIn({ directory: temporaryFolder(), stack: { targets }, env: secrets });
  await stack.declare(...names('ws', 50).map((name) => workspace(name, { tags: { env: 'prod' } })));
  await stack.run(['apply', '--yes'], 0);
  const statuses = service.requests.map(({ status }) => status);
  expect(statuses.length).toBeGreaterThan(50);
  expect(statuses).not.toContain(429);
});
