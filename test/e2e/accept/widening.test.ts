// Accepted values that widen access: every output says so, with address and field, in the words of a plan.
import { expect, it } from 'vitest';
import { role, workspace } from '../../support/cli/documents.ts';
import { openBench } from '../../support/cli/bench.ts';

async function openDrifted() {
  const bench = await openBench();
  const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
  await stack.setUp(
    workspace('app', { globalRemoteState: false }),
    workspace('db', { remoteStateConsumers: ['app'] }),
    workspace('web', { autoApply: false }),
    role('web', {
      tokenPolicies: ['read'],
      tokenBoundCidrs: ['10.0.0.0/24'],
      tokenTtl: '1h',
      tokenNumUses: 5,
    }),
  );
  await bench.byHand.update(await bench.idOf('app'), { 'global-remote-state': true });
  const consumers = `/workspaces/${await bench.idOf('db')}/relationships/remote-state-consumers`;
  await bench.byHand.patch(consumers, {
    data: [{ type: 'workspaces', id: await bench.idOf('web') }],
  });
  await bench.byHand.update(await bench.idOf('web'), { 'auto-apply': true });
  await bench.byHandMount('POST', 'role/web', {
    token_policies: ['read', 'write'],
    token_bound_cidrs: ['10.0.0.0/8'],
    token_ttl: 7200,
    token_num_uses: 2,
  });
  return { bench, stack };
}

const tokens = 'tokens of "app" in "payments"';
const wider = [
  ['Workspace/acme/app', 'globalRemoteState', 'every workspace of the organization may read the state'],
  ['RemoteStateConsumers/acme/db', 'consumers', '"web" may read the state'],
  ['ClusterAuthRole/prod/web', 'tokenPolicies', '"app" in "payments" gains the policy "write"'],
  ['ClusterAuthRole/prod/web', 'tokenBoundCidrs', `${tokens} can be used from 10.0.0.0/8`],
  ['ClusterAuthRole/prod/web', 'tokenTtl', `tokenTtl of ${tokens} grows from 1h to 2h`],
] as const;
const linesOf = (out: string) => out.split('\n').filter((line) => line.includes('widens access'));

it('accept names each value that widens access, and none that narrows it', async () => {
  const { stack } = await openDrifted();
  const shown = await stack.run(['accept', '--all', '--dry-run'], 0);
  const lines = wider.map(([address, field, what]) => `widens access: ${address} ${field}: ${what}`);
  expect(linesOf(shown.out)).toEqual(lines);
  const one = await stack.run(['accept', 'ClusterAuthRole/prod/web', '--field', 'tokenTtl', '--dry-run'], 0);
  expect(linesOf(one.out)).toEqual([lines[4]]);
  const none = await stack.run(['accept', 'Workspace/acme/web', '--dry-run'], 0);
  expect(linesOf(none.out)).toEqual([]);
  const written = await stack.run(['accept', '--all', '--yes', '--format', 'json'], 0);
  const { widens } = JSON.parse(written.out) as { widens: Record<string, string>[] };
  expect(widens.map(({ address, path, message }) => [address, path, message])).toEqual(
    wider.map(([address, field, what]) => [address, `/${field}`, what]),
  );
  expect(widens.map(({ guard }) => guard)).toEqual(['global-sharing', ...Array(4).fill('widening')]);
  expect((await stack.plan()).changes).toEqual([]);
});

it('history show --revert names each value that widens access', async () => {
  const stack = await (await openBench()).checkout({ clusterAuth: { owns: ['*'] } });
  await stack.setUp(role('web', { tokenPolicies: ['read', 'write'] }));
  await stack.setUp(role('web', { tokenPolicies: ['read'] }));
  const { out } = await stack.run(['history', '--format', 'json'], 0);
  const [last] = JSON.parse(out).entries as { id: string }[];
  const ran = await stack.run(['history', 'show', last?.id ?? '', '--revert', '--write', '--yes'], 0);
  expect(linesOf(ran.out)).toEqual([
    'widens access: ClusterAuthRole/prod/web tokenPolicies: "app" in "payments" gains the policy "write"',
  ]);
});
