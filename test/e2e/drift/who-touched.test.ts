// Who made the drift, as the audit trail tells it: users and teams by name, never a field, and never a guess (rule 50).
import { expect, it } from 'vitest';

import type { DriftJson } from '../../../src/report/drift/drift-schema.ts';

import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const organizationToken = 'the-token-of-acme-itself';
const people = { bob: 'the-token-of-bob' };
const teams = [{ name: 'platform', token: 'the-token-of-platform', 'manage-workspaces': true }];

interface Scene {
  readonly bench: Bench;
  readonly stack: Checkout;
  /** somebody changes a workspace past trueup */
  change(token: string | undefined, name: string, attributes: object): Promise<void>;
  drift(code?: number): Promise<DriftJson>;
}

/** Applied, with a token for the trail. */
async function openScene(documents: readonly object[], target: object = {}): Promise<Scene> {
  const bench = await openBench({ people, organization: { token: organizationToken, teams } });
  const stack = await bench.checkout({ workspaces: { auditToken: { file: 'audit-token' }, ...target } });
  await stack.write('audit-token', organizationToken);
  await stack.begin(...documents);
  return {
    bench,
    stack,
    change: async (token, name, attributes) => {
      const client = token === undefined ? bench.byHand : bench.byHand.as(token);
      const body = { data: { type: 'workspaces', attributes } };
      const answer = await client.patch(`/workspaces/${await bench.idOf(name)}`, body);
      expect(answer.status).toBe(200);
    },
    drift: async (code = 3) =>
      JSON.parse((await stack.run(['drift', '--format', 'json'], code)).out) as DriftJson,
  };
}

const three = ['app', 'base', 'core'].map((name) => workspace(name, { autoApply: true }));

/** Who touched each drifted resource, newest first. */
function names({ drifted }: DriftJson): Record<string, string[] | undefined> {
  return Object.fromEntries(
    drifted.map(({ address, touched }) => [address, touched?.touches.map(({ actor }) => actor.name)]),
  );
}

it('Three tokens change three workspaces, and each drift is named rightly', async () => {
  const { stack, change, drift, bench } = await openScene(three);
  await change(undefined, 'app', { 'auto-apply': false });
  await change(people.bob, 'base', { 'auto-apply': false });
  await change('the-token-of-platform', 'core', { 'auto-apply': false });
  const found = await drift();
  const [ann, bob, platform] = ['app', 'base', 'core'].map((name) => names(found)[`Workspace/acme/${name}`]);
  expect([ann, bob]).toEqual([['ann'], ['bob']]);
  expect(platform).toHaveLength(1);
  expect(new Set([ann, bob, platform].flat()).size).toBe(3);
  const { out } = await stack.run(['drift'], 3);
  expect(out).toMatch(/autoApply {2}true -> false · .* · touched by user-\w+ \(bob\), workspace update/);
  expect(out).not.toMatch(/changed by|one of/);
  const plan = await stack.run(['plan'], 0);
  expect(plan.out).toMatch(/autoApply {2}false -> true · .* · touched by user-\w+ \(bob\), workspace update/);
  expect(bench.wire.writes()).toEqual([]);
});

it('Two who touched it in the window are both named, as one of them', async () => {
  const { stack, change, drift } = await openScene(three);
  await change(people.bob, 'app', { description: 'not managed' });
  await change(undefined, 'app', { 'auto-apply': false });
  expect(names(await drift())).toEqual({ 'Workspace/acme/app': ['ann', 'bob'] });
  const { out } = await stack.run(['drift'], 3);
  expect(out).toMatch(/touched by one of\n.*\(ann\), workspace update\n.*\(bob\), workspace update/);
});
