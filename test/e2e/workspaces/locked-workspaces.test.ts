/** The owner of a workspace lock: it is ours only if this stack took it and still holds it. All other locks stay. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { TestClient } from '../../support/server/serve-for-test.ts';

const lock = { reason: 'frozen' };
const lockCall = { method: 'POST', path: /\/actions\/lock$/ } as const;

async function act({ byHand }: Bench, name: string, id: string, body?: object): Promise<void> {
  expect(await byHand.post(`/workspaces/${id}/actions/${name}`, body)).toMatchObject({ status: 200 });
}

/** The reason of the live lock of `app`, if it is locked. */
async function lockOf(bench: Bench): Promise<unknown> {
  const { resource } = await bench.byHand.get(`/workspaces/${await bench.idOf('app')}`);
  return resource.attributes['locked'] === true ? resource.attributes['locked-reason'] : undefined;
}

async function marksOf(stack: Checkout): Promise<unknown> {
  return (await stack.ledger()).records['Workspace/acme/app']?.marks;
}

/** `app` is adopted, so that it is released when it is no longer declared. */
async function openWithApp() {
  const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
  const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
  return { bench, stack, app: (spec: object) => workspace('app', spec, { adopt: true }) };
}

const foreignLockStays = /not by this stack: the lock is left\s+alone/;

describe('A lock that this stack took', () => {
  it('is recorded with its holder and its reason, and removed with the field', async () => {
    const { bench, stack, app } = await openWithApp();
    await stack.setUp(app({ lock }));
    const me = await new TestClient(bench.byHand.url, secrets.API_TOKEN).get('/account/details');
    expect(await marksOf(stack)).toEqual({
      locked: true,
      lockedBy: { type: 'users', id: me.resource.id },
      lockedReason: 'frozen',
    });
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(await lockOf(bench)).toBeUndefined();
    expect(await marksOf(stack)).toBeUndefined();
  });

  it('whose answer was lost is ours, because our user holds it with our reason', async () => {
    const { bench, stack, app } = await openWithApp();
    bench.wire.add({ ...lockCall, fault: { drop: 'after' } });
    await stack.setUp(app({ lock }));
    expect(await marksOf(stack)).toMatchObject({ locked: true, lockedReason: 'frozen' });
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(await lockOf(bench)).toBeUndefined();
  });

  it('whose answer was lost is not ours if the service does not show our user', async () => {
    const { bench, stack, app } = await openWithApp();
    bench.wire.add(
      { ...lockCall, fault: { drop: 'after' } },
      { method: 'GET', path: /\/account\/details$/, fault: { answer: 404 } },
    );
    await stack.setUp(app({ lock }));
    expect(await marksOf(stack)).toBeUndefined();
    await stack.declare(app({}));
    expect((await stack.run(['apply', '--yes'], 0)).out).toMatch(foreignLockStays);
    expect(await lockOf(bench)).toBe('frozen');
  });

  it('is recognized by its reason if the service does not show its holder', async () => {
    const { bench, stack, app } = await openWithApp();
    await stack.setUp(app({ lock }));
    bench.wire.add({
      method: 'GET',
      path: /./,
      times: 1000,
      fault: {
        rewrite: (body) =>
          JSON.parse(JSON.stringify(body), (key, value: unknown) =>
            key === 'locked-by' ? undefined : value,
          ),
      },
    });
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(await lockOf(bench)).toBeUndefined();
  });
});

describe('A lock that somebody else takes first', () => {
  it('satisfies the manifest, and stays theirs', async () => {
    const { bench, stack, app } = await openWithApp();
    const id = await bench.idOf('app');
    bench.wire.add({ ...lockCall, fault: { first: () => act(bench, 'lock', id, lock) } });
    await stack.setUp(app({ lock }));
    expect(await marksOf(stack)).toBeUndefined();
    await stack.declare(app({}));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toMatch(foreignLockStays);
    expect(bench.wire.writes()).toEqual([]);
    expect(await lockOf(bench)).toBe('frozen');
  });

  it('between our lost lock call and its retry is not ours', async () => {
    const { bench, stack, app } = await openWithApp();
    const id = await bench.idOf('app');
    bench.wire.add(
      { ...lockCall, fault: { drop: 'before' } },
      { ...lockCall, fault: { first: () => act(bench, 'lock', id, lock) } },
    );
    await stack.setUp(app({ lock }));
    expect(await marksOf(stack)).toBeUndefined();
    expect(await lockOf(bench)).toBe('frozen');
  });
});

