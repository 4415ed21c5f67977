/** Answers that trueup cannot parse: what they are about counts as unread, not as empty or absent. */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { consumers, workspace } from '../../support/cli/documents.ts';

/** Creates a workspace that no stack manages. */
async function createUnmanaged(
  bench: Bench,
  name: string,
  tags: Readonly<Record<string, string>> = {},
): Promise<void> {
  const data = Object.entries(tags).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  }));
  await bench.byHand.post('/organizations/acme/workspaces', {
    data: { type: 'workspaces', attributes: { name }, relationships: { 'tag-bindings': { data } } },
  });
}

describe('a live tag', () => {
  const all = /\/(workspaces|tag-bindings)/;
  const becomes = (value: string) => (body: unknown) =>
    JSON.parse(JSON.stringify(body).replaceAll('"value":"4711"', `"value":${value}`));
  const withoutInclude = {
    answer: 400,
    body: { errors: [{ status: '400', title: 'bad', detail: 'Invalid include parameter' }] },
  };

  it.each([
    ['the list', '4711', false],
    ['the list', '["4711"]', false],
    ['a read of its own', '4711', true],
  ])(
    'whose value is not text in %s (%s) leaves the tags unread, and nothing of that workspace is written',
    async (_, value, separately) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('other'));
      await createUnmanaged(bench, 'app', { 'cost-center': '4711' });
      await stack.declare(
        workspace('other', { autoApply: true }),
        workspace('app', { tags: { env: 'prod' } }, { adopt: true }),
      );
      if (separately) bench.wire.add({ path: /include=/, times: 100, fault: withoutInclude });
      bench.wire.add({ method: 'GET', path: all, times: 100, fault: { rewrite: becomes(value) } });
      const { out } = await stack.run(['apply', '--yes'], 6);
      expect(out.replace(/\s+/g, ' ')).toContain(
        'the tag bindings of workspace "app" could not be parsed: the value of "cost-center" is not text',
      );
      expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
      expect(await bench.tagsOf('app')).toEqual({ 'cost-center': '4711' });
      expect(out).toMatch(/applied +~ Workspace\/acme\/other/);
    },
  );

  it('whose value is null equals a tag with an empty value', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await createUnmanaged(bench, 'app', { 'cost-center': '4711' });
    await stack.declare(workspace('app', { tags: { 'cost-center': '' } }, { adopt: true }));
    bench.wire.add({ method: 'GET', path: all, times: 100, fault: { rewrite: becomes('null') } });
    const { changes } = await stack.plan();
    expect(changes.map(({ address }) => address)).toEqual(['Workspace/acme/app']);
  });
});

describe('a resource that could not be read', () => {
  const refused = { answer: 403 };
  const addresses = ({ changes }: { changes: readonly { address: string }[] }) =>
    changes.map(({ address }) => address);

  it('is not changed under its new name either', async () => {
    const bench = await openBench({ edition: 'self-hosted' });
    const stack = await bench.checkout();
    const keep = { dataRetentionPolicy: { deleteOlderThanNDays: 30 } };
    await stack.setUp(workspace('old', keep), workspace('other'));
    await stack.declare(
      workspace('new', { ...keep, autoApply: true }, { renamedFrom: 'old' }),
      workspace('other', { autoApply: true }),
    );
    const path = new RegExp(`${await bench.idOf('old')}/relationships/data-retention-policy`);
    bench.wire.add({ method: 'GET', path, times: 100, fault: refused });
    expect(addresses(await stack.plan(1))).toEqual(['Workspace/acme/other']);
    await stack.run(['apply', '--yes'], 6);
    expect(bench.wire.writes().map(({ path: written }) => written)).toEqual([
      `/api/v2/workspaces/${await bench.idOf('other')}`,
    ]);
    expect(await bench.idsOf('old')).toHaveLength(1);
  });

  it('is not planned again after a rename of its workspace: consumers are not added twice', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('old'), workspace('other'), consumers('old', { consumers: ['other'] }));
    await stack.declare(
      workspace('new', {}, { renamedFrom: 'old' }),
      workspace('other'),
      consumers('new', { consumers: ['other'] }),
    );
    bench.wire.add({ method: 'GET', path: /remote-state-consumers/, times: 100, fault: refused });
    const plan = await stack.plan(1);
    expect(addresses(plan)).toEqual(['Workspace/acme/new']);
    expect(plan.problems).toEqual([]);
  });
});

