/** A service that hides a resource once, by a 404 or in a list: a record is removed only after a plan has seen that the resource is gone. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { removalRequest, role, workspace } from '../../support/cli/documents.ts';
import { type Answer, fakeAnswer, type SeenRequest } from '../../support/cli/faulty-proxy.ts';

const notFound = fakeAnswer({ answer: 404, body: { errors: [] } });

/** Replaces the answer to one of the matching requests; `number` counts them from 1, and `answer` may act first. */
function answerOnce(
  asked: { readonly is: (request: SeenRequest) => boolean; readonly number: number },
  answer: (pass: () => Promise<Answer>) => Promise<Answer>,
) {
  let count = 0;
  return async (request: SeenRequest, pass: () => Promise<Answer>): Promise<Answer | undefined> => {
    if (!asked.is(request)) return undefined;
    count += 1;
    return count === asked.number ? answer(pass) : pass();
  };
}

type Answering = ReturnType<typeof answerOnce>;

function answerBy(bench: Bench, ...answering: Answering[]): void {
  bench.wire.setHandler(async (request, pass) => {
    for (const answer of answering) {
      const given = await answer(request, pass);
      if (given !== undefined) return given;
    }
    return pass();
  });
}

async function recordOf(stack: Checkout, address: string): Promise<unknown> {
  return (await stack.ledger()).records[address];
}

describe('a role to delete that the last read before the write does not find', () => {
  const old = 'ClusterAuthRole/prod/payments-old';
  const isRead = ({ method, path }: SeenRequest) => method === 'GET' && path.endsWith('/role/payments-old');
  const isListed = ({ method }: SeenRequest) => method === 'LIST';

  async function begun() {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    await stack.setUp(role('payments-api'), role('payments-old'));
    await stack.declare(role('payments-api'));
    return { bench, stack };
  }

  it('but that is still listed is not deleted: its record stays, and the next apply deletes it', async () => {
    const { bench, stack } = await begun();
    answerBy(
      bench,
      answerOnce({ is: isRead, number: 2 }, async () => notFound),
    );
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'role "payments-old" was not read: it is listed, also when listed again, but reading it returns "not found"',
    );
    expect(out).not.toContain('nothing is left to do');
    expect(bench.wire.writes()).toEqual([]);
    expect(await recordOf(stack, old)).toMatchObject({ origin: 'created' });
    bench.wire.setHandler(undefined);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/payments-old']);
    expect(await recordOf(stack, old)).toBeUndefined();
  });

  it('and that is not listed is found by the plan after the apply, and its record stays', async () => {
    const { bench, stack } = await begun();
    const without = async (pass: () => Promise<Answer>) => {
      const answer = await pass();
      return { ...answer, text: answer.text.replace('"payments-old"', '"payments-api"') };
    };
    answerBy(
      bench,
      answerOnce({ is: isRead, number: 2 }, async () => notFound),
      answerOnce({ is: isListed, number: 2 }, without),
    );
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toMatch(/unchanged +- ClusterAuthRole\/prod\/payments-old/);
    expect(out).toContain('1 resource did not converge');
    expect(await recordOf(stack, old)).toMatchObject({ origin: 'created' });
    bench.wire.setHandler(undefined);
    await stack.run(['apply', '--yes'], 0);
    await expect(bench.byHandMount('GET', 'role/payments-old')).rejects.toThrow('404');
  });

  it('because somebody deleted it is reported as unchanged, and its record is removed', async () => {
    const { bench, stack } = await begun();
    answerBy(
      bench,
      answerOnce({ is: isRead, number: 2 }, async (pass) => {
        await bench.byHandMount('DELETE', 'role/payments-old');
        return pass();
      }),
    );
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('1 unchanged');
    expect(await recordOf(stack, old)).toBeUndefined();
  });
});

