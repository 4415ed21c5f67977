/** 429 says that nothing was processed, and is not always true: what was sent again may find itself. */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { madeUp } from '../../support/cli/faulty-proxy.ts';

const creates = /organizations\/acme\/workspaces$/;

async function begun(...documents: readonly object[]) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(...documents);
  return { bench, stack };
}

describe('what was carried out, answered 429 and sent again', () => {
  /** The first answer only. */
  function throttle(bench: Bench, path: RegExp) {
    let isFirst = true;
    bench.wire.guardBy(async (request, pass) => {
      const answer = await pass();
      if (request.method !== 'POST' || !path.test(request.path) || !isFirst) return answer;
      isFirst = false;
      return madeUp({ answer: 429, headers: { 'retry-after': '0' } });
    });
  }

  it('is a create that is looked up before it is sent again: it is found, and goes on', async () => {
    const { bench, stack } = await begun(workspace('stays'));
    await stack.declare(workspace('stays'), workspace('app', { remoteStateConsumers: ['stays'] }));
    throttle(bench, creates);
    await stack.run(['apply', '--yes'], 0);
    expect(
      bench.wire
        .writes()
        .filter(({ path }) => creates.test(path))
        .map(({ status }) => status),
    ).toEqual([429]);
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({
      id: await bench.idOf('app'),
      origin: 'created',
    });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is a lock that finds itself: it is ours, and comes off again', async () => {
    const { bench, stack } = await begun(workspace('app'));
    await stack.declare(workspace('app', { lock: { reason: 'frozen' } }));
    throttle(bench, /actions\/lock$/);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { lock: null }));
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/unlock']);
  });

  it('stays failed where a stranger has the name, and says whose it is', async () => {
    const { bench, stack } = await begun(workspace('stays'));
    await stack.declare(workspace('stays'), workspace('app'));
    bench.wire.guardBy(async ({ method, path }, pass) => {
      if (method !== 'POST' || !creates.test(path)) return pass();
      bench.wire.guardBy(undefined);
      await bench.byHand.created({ name: 'app' });
      return madeUp({ answer: 429, headers: { 'retry-after': '0' } });
    });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('answered 429');
    expect(out).toContain('"Workspace/acme/app" exists, and does not belong to this stack');
  });
});
