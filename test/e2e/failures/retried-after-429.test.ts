/** A service may answer 429 although it carried out the request: the next attempt then finds the result of the first one. */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const creates = /organizations\/acme\/workspaces$/;

async function begun(...documents: readonly object[]) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(...documents);
  return { bench, stack };
}

describe('a request that is answered with 429', () => {
  /** Answers the first request with 429, after the service has carried it out. */
  function throttle(bench: Bench, path: RegExp) {
    let isFirst = true;
    bench.wire.setHandler(async (request, pass) => {
      const answer = await pass();
      if (request.method !== 'POST' || !path.test(request.path) || !isFirst) return answer;
      isFirst = false;
      return fakeAnswer({ answer: 429, headers: { 'retry-after': '0' } });
    });
  }

  it('is not repeated for a create that was carried out: the workspace is found, and the apply continues', async () => {
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

  it('is repeated for a lock that was carried out: it counts as ours, and a later apply removes it', async () => {
    const { bench, stack } = await begun(workspace('app'));
    await stack.declare(workspace('app', { lock: { reason: 'frozen' } }));
    throttle(bench, /actions\/lock$/);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { lock: null }));
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/unlock']);
  });

  it('fails if somebody else created the workspace, and says that it is not ours', async () => {
    const { bench, stack } = await begun(workspace('stays'));
    await stack.declare(workspace('stays'), workspace('app'));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      if (method !== 'POST' || !creates.test(path)) return pass();
      bench.wire.setHandler(undefined);
      await bench.byHand.created({ name: 'app' });
      return fakeAnswer({ answer: 429, headers: { 'retry-after': '0' } });
    });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('answered 429');
    expect(out).toContain('"Workspace/acme/app" exists, and does not belong to this stack');
  });
});