const without = (name: string) => (body: unknown) => {
  const { data, meta, ...rest } = body as { data: { attributes: { name: string } }[]; meta: object };
  const others = data.filter(({ attributes }) => attributes.name !== name);
  return { ...rest, data: others, meta: { ...meta, pagination: { 'total-count': others.length } } };
};

/** An empty list without a total. */
const none = () => ({ data: [] });

describe('workspaces that the list lacks', () => {
  const list = { path: /organizations\/acme\/workspaces\?/, times: 100 };

  it.each([
    ['without a total', ['app', 'old', 'other'], none],
    ['with a total of its own', ['old'], without('old')],
  ])('prove that a list %s is not complete, so nothing is deleted', async (_, lacking, rewrite) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old'), workspace('other'));
    await stack.declare(workspace('app', { autoApply: true }), workspace('other'));
    bench.wire.add({ ...list, fault: { rewrite } });
    const { out } = await stack.run(['apply', '--yes'], 6);
    const names = lacking.map((name) => `"${name}"`).join(', ');
    expect(out.replace(/\s+/g, ' ')).toContain(
      `because acme: the list of workspaces of organization "acme" lacks ${names}, which ${lacking.length === 1 ? 'is found by its id' : 'are found by their ids'}, so it may lack others, too: plan again;`,
    );
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('old')).toEqual([]);
  });

  it('are one problem for all their tags and one for all their consumers, with the cause first', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const documents = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      workspace(name, { tags: { env: 'dev' }, remoteStateConsumers: ['other'] }),
    );
    await stack.setUp(...documents, workspace('other'));
    bench.wire.add({ ...list, fault: { rewrite: none } });
    const { problems, coverage } = await stack.plan(1);
    const cause = 'the list of workspaces lacks some that exist, so';
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      [
        'tags-unread',
        `${cause} the tag bindings for each of 5 resources ("TagBindings/acme/a", "TagBindings/acme/b", "TagBindings/acme/c" and 2 more) could not be read`,
      ],
      [
        'consumers-unread',
        `${cause} the consumers of each of 5 resources ("Workspace/acme/a", "Workspace/acme/b", "Workspace/acme/c" and 2 more) could not be read`,
      ],
    ]);
    expect(problems.map(({ fix }) => fix)).toEqual([
      expect.stringMatching(/^plan again; if the list stays incomplete, /),
      expect.stringMatching(/^plan again; if the list stays incomplete, /),
    ]);
    expect(coverage.complete).toBe(false);
  });
});

describe('a workspace that the list lacks', () => {
  it('has tags that were not read, and drift does not report them as gone', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tags: { env: 'dev' } }), workspace('other'));
    const list = { path: /organizations\/acme\/workspaces\?/, times: 100 };
    bench.wire.add({ ...list, fault: { rewrite: without('app') } });
    const { out } = await stack.run(['drift', '--format', 'json'], 1);
    const drift = JSON.parse(out) as { drifted: unknown[]; untold: unknown[] };
    expect(drift.drifted).toEqual([]);
    expect(drift.untold).toMatchObject([{ kind: 'TagBindings', name: 'app' }]);
  });
});

describe('a workspace that the list lacks and that cannot be read by its id', () => {
  const hidden = (bench: Bench, id: string) =>
    bench.wire.add(
      { path: /organizations\/acme\/workspaces\?/, times: 100, fault: { rewrite: without('app') } },
      { method: 'GET', path: new RegExp(`/workspaces/${id}`), times: 100, fault: { answer: 403 } },
    );

  it.each([
    ['under its name', workspace('app', { autoApply: true, tags: { env: 'prod' } })],
    [
      'under a new name',
      workspace('new', { autoApply: true, tags: { env: 'prod' } }, { renamedFrom: 'app' }),
    ],
  ])('is not created again when it is declared %s, and no command to do so is shown', async (_, declared) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tags: { env: 'dev' } }), workspace('other'));
    await stack.declare(declared, workspace('other', { autoApply: true }));
    hidden(bench, await bench.idOf('app'));
    const plan = await stack.plan(1);
    expect(plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      'update Workspace/acme/other',
    ]);
    expect(plan.acknowledge).toEqual([]);
    expect(JSON.stringify(plan.coverage)).toContain('a workspace in the ledger could not be read');
    await stack.run(['apply', '--yes'], 6);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('is not added as a consumer, because its id is unknown', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('other'));
    await stack.declare(workspace('app'), workspace('other', { remoteStateConsumers: ['app'] }));
    hidden(bench, await bench.idOf('app'));
    const { out, err } = await stack.run(['plan'], 1);
    expect(`${out}${err}`.replace(/\s+/g, ' ')).toContain(
      '"RemoteStateConsumers/acme/other" refers to "Workspace/acme/app", whose id is unknown',
    );
  });
});