describe('Our lock that somebody removed and set again', () => {
  /** Applied with our lock; then `ann` removes it and locks with this reason. */
  async function openTakenOver(reason: string) {
    const opened = await openWithApp();
    const { bench, stack, app } = opened;
    await stack.setUp(app({ lock, autoApply: true }));
    const id = await bench.idOf('app');
    await act(bench, 'force-unlock', id);
    await act(bench, 'lock', id, { reason });
    return { ...opened, id };
  }

  it.each(['frozen', 'theirs'])('(%s) stays when the workspace is released', async (reason) => {
    const { bench, stack } = await openTakenOver(reason);
    await stack.declare(workspace('other'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toMatch(foreignLockStays);
    expect(bench.written().toSorted()).toEqual([
      'PATCH /api/v2/workspaces/ws-…',
      'POST /api/v2/organizations/acme/workspaces',
    ]);
    expect(await bench.tagsOf('app')).toEqual({});
    expect(await lockOf(bench)).toBe(reason);
  });

  it('stays if the service shows neither holder nor reason, because nothing proves that it is ours', async () => {
    const { bench, stack, app } = await openTakenOver('theirs');
    await stack.declare(app({}));
    bench.wire.setHandler(async ({ method }, pass) => {
      const answer = await pass();
      const withoutHolder = (key: string, value: unknown) =>
        /^locked-(by|reason)$/.test(key) ? undefined : value;
      return method === 'GET'
        ? { ...answer, text: JSON.stringify(JSON.parse(answer.text, withoutHolder)) }
        : answer;
    });
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'nothing proves that this stack locked it: the lock is left alone',
    );
    expect(bench.written()).not.toContain('POST /api/v2/workspaces/ws-…/actions/unlock');
    expect(await lockOf(bench)).toBe('theirs');
  });

  it('stays when the field is reset, and other changes are applied', async () => {
    const { bench, stack, app } = await openTakenOver('theirs');
    await stack.declare(app({}));
    expect((await stack.run(['apply', '--yes'], 0)).out).toMatch(foreignLockStays);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(await lockOf(bench)).toBe('theirs');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('just before our unlock makes the change stale', async () => {
    const { bench, stack, app } = await openWithApp();
    await stack.setUp(app({ lock, autoApply: true }));
    const id = await bench.idOf('app');
    const first = async () => {
      await act(bench, 'force-unlock', id);
      await act(bench, 'lock', id, lock);
    };
    bench.wire.add({ method: 'GET', path: new RegExp(`/workspaces/${id}\\b`), fault: { first } });
    await stack.declare(app({}));
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toContain('lockedBy changed since the plan was made');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('prevents the delete of the workspace', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
    await stack.setUp(workspace('app', { lock }));
    const id = await bench.idOf('app');
    await act(bench, 'force-unlock', id);
    await act(bench, 'lock', id, lock);
    await stack.declare(workspace('other'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain('to be deleted, but kept: it is locked ("frozen")');
    expect(await bench.idsOf('app')).toEqual([id]);
  });
});

describe('A workspace that is created again', () => {
  it('does not inherit the record of our lock on the former workspace of that name', async () => {
    const { bench, stack, app } = await openWithApp();
    await stack.setUp(app({ lock }));
    const former = await bench.idOf('app');
    await act(bench, 'force-unlock', former);
    await bench.byHand.delete(`/workspaces/${former}`);
    const { digest } = await stack.plan();
    bench.wire.add({ ...lockCall, fault: { answer: 403 } });
    await stack.run(['apply', '--approve', digest, '--ack', 'recreate'], 6);
    expect(await stack.ledger()).toMatchObject({
      records: { 'Workspace/acme/app': { id: await bench.idOf('app') } },
    });
    expect(await marksOf(stack)).toBeUndefined();
  });
});

describe('A release that removes our lock', () => {
  /** Applied with our lock, then no longer declared. */
  async function openUndeclared() {
    const opened = await openWithApp();
    const { bench, stack, app } = opened;
    await stack.setUp(app({ lock }), workspace('other'));
    await stack.declare(workspace('other'));
    return { ...opened, bench, stack, id: await bench.idOf('app') };
  }

  it('is shown in the plan, and has another digest than a release that keeps the lock', async () => {
    const { bench, stack, id } = await openUndeclared();
    const { digest, changes } = await stack.plan();
    expect(changes).toMatchObject([
      {
        action: 'release',
        fields: [{ path: '/claim' }, { path: '/lock', before: lock, after: null }],
      },
    ]);
    expect((await stack.run(['plan'], 0)).out).toMatch(/lock +\{?.*frozen/);
    await act(bench, 'force-unlock', id);
    expect((await stack.plan()).digest).not.toBe(digest);
  });

  it('is not covered by an approval of a release that keeps the lock', async () => {
    const { bench, stack, id } = await openUndeclared();
    await act(bench, 'force-unlock', id);
    const { digest } = await stack.plan();
    await new TestClient(bench.byHand.url, secrets.API_TOKEN).post(`/workspaces/${id}/actions/lock`, lock);
    bench.wire.reset();
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.wire.writes()).toEqual([]);
    expect(await lockOf(bench)).toBe('frozen');
  });

  it('and then fails continues with the same approval', async () => {
    const { bench, stack } = await openUndeclared();
    await stack.run(['plan', '--out', 'plan.json'], 0);
    bench.wire.add({ method: 'PATCH', path: /\/workspaces\/ws-/, fault: { answer: 422 } });
    await stack.run(['apply', 'plan.json'], 6);
    expect(await lockOf(bench)).toBeUndefined();
    expect(await bench.tagsOf('app')).not.toEqual({});
    await stack.run(['apply', 'plan.json'], 0);
    expect(await bench.tagsOf('app')).toEqual({});
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('has nothing left to do after ownership tag and lock are removed', async () => {
    const { bench, stack } = await openUndeclared();
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.run(['apply', 'plan.json'], 0);
    bench.wire.reset();
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.wire.writes()).toEqual([]);
  });
});
