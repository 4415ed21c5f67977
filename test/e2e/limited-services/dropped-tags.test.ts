/**
 * A service that answers requests for tag bindings, and drops those that are written. Only an ownership tag that is read back proves
 * that the service keeps ownership tags.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { RequestHandler } from '../../support/cli/faulty-proxy.ts';
import { droppingTags, lacking } from '../../support/simulation/limited-service.ts';

const filterless = lacking('tag-filter');

const droppingWithoutFilter: RequestHandler = (request, pass) =>
  filterless(
    request,
    async (path = request.path, text = request.text) =>
      (await droppingTags({ ...request, path, text }, (_, body = text) => pass(path, body))) ??
      pass(path, text),
  );

const creates = (written: readonly string[]) => written.filter((one) => one.startsWith('POST'));

describe('A service that silently drops ownership tags', () => {
  it.each([
    ['with a workspace of somebody else', droppingTags, true],
    ['in an empty organization', droppingTags, false],
    ['without an include and a filter', droppingWithoutFilter, false],
  ])('%s is detected by the first create, and the next apply creates nothing', async (_, handler, isUsed) => {
    const bench = await openBench();
    bench.wire.setHandler(handler);
    const stack = await bench.checkout();
    if (isUsed) await bench.byHand.create({ name: 'somebody-elses' });
    await stack.declare(workspace('app'), workspace('web'), workspace('zoo'));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'set "ownership: ledger" for the target, remove declared tags',
    );
    expect(creates(bench.written())).toHaveLength(1);
    const again = await stack.run(['apply', '--yes'], 7);
    expect(again.out).toContain('fix: set "ownership: ledger" for the target');
    expect(creates(bench.written())).toHaveLength(1);
    const ledger = await stack.reconfigure({ workspaces: { ownership: 'ledger' } });
    await ledger.run(['apply', '--yes'], 0);
    await ledger.run(['plan', '--exit-code'], 0);
    expect(creates(bench.written())).toHaveLength(3);
  });

  it.each([
    ['neutral', { tags: { env: 'prod' } }],
    ['hcp-terraform', {}],
    ['hcp-terraform', { remoteStateConsumers: ['base'] }],
  ])(
    'in %s is detected by the first adoption, and workspaces without the tag are not written: %j',
    async (dialect, more) => {
      const bench = await openBench({ dialects: [dialect] });
      bench.wire.setHandler(droppingTags);
      for (const name of ['app', 'web', 'base']) await bench.byHand.create({ name, description: 'theirs' });
      const stack = await bench.checkout({ workspaces: { dialect } });
      const taken = { description: 'ours', ...more };
      await stack.declare(...['app', 'web'].map((name) => workspace(name, taken, { adopt: true })));
      const { out } = await stack.run(['apply', '--yes'], 6);
      expect(out.replace(/\s+/g, ' ')).toContain('the service did not keep its ownership tag');
      expect(bench.written()).toHaveLength(1);
    },
  );

  it('is not assumed after a refused create: the others are created', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({
      method: 'POST',
      path: /\/workspaces$/,
      body: /"app"/,
      fault: { answer: 403, body: { errors: [{ status: '403', title: 'forbidden' }] } },
    });
    await stack.declare(workspace('app'), workspace('web'), workspace('zoo'));
    await stack.run(['apply', '--yes'], 6);
    expect([await bench.idsOf('web'), await bench.idsOf('zoo')].flat()).toHaveLength(2);
  });
});