describe('a role that one list of roles lacks', () => {
  const web = 'ClusterAuthRole/prod/web';
  const isListed = ({ method }: SeenRequest) => method === 'LIST';
  const isRead = ({ method, path }: SeenRequest) => method === 'GET' && path.endsWith('/role/web');

  const withoutWeb = async (pass: () => Promise<Answer>) => {
    const answer = await pass();
    const { data, ...rest } = JSON.parse(answer.text);
    const keys = data.keys.filter((key: string) => key !== 'web');
    return { ...answer, text: JSON.stringify({ ...rest, data: { keys } }) };
  };
  const empty = async () => notFound;

  async function begun(answer: (pass: () => Promise<Answer>) => Promise<Answer>) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(role('api'), role('web'));
    answerBy(bench, answerOnce({ is: isListed, number: 1 }, answer));
    return { bench, stack };
  }

  it.each([
    ['lacks its name', withoutWeb],
    ['says that there are no roles', empty],
  ])('because it %s keeps its record, and the next apply deletes it', async (_, answer) => {
    const { bench, stack } = await begun(answer);
    await stack.declare(role('api'));
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /the list of the roles of the mount "cluster" of target "prod" lacks ("api", )?"web", which (is|are) found by reading (it|them), so it may lack others/,
    );
    expect(out).not.toContain('No changes');
    expect(bench.wire.writes()).toEqual([]);
    expect(await recordOf(stack, web)).toMatchObject({ origin: 'created' });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/web']);
    expect(await recordOf(stack, web)).toBeUndefined();
  });

  it('is not created again if it is declared, and the plan is incomplete', async () => {
    const { stack } = await begun(withoutWeb);
    const { changes, coverage } = await stack.plan(1);
    expect(changes).toEqual([]);
    expect(coverage.complete).toBe(false);
    expect((await stack.plan(0)).coverage.complete).toBe(true);
  });

  it('is not reported as removed if a removal request names it, even without a record', async () => {
    const { bench } = await begun(withoutWeb);
    const other = await bench.checkout({ name: 'other' });
    await other.declare(role('own'), removalRequest('ClusterAuthRole', 'web', 'safe'));
    const { out } = await other.run(['apply', '--yes'], 9);
    expect(out).toContain('"ClusterAuthRole/prod/web" does not belong to this stack');
  });

  it('because somebody deleted it is read once more, and its record is removed', async () => {
    const { bench, stack } = await begun((pass) => pass());
    await bench.byHandMount('DELETE', 'role/web');
    await stack.declare(role('api'));
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.seen.filter(isRead)).toMatchObject([{ status: 404 }]);
    expect(await recordOf(stack, web)).toBeUndefined();
  });
});

describe('a workspace to delete or release that the last read before the write does not find', () => {
  async function answerNotFoundOnce(bench: Bench, name: string) {
    const path = `/workspaces/${await bench.idOf(name)}`;
    const is = (request: SeenRequest) => request.method === 'GET' && request.path.includes(`${path}?`);
    answerBy(
      bench,
      answerOnce({ is, number: 1 }, async () => notFound),
    );
  }

  it('but that is found by its name is not deleted: its record stays, and the next apply deletes it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old'));
    await stack.declare(workspace('app'));
    await answerNotFoundOnce(bench, 'old');
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'workspace "old" was not read: it is found by its name, but reading it by its id returns "not found"',
    );
    expect(bench.wire.writes()).toEqual([]);
    expect(await recordOf(stack, 'Workspace/acme/old')).toMatchObject({ origin: 'created' });
    bench.wire.setHandler(undefined);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('old')).toEqual([]);
    expect(await recordOf(stack, 'Workspace/acme/old')).toBeUndefined();
  });

  it('is not recorded as released either', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'old' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old', {}, { adopt: true }));
    await stack.declare(workspace('app'));
    await answerNotFoundOnce(bench, 'old');
    await stack.run(['apply', '--yes'], 1);
    expect(await recordOf(stack, 'Workspace/acme/old')).toMatchObject({ origin: 'adopted' });
    bench.wire.setHandler(undefined);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('old')).toEqual({});
    expect(await recordOf(stack, 'Workspace/acme/old')).toBeUndefined();
  });
});
