/** An ownership tag or a setting of a workspace that changes after the plan was read: the writes that rely on it are not sent. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { consumers, type Document, tagBindings, workspace } from '../../support/cli/documents.ts';
import { isRead, fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const bindings = (key: string, value: string) => ({
  data: [{ type: 'tag-bindings', attributes: { key, value } }],
});

const single = /\/workspaces\/ws-\w+(\?|$)/;

/** Lets something happen once: after the plan was read and before the first read of a single workspace, or during the wait after a 429. */
function meanwhileAt(bench: Bench, moment: Moment, act: () => Promise<unknown>) {
  let isFirst = true;
  bench.wire.setHandler(async (request, pass) => {
    const isMoment =
      moment === 'first attempt' ? isRead(request) && single.test(request.path) : !isRead(request);
    if (!isMoment || !isFirst) return pass();
    isFirst = false;
    await act();
    return moment === 'first attempt' ? pass() : fakeAnswer({ answer: 429, headers: { 'retry-after': '0' } });
  });
}

type Moment = 'first attempt' | 'repeat';

const moments = ['first attempt', 'repeat'] as const;

interface Child {
  readonly kind: string;
  readonly some: Document;
  readonly other: Document;
  /** its live value */
  read(bench: Bench): Promise<unknown>;
}

const children: readonly Child[] = [
  {
    kind: 'TagBindings',
    some: tagBindings('app', { tags: { env: 'dev' } }, { adopt: true }),
    other: tagBindings('app', { tags: { env: 'dev', tier: 'web' } }, { adopt: true }),
    read: async (bench) => {
      const { 'trueup-stack': _, ...tags } = await bench.tagsOf('app');
      return tags;
    },
  },
  {
    kind: 'RemoteStateConsumers',
    some: consumers('app', { consumers: ['reader'] }, { adopt: true }),
    other: consumers('app', { consumers: ['reader', 'second'] }, { adopt: true }),
    read: async (bench) => {
      const path = `/workspaces/${await bench.idOf('app')}/relationships/remote-state-consumers`;
      return (await bench.byHand.get(path)).resources.map(({ id }) => id).toSorted();
    },
  },
];

const readers = [workspace('reader'), workspace('second')];

const owners = ['this stack', 'no stack'] as const;

/** The workspace `app` belongs to `owner`; the stack `payments` has applied the child, and declares these documents next. */
async function opened({ some, read }: Child, owner: (typeof owners)[number]) {
  const bench = await openBench();
  if (owner === 'no stack') await bench.byHand.created({ name: 'app' });
  const stack = await bench.checkout();
  const own = owner === 'this stack' ? [...readers, workspace('app')] : readers;
  await stack.setUp(...own, some);
  return { bench, stack, own, before: await read(bench) };
}

async function appliesNothing(bench: Bench, stack: Checkout, moment: Moment): Promise<void> {
  const id = await bench.idOf('app');
  const { digest, acknowledge } = await stack.plan();
  meanwhileAt(bench, moment, () =>
    bench.byHand.send('PATCH', `/workspaces/${id}/tag-bindings`, bindings('trueup-stack', 'third')),
  );
  const { out, code } = await stack.tryRun([
    'apply',
    '--approve',
    digest,
    '--again',
    ...(acknowledge.length === 0 ? [] : ['--ack', acknowledge.join(',')]),
  ]);
  expect(code).not.toBe(0);
  expect(out.replace(/\s+/g, ' ')).toContain('its ownership tag changed since the plan was made');
  expect(bench.written()).toHaveLength(moment === 'repeat' ? 1 : 0);
}

describe.each(children)('$kind of a workspace', (child) => {
  describe.each(owners)('of %s', (owner) => {
    it.each(moments)('are not changed if another stack becomes its owner before the %s', async (moment) => {
      const { bench, stack, own, before } = await opened(child, owner);
      await stack.declare(...own, child.other);
      await appliesNothing(bench, stack, moment);
      expect(await child.read(bench)).toEqual(before);
    });

    it.each(moments)('are not removed if another stack becomes its owner before the %s', async (moment) => {
      const { bench, stack, own, before } = await opened(child, owner);
      await stack.declare(...own);
      await appliesNothing(bench, stack, moment);
      expect(await child.read(bench)).toEqual(before);
    });
  });

  it.each(owners)('of %s are changed as planned if nothing else changes', async (owner) => {
    const { bench, stack, own, before } = await opened(child, owner);
    await stack.declare(...own, child.other);
    await stack.run(['apply', '--yes'], 0);
    expect(await child.read(bench)).not.toEqual(before);
    expect((await stack.plan()).changes).toEqual([]);
  });
});

const labelled = tagBindings('app', { tags: { env: 'dev', tier: 'web' } });

/** Each of these is an update of the workspace, which has to send the setting of health assessments again. */
const updates = [
  ['An update of a workspace', [workspace('app', { autoApply: true }), labelled]],
  ['A removal of tags', [workspace('app'), tagBindings('app', { tags: { env: 'dev' } })]],
  ['A release of a workspace', []],
] as const;

describe.each(updates)('%s', (_, documents) => {
  async function applied() {
    const bench = await openBench();
    const stack = await bench.checkout();
    const released = workspace('app', {}, { onRemove: 'release' });
    const anchor = workspace('anchor');
    await stack.setUp(anchor, documents.length === 0 ? released : workspace('app'), labelled);
    await stack.declare(anchor, ...documents);
    const id = await bench.idOf('app');
    const { digest, acknowledge } = await stack.plan();
    const guards = acknowledge.length === 0 ? [] : ['--ack', acknowledge.join(',')];
    const enabled = async () =>
      (await bench.byHand.get(`/workspaces/${id}`)).resource.attributes['assessments-enabled'];
    const apply = () => stack.tryRun(['apply', '--approve', digest, '--again', ...guards]);
    return { bench, stack, id, enabled, apply };
  }

  it.each(moments)(
    'leaves health assessments on if an administrator enables them before the %s',
    async (moment) => {
      const { bench, id, enabled, apply } = await applied();
      const attributes = { 'assessments-enabled': true };
      meanwhileAt(bench, moment, () =>
        bench.byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', attributes } }),
      );
      const { out, code } = await apply();
      expect(code).not.toBe(0);
      expect(out.replace(/\s+/g, ' ')).toContain('assessmentsEnabled changed since the plan was made');
      expect(await enabled()).toBe(true);
      expect(bench.written()).toHaveLength(moment === 'repeat' ? 1 : 0);
    },
  );

  it('is carried out if nothing else changes', async () => {
    const { stack, enabled, apply } = await applied();
    const ran = await apply();
    expect(ran.code, ran.out).toBe(0);
    expect(await enabled()).toBe(false);
    expect((await stack.plan()).changes).toEqual([]);
  });
});
