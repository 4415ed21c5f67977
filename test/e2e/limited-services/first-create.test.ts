/**
 * An empty organization does not show what its service keeps, so the first create is read back before the others
 * are sent.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { droppingTags, lacking } from '../../support/simulation/limited-service.ts';

const byLedger = { ownership: 'ledger' };
const flat = (text: string) => text.replace(/\s+/g, ' ');
const creates = (written: readonly string[]) =>
  written.filter((one) => one === 'POST /api/v2/organizations/acme/workspaces');

describe('An empty organization of a service without remote state consumers', () => {
  it('shows this after the first create: no more are sent, and the report says what to do', async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('consumers'));
    const stack = await bench.checkout();
    await stack.declare(
      workspace('app', { remoteStateConsumers: ['web'] }),
      workspace('web', { remoteStateConsumers: ['app'] }),
      workspace('zoo'),
    );
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(flat(out)).toContain('its RemoteStateConsumers cannot be read back');
    expect(flat(out)).toContain('remove every RemoteStateConsumers of this target from the manifests');
    expect(flat(out)).toContain('not sent: no read has shown that the service keeps RemoteStateConsumers');
    expect(creates(bench.written())).toHaveLength(1);

    const { err, out: again } = await stack.run(['apply', '--yes'], 7);
    expect(again + err).toContain('the service has no remote state consumers');

    await stack.declare(workspace('app'), workspace('web'), workspace('zoo'));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect(creates(bench.written())).toHaveLength(3);
  });

  it('is not checked if no consumers are declared', async () => {
    const bench = await openBench();
    bench.wire.setHandler(lacking('consumers'));
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
  });
});

describe('An empty organization with "ownership: ledger", of a service that drops tags', () => {
  it.each([
    ['silently', droppingTags],
    ['because it has none', lacking('tag-bindings')],
  ])(
    'shows this after the first create with tags, %s, and no other with tags is sent',
    async (_, handler) => {
      const bench = await openBench();
      bench.wire.setHandler(handler);
      const stack = await bench.checkout({ workspaces: byLedger });
      await stack.declare(
        workspace('app', { tags: { env: 'prod' } }),
        workspace('web', { tags: { env: 'prod' } }),
        workspace('zoo'),
      );
      const { out } = await stack.run(['apply', '--yes'], 6);
      expect(flat(out)).toMatch(/it was created, but (the service did not keep its|its) TagBindings/);
      expect(flat(out)).toContain('remove every TagBindings of this target from the manifests');
      // One with tags, and the one that has none.
      expect(creates(bench.written())).toHaveLength(2);

      await stack.declare(workspace('app'), workspace('web'), workspace('zoo'));
      await stack.run(['apply', '--yes'], 0);
      await stack.run(['plan', '--exit-code'], 0);
      expect(creates(bench.written())).toHaveLength(3);
    },
  );
});

describe('An empty organization of a service that lacks nothing', () => {
  it('gets all declared resources in one apply', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: byLedger });
    await stack.declare(
      workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['web'] }),
      workspace('web', { tags: { env: 'prod' }, remoteStateConsumers: ['app'] }),
    );
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});
