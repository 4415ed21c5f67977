/** Writes that were carried out although their answers were lost: later reads show what happened. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { isRead, fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const anchor = role('anchor');
const shared = role('shared');
const oneLine = (out: string) => out.replace(/\s+/g, ' ');

/** The service carries out the requests, but their answers are lost, or replaced by `status`. */
function loseAnswers(bench: Bench, method: string, path: RegExp, status?: number): void {
  bench.wire.setHandler(async (request, pass) => {
    const answer = await pass();
    if (request.method !== method || !path.test(request.path)) return answer;
    return status === undefined ? undefined : fakeAnswer({ answer: status });
  });
}

const originOf = async (stack: Checkout) =>
  (await stack.ledger()).records['ClusterAuthRole/prod/shared']?.origin;

describe('a role whose creation was carried out', () => {
  /** The role is ours: nothing is left to do, and later it is deleted. */
  async function expectOurs(bench: Bench, stack: Checkout) {
    expect(await originOf(stack)).toBe('created');
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(anchor);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/shared']);
  }

  async function begun() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor);
    await stack.declare(anchor, shared);
    return { bench, stack };
  }

  it.each([
    ['and whose answer was lost', undefined],
    ['and answered with 504', 504],
  ])(
    '%s is found at the next attempt, and adopted, because somebody else may have created it',
    async (_, status) => {
      const { bench, stack } = await begun();
      loseAnswers(bench, 'POST', /role\/shared$/, status);
      const { out } = await stack.run(['apply', '--yes'], 0);
      bench.wire.setHandler(undefined);
      expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/shared']);
      expect(oneLine(out)).toContain('recorded as adopted, because it may have been created by another user');
      expect(await originOf(stack)).toBe('adopted');
      await stack.run(['plan', '--exit-code'], 0);
    },
  );

  it('is recorded as created by the next apply if nothing could be read before', async () => {
    const { bench, stack } = await begun();
    let isLost = false;
    bench.wire.setHandler(async (request, pass) => {
      if (!request.path.startsWith('/v1/')) return pass();
      if (isLost && isRead(request)) return fakeAnswer({ answer: 403, body: { errors: ['not now'] } });
      const answer = await pass();
      if (isRead(request)) return answer;
      isLost = true;
      return undefined;
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain('1 unknown');
    expect(out).not.toContain('all the same');
    expect(await originOf(stack)).toBeUndefined();
    expect((await stack.plan()).changes).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    await expectOurs(bench, stack);
  });

  it('and that somebody changed since is not recorded, and the next plan adopts it', async () => {
    const { bench, stack } = await begun();
    bench.wire.setHandler(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method !== 'POST' || !path.endsWith('role/shared')) return answer;
      await bench.byHandMount('POST', 'role/shared', { token_ttl: 60 });
      return undefined;
    });
    await stack.run(['apply', '--yes'], 1);
    bench.wire.setHandler(undefined);
    expect(await originOf(stack)).toBeUndefined();
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt' }]);
  });
});

describe('an update that was answered with a 500', () => {
  async function updated(isCarriedOut: boolean) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    bench.wire.setHandler(async ({ method }, pass) => {
      if (method !== 'PATCH') return pass();
      if (isCarriedOut) await pass();
      return fakeAnswer({ answer: 500 });
    });
    return { bench, stack };
  }

  it('and was carried out is seen at the next attempt, and not sent again', async () => {
    const { bench, stack } = await updated(true);
    const { out } = await stack.run(['apply', '--yes', '--format', 'json'], 0);
    bench.wire.setHandler(undefined);
    expect(JSON.parse(out)).toMatchObject({ outcomes: [{ outcome: 'applied' }] });
    expect(bench.wire.writes()).toHaveLength(1);
    expect((await stack.ledger()).records['Workspace/acme/app']?.fields).toMatchObject({ autoApply: true });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('and was not carried out is reported as failed', async () => {
    const { stack } = await updated(false);
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('1 failed');
    expect(out).not.toContain('all the same');
  });
});
