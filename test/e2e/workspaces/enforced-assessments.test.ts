/** Health assessments that an organization enforces: what a manifest says of them can never be seen to hold, and the plan says so. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const asked = /\/organizations\/acme$/;
const staysOn = 'the organization enforces health assessments: assessmentsEnabled stays true';

async function openEnforcing() {
  const bench = await openBench({ organization: { 'assessments-enforced': true } });
  const stack = await bench.checkout();
  return { bench, stack, askings: () => bench.wire.seen.filter(({ path }) => asked.test(path)).length };
}

describe('an organization that enforces health assessments', () => {
  it.each([[false], [null]])(
    'is no failing apply for ever for %j: the plan notes it, and nothing is sent',
    async (value) => {
      const { bench, stack, askings } = await openEnforcing();
      const spec = { assessmentsEnabled: value };
      await stack.begin(workspace('app', spec), workspace('web', spec));
      const { out } = await stack.run(['plan', '--exit-code'], 0);
      expect(out.replace(/\s+/g, ' ').split(staysOn)).toHaveLength(3);
      expect(askings(), 'once a plan').toBe(1);
      await stack.run(['apply', '--yes'], 0);
      expect(bench.wire.writes()).toEqual([]);
    },
  );

  it('is predicted of a workspace that is to be created: one question for all of them', async () => {
    const { stack, askings } = await openEnforcing();
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
    expect(askings()).toBe(1);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('gets what the manifest says along with every other change, for the day when it does not any more', async () => {
    const { bench, stack } = await openEnforcing();
    await stack.begin(workspace('app', { assessmentsEnabled: false, tags: { team: 'net' } }));
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

  it('leaves nothing to reset once they are no longer declared', async () => {
    const { bench, stack } = await openEnforcing();
    await stack.begin(workspace('app', { assessmentsEnabled: true }));
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(staysOn);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is asked only where it is there against a manifest', async () => {
    const { stack, askings } = await openEnforcing();
    await stack.begin(workspace('app', { assessmentsEnabled: true }), workspace('web', { autoApply: true }));
    await stack.run(['plan', '--exit-code'], 0);
    expect(askings()).toBe(0);
  });

  it.each([403, 404])(
    'but answers %i when it is asked leaves it to what is answered: exit 6',
    async (answer) => {
      const { bench, stack } = await openEnforcing();
      await stack.declare(workspace('app', { assessmentsEnabled: true }));
      await stack.run(['apply', '--yes'], 0);
      bench.wire.add({ method: 'GET', path: asked, times: 1000, fault: { answer } });
      await stack.declare(workspace('app', { assessmentsEnabled: false }));
      const { out } = await stack.run(['apply', '--yes'], 6);
      expect(out).toContain('assessmentsEnabled: the service did not reset it and returned the old value');
    },
  );
});

it('An organization that enforces nothing lets them be turned off', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(workspace('app', { assessmentsEnabled: true }));
  await stack.declare(workspace('app', { assessmentsEnabled: false }));
  await stack.run(['apply', '--yes'], 0);
  expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
    'assessments-enabled': false,
  });
});
