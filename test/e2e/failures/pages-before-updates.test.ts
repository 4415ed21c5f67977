/**
 * Just before updates, trueup reads the page of the list again instead of each workspace. A workspace that the page does not show
 * is read alone. All other writes keep a read of their own.
 */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { type Document, removalRequest, workspace } from '../../support/cli/documents.ts';
import { type Answer, fakeAnswer } from '../../support/cli/faulty-proxy.ts';
import {
  allWorkspaces,
  isPage,
  isSingle,
  readWorkspace,
  names,
  openScene,
} from '../../support/cli/six-workspaces.ts';

/** Answers the page that is read after the plan, and before the first update that relies on it. */
function answerPage(bench: Bench, answer: (pass: () => Promise<Answer>) => Promise<Answer | undefined>) {
  let count = 0;
  bench.wire.setHandler(async (request, pass) => {
    if (!isPage(request)) return pass();
    count += 1;
    return count === 2 ? answer(pass) : pass();
  });
}

describe('Updates of several workspaces', () => {
  it('read the first workspace alone, and the page of the list for all others', async () => {
    const { apply, reads, stack } = await openScene();
    await apply(0);
    expect(reads()).toEqual({ pages: 1, singles: 1 });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('read each of them alone if the target says so', async () => {
    const { apply, reads } = await openScene({ workspaces: { readBeforeWrite: 'resource' } });
    await apply(0);
    expect(reads()).toEqual({ pages: 0, singles: 6 });
  });

  it('do not overwrite what somebody changed before the page was read', async () => {
    const { bench, apply, descriptionOf } = await openScene();
    answerPage(bench, async (pass) => {
      await bench.byHand.update(await bench.idOf('a-3'), { description: 'by hand' });
      return pass();
    });
    const out = await apply(6);
    expect(out).toContain('description changed since the plan was made');
    expect(await descriptionOf('a-3')).toBe('by hand');
    expect(await descriptionOf('a-4')).toBe('new');
  });

  it('overwrite what somebody changed after the page was read, as documented', async () => {
    const { bench, apply, descriptionOf } = await openScene();
    answerPage(bench, async (pass) => {
      const answer = await pass();
      await bench.byHand.update(await bench.idOf('a-3'), { description: 'by hand' });
      return answer;
    });
    await apply(0);
    expect(await descriptionOf('a-3')).toBe('new');
  });

  it('leave alone a workspace whose ownership tag was removed before the page was read', async () => {
    const { bench, apply, descriptionOf } = await openScene();
    answerPage(bench, async (pass) => {
      const path = `/workspaces/${await bench.idOf('a-3')}`;
      const relationships = { 'tag-bindings': { data: [] } };
      await bench.byHand.patch(path, { data: { type: 'workspaces', attributes: {}, relationships } });
      return pass();
    });
    const out = await apply(6);
    expect(out).toContain('its ownership tag changed since the plan was made');
    expect(await descriptionOf('a-3')).toBe('old');
  });

  it('read alone a workspace that is no longer on the page, and report that it is gone', async () => {
    const { bench, apply, reads } = await openScene();
    const id = await bench.idOf('a-3');
    answerPage(bench, async (pass) => {
      await bench.byHand.delete(`/workspaces/${id}`);
      return pass();
    });
    const out = await apply(6);
    expect(out).toContain('it no longer exists in the service');
    expect(bench.wire.seen).toContainEqual(
      expect.objectContaining({ path: expect.stringContaining(`/workspaces/${id}?`), status: 404 }),
    );
    expect(reads().pages).toBe(1);
  });

  it('read alone a workspace that has moved to another page', async () => {
    const others = Array.from({ length: 100 }, (_, index) => `b-${index}`);
    const { bench, apply, reads, descriptionOf } = await openScene({}, others);
    const { id } = await readWorkspace(bench, 'a-3');
    let isMoved = false;
    bench.wire.setHandler(async (request, pass) => {
      // After the plan, whose list has two pages.
      if (!isMoved && isSingle(request)) {
        isMoved = true;
        await bench.byHand.update(id, { name: 'z' });
      }
      return pass();
    });
    await apply(6);
    expect(bench.wire.seen.filter((request) => isSingle(request) && request.path.includes(id))).toHaveLength(
      1,
    );
    expect(await descriptionOf('a-5')).toBe('new');
    expect(reads().singles).toBe(2);
  });

  it.each([
    ['is answered 500', 500],
    ['is answered 403', 403],
    ['is answered with a body that is not a list', 200],
  ])('read each workspace alone if the page %s', async (_, status) => {
    const { bench, apply, stack } = await openScene();
    let pages = 0;
    bench.wire.setHandler(async (request, pass) => {
      pages += isPage(request) ? 1 : 0;
      const isBefore = bench.written().length < names.length;
      return isPage(request) && pages > 1 && isBefore ? fakeAnswer({ answer: status, body: {} }) : pass();
    });
    await apply(0);
    expect(bench.wire.seen.filter(isSingle)).toHaveLength(6);
    bench.wire.setHandler(undefined);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('read each workspace alone if the list comes from a cache', async () => {
    const { bench, apply, descriptionOf } = await openScene();
    let cached: Answer | undefined;
    bench.wire.setHandler(async (request, pass) => {
      if (!isPage(request) || bench.written().length === names.length) return pass();
      if (cached !== undefined)
        await bench.byHand.update(await bench.idOf('a-3'), { description: 'by hand' });
      cached ??= await pass();
      return cached;
    });
    const out = await apply(6);
    expect(out).toContain('description changed since the plan was made');
    expect(bench.wire.seen.filter(isSingle)).toHaveLength(6);
    expect(await descriptionOf('a-3')).toBe('by hand');
  });

  it('read a workspace alone before its update is sent again', async () => {
    const { bench, apply, descriptionOf } = await openScene();
    const id = await bench.idOf('a-3');
    let isFirst = true;
    bench.wire.setHandler(async (request, pass) => {
      if (request.method !== 'PATCH' || !request.path.endsWith(id) || !isFirst) return pass();
      isFirst = false;
      await bench.byHand.update(id, { description: 'by hand' });
      return fakeAnswer({ answer: 429, headers: { 'retry-after': '0' } });
    });
    const out = await apply(6);
    expect(out).toContain('description changed since the plan was made');
    expect(await descriptionOf('a-3')).toBe('by hand');
  });

  it('continue when the first of them fails', async () => {
    const { bench, apply, reads } = await openScene();
    const path = new RegExp(`${await bench.idOf('a-0')}$`);
    bench.wire.add({ method: 'PATCH', path, fault: { answer: 422 } });
    await apply(6);
    expect(bench.written()).toHaveLength(6);
    // The refused one is read once more.
    expect(reads()).toEqual({ pages: 1, singles: 3 });
  });

  it('read alone a workspace with a retention policy, which no list shows', async () => {
    const bench = await openBench({ edition: 'self-hosted' });
    const stack = await bench.checkout();
    const policy = { dataRetentionPolicy: { deleteOlderThanNDays: 30 } };
    const documents = (description: string) =>
      names.map((name) => workspace(name, { description, ...(name === 'a-3' ? policy : {}) }));
    await stack.setUp(...documents('old'));
    await stack.declare(...documents('new'));
    await stack.run(['apply', '--yes'], 0);
    const alone = bench.wire.seen.filter(isSingle).map(({ path }) => path);
    expect(alone).toHaveLength(2);
    expect(alone.join()).toContain(await bench.idOf('a-3'));
  });
});

describe('A workspace is read alone just before', () => {
  interface Case {
    readonly before: readonly Document[];
    readonly after: readonly Document[];
    readonly target?: object;
  }
  const cases: Readonly<Record<string, Case>> = {
    'its state is shared globally': {
      before: allWorkspaces({}),
      after: allWorkspaces({ globalRemoteState: true }),
    },
    'a tag is removed, which replaces all tags': {
      before: allWorkspaces({ tags: { env: 'prod', team: 'a' } }),
      after: allWorkspaces({ tags: { env: 'prod' } }),
    },
    'flat tags are removed': {
      before: allWorkspaces({ tagNames: ['one', 'two'] }),
      after: allWorkspaces({ tagNames: ['one'] }),
    },
    'a lock': {
      before: allWorkspaces({}),
      after: allWorkspaces({ lock: { reason: 'frozen' } }),
    },
    'a release': {
      before: [...allWorkspaces({}, { onRemove: 'release' }), workspace('stays')],
      after: [workspace('stays')],
    },
    'a delete': {
      before: [...allWorkspaces({}), workspace('stays')],
      after: [workspace('stays')],
    },
    'a forced delete': {
      before: [...allWorkspaces({}), workspace('stays')],
      after: [...names.map((name) => removalRequest('Workspace', name, 'force')), workspace('stays')],
    },
  };

  it.each(Object.entries(cases))('%s', async (_, { before, after }) => {
    const bench = await openBench();
    const stack = await bench.checkout({
      spec: { guards: { maxDeletes: 100, maxDeletePercent: 100 } },
    });
    await stack.setUp(...before);
    const ids = await Promise.all(names.map((name) => bench.idOf(name)));
    await stack.declare(...after);
    await stack.applyAcknowledged();
    expect(bench.written().length).toBeGreaterThanOrEqual(6);
    for (const id of ids) {
      const wrote = bench.wire.seen.findIndex(({ method, path }) => method !== 'GET' && path.includes(id));
      const about = bench.wire.seen
        .slice(0, wrote)
        .filter((request) => isSingle(request) && request.path.includes(id));
      expect(wrote, id).toBeGreaterThan(-1);
      expect(about, id).toHaveLength(1);
    }
  });

  it.each([
    ['', {}],
    [' that only the ledger records', { ownership: 'ledger' }],
  ])('an adoption%s', async (_, workspaces) => {
    const bench = await openBench({ organization: { workspaces: names.map((name) => ({ name })) } });
    const stack = await bench.checkout({ workspaces });
    await stack.declare(...allWorkspaces({ description: 'ours' }, { adopt: true }));
    await stack.applyAcknowledged();
    for (const name of names) {
      const id = await bench.idOf(name);
      const reads = bench.wire.seen.filter((request) => isSingle(request) && request.path.includes(id));
      expect(reads.length, name).toBeGreaterThanOrEqual(1);
    }
  });
});

describe('A list from before a change by hand does not count as recent', () => {
  const others = names.slice(1);
  const documents = (first: Document, description: string) => [
    first,
    ...others.map((name) => workspace(name, { description })),
  ];
  interface Case {
    /** how the first workspace is declared before and after, under the name that it has then */
    readonly before: Document;
    readonly after: Document;
    readonly prepare?: (bench: Bench, stack: Checkout) => Promise<unknown>;
  }
  const cases: Readonly<Record<string, Case>> = {
    'with a value that was applied': {
      before: workspace('a-0', { description: 'old' }),
      after: workspace('a-0', { description: 'old' }),
    },
    'with a value that was applied under another name': {
      before: workspace('a-0', { description: 'old' }),
      after: workspace('a-0-renamed', { description: 'old' }),
      prepare: async (bench) => bench.byHand.update(await bench.idOf('a-0'), { name: 'a-0-renamed' }),
    },
    'with a value that was set by hand and is declared now': {
      before: workspace('a-0'),
      after: workspace('a-0', { autoApply: true, description: 'old' }),
      prepare: async (bench, stack) => {
        await bench.byHand.update(await bench.idOf('a-0'), { description: 'old' });
        // The ledger keeps what others have set when a change is applied.
        await stack.declare(...documents(workspace('a-0', { autoApply: true }), 'old'));
        await stack.run(['apply', '--yes'], 0);
      },
    },
  };

  it.each(Object.entries(cases))('%s', async (_, { before, after, prepare }) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents(before, 'old'));
    const id = await bench.idOf('a-0');
    await prepare?.(bench, stack);
    await stack.declare(...documents(after, 'new'));
    let old: Answer | undefined;
    bench.wire.setHandler(async (request, pass) => {
      const answer = await pass();
      if (isPage(request)) old = answer;
      return answer;
    });
    await stack.run(['plan'], 0);
    expect(old).toBeDefined();
    await bench.byHand.update(id, { description: 'drifted' });
    bench.wire.reset();
    let pages = 0;
    let isFirst = true;
    bench.wire.setHandler(async (request, pass) => {
      pages += isPage(request) ? 1 : 0;
      if (isPage(request) && pages > 1 && bench.written().length < names.length) return old;
      if (request.method === 'PATCH' && isFirst) {
        isFirst = false;
        await bench.byHand.update(await bench.idOf('a-4'), { description: 'by hand' });
      }
      return pass();
    });
    await stack.run(['apply', '--yes'], 6);
    expect((await readWorkspace(bench, 'a-4')).attributes['description']).toBe('by hand');
    expect((await readWorkspace(bench, 'a-5')).attributes['description']).toBe('new');
  });
});
