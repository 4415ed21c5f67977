/** Health assessments that an organization enforces: they stay on, whatever the manifest declares, and the plan says so. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const asked = /\/organizations\/acme$/;
const staysOn = 'the organization enforces health assessments: assessmentsEnabled stays true';

async function openEnforcing() {
  const bench = await openBench({ organization: { 'assessments-enforced': true } });
  const stack = await bench.checkout();
  return {
    bench,
    stack,
    organizationReads: () => bench.wire.seen.filter(({ path }) => asked.test(path)).length,
  };
}

describe('An organization that enforces health assessments', () => {
  it.each([[false], [null]])(
    'does not make an apply of %j fail: the plan has a note, and nothing is sent',
    async (value) => {
      const { bench, stack, organizationReads } = await openEnforcing();
      const spec = { assessmentsEnabled: value };
      await stack.setUp(workspace('app', spec), workspace('web', spec));
      const { out } = await stack.run(['plan', '--exit-code'], 0);
      expect(out.replace(/\s+/g, ' ').split(staysOn)).toHaveLength(3);
      expect(organizationReads(), 'once a plan').toBe(1);
      await stack.run(['apply', '--yes'], 0);
      expect(bench.wire.writes()).toEqual([]);
    },
  );

  it('is predicted for new workspaces, with one request for all of them', async () => {
    const { stack, organizationReads } = await openEnforcing();
    await stack.declare(
      workspace('app', { assessmentsEnabled: false }),
      workspace('web', { assessmentsEnabled: null }),
      workspace('on', { assessmentsEnabled: true }),
    );
    const { changes } = await stack.plan();
    expect(changes.map(({ address, notes }) => [address, notes])).toEqual([
      ['Workspace/acme/app', [staysOn]],
      ['Workspace/acme/on', []],
      ['Workspace/acme/web', [staysOn]],
    ]);
    expect(organizationReads()).toBe(1);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('gets the declared value with each other change, in case it stops enforcing them', async () => {
    const { bench, stack } = await openEnforcing();
    await stack.setUp(workspace('app', { assessmentsEnabled: false, tags: { team: 'net' } }));
    await stack.declare(
      workspace('app', { assessmentsEnabled: false, autoApply: true, tags: { env: 'prod' } }),
    );
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain(staysOn);
    const sent = bench.wire.writes().map(({ text }) => JSON.parse(text).data.attributes);
    expect(sent).toEqual([
      { 'assessments-enabled': false, 'auto-apply': true },
      { 'assessments-enabled': false },
    ]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('leaves nothing to reset when they are no longer declared', async () => {
    const { bench, stack } = await openEnforcing();
    await stack.setUp(workspace('app', { assessmentsEnabled: true }));
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(staysOn);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is read only if the live value differs from the manifest', async () => {
    const { stack, organizationReads } = await openEnforcing();
    await stack.setUp(workspace('app', { assessmentsEnabled: true }), workspace('web', { autoApply: true }));
    await stack.run(['plan', '--exit-code'], 0);
    expect(organizationReads()).toBe(0);
  });

  it.each([403, 404])('but answers %i to the read makes the apply exit with 6', async (answer) => {
    const { bench, stack } = await openEnforcing();
    await stack.declare(workspace('app', { assessmentsEnabled: true }));
    await stack.run(['apply', '--yes'], 0);
    bench.wire.add({ method: 'GET', path: asked, times: 1000, fault: { answer } });
    await stack.declare(workspace('app', { assessmentsEnabled: false }));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('assessmentsEnabled: the service did not reset it and returned the old value');
  });
});

it('An organization that does not enforce health assessments lets them be turned off', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { assessmentsEnabled: true }));
  await stack.declare(workspace('app', { assessmentsEnabled: false }));
  await stack.run(['apply', '--yes'], 0);
  expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
    'assessments-enabled': false,
  });
});
