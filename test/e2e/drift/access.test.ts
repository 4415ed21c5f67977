// The access section of a drift report: who may log in and who may read a state in the live services.
import { expect, it } from 'vitest';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

async function accessOf(stack: Checkout, code: number): Promise<DriftJson['access']> {
  return (JSON.parse((await stack.run(['drift', '--format', 'json'], code)).out) as DriftJson).access;
}

it('A drift report lists who may log in and who may read a state in the live services', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(
    role('web', {
      boundServiceAccountNames: ['web', 'ci-*'],
      boundServiceAccountNamespaces: ['payments'],
      audience: 'payments',
      tokenPolicies: ['payments-read'],
    }),
    role('wide', {
      boundServiceAccountNames: ['one'],
      boundServiceAccountNamespaces: ['team-*'],
      boundServiceAccountNamespaceSelector: '{"matchLabels":{"team":"payments"}}',
      tokenNoDefaultPolicy: true,
    }),
    workspace('network', { globalRemoteState: false, remoteStateConsumers: ['app'] }),
    workspace('app', { globalRemoteState: false }),
  );
  const access = await accessOf(stack, 0);
  const given = Object.fromEntries((access ?? []).map(({ name, login, state }) => [name, login ?? state]));
  expect(given).toEqual({
    web: {
      accounts: ['ci-*', 'web'],
      namespaces: ['payments'],
      audience: 'payments',
      policies: ['payments-read', 'default'],
    },
    wide: {
      accounts: ['one'],
      namespaces: ['team-*'],
      selector: '{"matchLabels":{"team":"payments"}}',
      audience: 'vault',
      policies: [],
    },
    network: { readers: ['app'] },
  });
  const id = await bench.idOf('app');
  await bench.byHand.patch(`/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { 'global-remote-state': true } },
  });
  expect((await accessOf(stack, 3))?.find(({ name }) => name === 'app')).toMatchObject({
    ...{ address: 'Workspace/acme/app', kind: 'Workspace', target: 'acme' },
    state: { readers: [], sharedWith: 'organization' },
  });
});

it('A drift report has no access section if the stack gives no access to others', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { globalRemoteState: false }));
  expect(await accessOf(stack, 0)).toBeUndefined();
});
