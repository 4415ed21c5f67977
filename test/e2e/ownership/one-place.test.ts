/** Two targets of a stack with the same address would undo each other's changes: such a stack is invalid. */
import { expect, it } from 'vitest';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role } from '../../support/cli/documents.ts';

/** A stack whose targets `prod` and `again` are one mount, each with these names. */
async function twoTargets(owns: { readonly prod?: string[]; readonly again?: string[] }): Promise<{
  readonly bench: Awaited<ReturnType<typeof openBench>>;
  readonly stack: Checkout;
}> {
  const bench = await openBench();
  const token = { env: 'SERVICE_TOKEN' };
  const mount = { service: 'cluster-auth', mount: 'cluster', token, dialect: 'neutral' };
  const targets = [
    { name: 'prod', ...mount, url: bench.wire.url, ...(owns.prod && { owns: owns.prod }) },
    { name: 'again', ...mount, url: `${bench.wire.url}/`, ...(owns.again && { owns: owns.again }) },
  ];
  return { bench, stack: await bench.checkout({ spec: { targets } }) };
}

const config = clusterAuthConfig();
const configFor = (target: string) => ({ ...config, metadata: { ...config.metadata, target } });
const web = role('a-web', {}, { target: 'prod' });
const worker = role('b-worker', {}, { target: 'again' });

it('two targets with the same mount are refused before anything is read, with both lines', async () => {
  const { bench, stack } = await twoTargets({ again: ['b-*'] });
  await stack.declare(web, worker);
  for (const command of ['validate', 'plan']) {
    const { err } = await stack.run([command], 7);
    expect(err).toContain('targets "prod" and "again" are the same place: cluster-auth auth/cluster at ');
    expect(err.match(/trueup\.yaml:1:\d+/g)).toHaveLength(2);
  }
  expect(bench.wire.seen).toEqual([]);
});

it('two targets may share a mount if they own different names, and neither changes those of the other', async () => {
  const { bench, stack } = await twoTargets({ prod: ['a-*'], again: ['b-*'] });
  await stack.setUp(configFor('prod'), web, worker);
  await stack.run(['plan', '--exit-code'], 0);
  await stack.declare(configFor('prod'), web, worker, role('b-worker-2', {}, { target: 'again' }));
  await stack.run(['apply', '--yes'], 0);
  expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/b-worker-2']);
});

it('the config of a mount can be declared for only one of the targets that share it', async () => {
  const { stack } = await twoTargets({ prod: ['a-*'], again: ['b-*'] });
  await stack.declare(configFor('prod'), web, configFor('again'));
  const { err } = await stack.run(['validate'], 7);
  expect(err).toContain(
    'ClusterAuthConfig "config" is declared for the targets "prod" and "again", which are the same place',
  );
  expect(err.match(/manifests\/all\.yaml:\d+:\d+/g)).toHaveLength(2);
});