describe('a list with documents that are not understood', () => {
  type Document = { id?: string; attributes?: { name?: string } };
  type Page = { data: Document[]; meta: { pagination: { 'total-count': number } } };
  /** changes the document of this workspace in a list */
  const changeDocument = (name: string, change: (document: Document) => Document) => (body: unknown) => {
    const { data, ...rest } = body as Page;
    return { ...rest, data: data.map((item) => (item.attributes?.name === name ? change(item) : item)) };
  };
  const nameless = ({ id = '' }: Document) => ({ id, type: 'workspaces' });
  const without = ({ id: _, ...rest }: Document) => rest;

  it.each([
    ['a name', nameless, '1 of 2 documents in the list of organization "acme" has no name'],
    ['an id', without, 'the list has 1 document without an id'],
  ])('of workspaces counts as incomplete: one without %s', async (_, change, why) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('other'));
    await createUnmanaged(bench, 'app');
    bench.wire.add({
      path: /organizations\/acme\/workspaces\?/,
      times: 100,
      fault: { rewrite: changeDocument('app', change) },
    });
    const { coverage } = await stack.plan(1);
    expect(coverage.complete).toBe(false);
    expect(JSON.stringify(coverage)).toContain(JSON.stringify(why).slice(1, -1));
  });

  const counted = (count: (page: number) => number) => {
    let page = 0;
    return (body: unknown) => {
      const { meta: _, ...rest } = body as Page;
      page += 1;
      return { ...rest, meta: { pagination: { 'total-count': count(page), 'total-pages': 2 } } };
    };
  };

  it.each([
    ['one without a name', changeDocument('a', nameless), '1 of 2 in the list has no name'],
    ['more than it counts', counted(() => 1), 'the list has a total of 1, but 2 items'],
    [
      'another total with each page',
      counted((page) => page),
      'the total of the list changed during the read',
    ],
  ])('of consumers leaves them unread: %s', async (_, rewrite, why) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const others = ['a', 'b'].map((name) => workspace(name));
    await stack.setUp(...others, workspace('app', { remoteStateConsumers: ['a', 'b'] }));
    await stack.declare(...others, workspace('app', { remoteStateConsumers: ['b'] }));
    bench.wire.add({ path: /relationships\/remote-state-consumers/, times: 100, fault: { rewrite } });
    const { changes, coverage } = await stack.plan(1);
    expect(changes).toEqual([]);
    expect(JSON.stringify(coverage)).toContain(why);
  });
});

it.each([
  [null, 'an empty body'],
  [[1, 2], 'a list'],
  [{ data: {} }, 'an unexpected body'],
])(
  'a list that is answered 200 with %j is reported with what is wrong and what to check',
  async (body, form) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', {}));
    const list = { method: 'GET', path: /acme\/workspaces\?/, times: 9 };
    bench.wire.add({ ...list, fault: { rewrite: () => body } });
    expect((await stack.run(['plan'], 1)).out).toContain(
      `answered 200 with ${form}, which is not a valid response; check that the target's "url"`,
    );
  },
);

describe('a list of workspaces', () => {
  it('in which two have the same name is incomplete: nothing undeclared is deleted', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('other'), workspace('dropped'));
    await stack.declare(workspace('app'), workspace('other'));
    const twins = (body: unknown) =>
      JSON.parse(JSON.stringify(body).replaceAll('"name":"other"', '"name":"app"'));
    bench.wire.reset();
    bench.wire.add({ method: 'GET', path: /\/workspaces\?/, times: 100, fault: { rewrite: twins } });
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out.replace(/\s+/g, ' ')).toMatch(/not all workspaces were read: .* as "app"/);
    expect(out).toContain('no longer declared, but the plan is incomplete, so nothing is removed');
    expect(bench.written()).toEqual([]);
  });
});
