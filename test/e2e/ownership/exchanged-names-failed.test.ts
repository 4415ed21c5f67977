/** An acknowledged exchange of names whose apply failed half-way: the same approval continues. */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { openProjects, project } from '../../support/cli/projects-scene.ts';

/** Gives each workspace the name that it is mapped to. */
async function rename({ byHand, idOf }: Bench, names: Readonly<Record<string, string>>): Promise<void> {
  const ids = await Promise.all(Object.keys(names).map(idOf));
  const change = (id: string, name = '') =>
    byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', attributes: { name } } });
  for (const id of ids) await change(id, `meanwhile-${id}`);
  for (const [index, name] of Object.values(names).entries()) await change(ids[index] ?? '', name);
}

/** Lets all changes of these workspaces or projects fail until the next reset. */
function refuse({ wire }: Bench, ...ids: readonly string[]): void {
  wire.add({ method: 'PATCH', path: new RegExp(`/(${ids.join('|')})$`), times: 99, fault: { answer: 422 } });
}

const about = (...names: readonly string[]) =>
  names.flatMap((name) => workspace(name, { description: `about ${name}` }));

async function begin(...documents: readonly object[]) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(...documents);
  const idsOf = async (...names: readonly string[]) => Promise.all(names.map(bench.idOf));
  const recordedIds = async () =>
    Object.fromEntries(
      Object.entries((await stack.ledger()).records).map(([address, record]) => [
        address.slice(-1),
        record?.id,
      ]),
    );
  return { bench, stack, idsOf, recordedIds };
}

describe('An acknowledged exchange of names that failed half-way', () => {
  it('keeps the record of each workspace under its present name, and the same approval continues', async () => {
    const { bench, stack, idsOf, recordedIds } = await begin(...about('a', 'b'));
    const [a = '', b = ''] = await idsOf('a', 'b');
    await rename(bench, { a: 'b', b: 'a' });
    const { digest } = await stack.plan(0);
    const approved = ['apply', '--approve', digest, '--ack', 'reference-changed'];
    refuse(bench, a);
    await stack.run(approved, 6);
    expect(await recordedIds()).toEqual({ a: b, b: a });
    expect((await stack.ledger()).records['Workspace/acme/b']?.fields).toEqual({ description: 'about a' });
    expect(await stack.plan(0)).toMatchObject({ guards: [], changes: [{ name: 'b' }] });
    bench.wire.reset();
    const { out } = await stack.run(approved, 0);
    expect(out).toContain('Of 2 approved changes, 1 is done already; 1 is left to apply');
    expect(await stack.plan(0)).toMatchObject({ guards: [], changes: [] });
    expect(await recordedIds()).toEqual({ a: b, b: a });
  });

  it('continues if three names were rotated, and most of the changes failed', async () => {
    const { bench, stack, idsOf, recordedIds } = await begin(...about('a', 'b', 'c'));
    const [a = '', b = '', c = ''] = await idsOf('a', 'b', 'c');
    await rename(bench, { a: 'b', b: 'c', c: 'a' });
    const { digest } = await stack.plan(0);
    const approved = ['apply', '--approve', digest, '--ack', 'reference-changed'];
    refuse(bench, a, b);
    await stack.run(approved, 6);
    expect(await recordedIds()).toEqual({ a: c, b: a, c: b });
    bench.wire.reset();
    await stack.run(approved, 0);
    expect(await stack.plan(0)).toMatchObject({ guards: [], changes: [] });
  });

  it('continues if the other workspace had nothing to change', async () => {
    const same = ['a', 'b'].map((name) => workspace(name, { description: 'same' }));
    const { bench, stack, idsOf, recordedIds } = await begin(...same);
    const [a = '', b = ''] = await idsOf('a', 'b');
    await rename(bench, { a: 'b', b: 'a' });
    await stack.declare(workspace('a', { description: 'same' }), workspace('b', { description: 'new' }));
    const { digest } = await stack.plan(0);
    const approved = ['apply', '--approve', digest, '--ack', 'reference-changed'];
    refuse(bench, a);
    const { code } = await stack.tryRun(approved);
    expect(code).not.toBe(0);
    expect(await recordedIds()).toEqual({ a: b, b: a });
    bench.wire.reset();
    await stack.run(approved, 0);
  });

  it('still blocks if nothing was recorded, or if the names are given back afterwards', async () => {
    const { bench, stack, idsOf, recordedIds } = await begin(...about('a', 'b'));
    const [a = '', b = ''] = await idsOf('a', 'b');
    await rename(bench, { a: 'b', b: 'a' });
    const { digest } = await stack.plan(0);
    const approved = ['apply', '--approve', digest, '--ack', 'reference-changed'];
    refuse(bench, a, b);
    await stack.run(approved, 1);
    expect(await recordedIds()).toEqual({ a, b });
    expect((await stack.plan(0)).acknowledge).toEqual(['reference-changed']);
    bench.wire.reset();
    refuse(bench, a);
    await stack.run(approved, 6);
    bench.wire.reset();
    await rename(bench, { a: 'b', b: 'a' });
    expect((await stack.plan(0)).acknowledge).toEqual(['reference-changed']);
  });

  it('continues for projects and the workspaces in them', async () => {
    const { bench, stack, idOfProject, change } = await openProjects();
    await stack.setUp(
      project('one', { description: 'about one' }),
      project('two', { description: 'about two' }),
      workspace('app', { project: 'one' }),
    );
    const [one, other] = [await idOfProject('one'), await idOfProject('two')];
    await change(one, { name: 'meanwhile' });
    await change(other, { name: 'one' });
    await change(one, { name: 'two' });
    const { digest } = await stack.plan(0);
    const approved = ['apply', '--approve', digest, '--ack', 'reference-changed'];
    refuse(bench, one);
    await stack.run(approved, 6);
    bench.wire.reset();
    await stack.run(approved, 0);
    expect(await stack.plan(0)).toMatchObject({ guards: [], changes: [] });
  });
});

describe('An acknowledged name', () => {
  it('of a part is recorded alone: the other exchanged names block the plan of the whole stack', async () => {
    const { bench, stack, idsOf, recordedIds } = await begin(...about('a', 'b', 'c'));
    const [, b, c] = await idsOf('a', 'b', 'c');
    await rename(bench, { a: 'b', b: 'c', c: 'a' });
    const select = ['--select', 'Workspace/acme/a'];
    const part = JSON.parse((await stack.run(['plan', '--format', 'json', ...select], 0)).out);
    await stack.run(['apply', ...select, '--approve', part.digest, '--ack', 'reference-changed'], 0);
    expect(await recordedIds()).toEqual({ a: c, b, c });
    expect((await stack.plan(0)).acknowledge).toEqual(['reference-changed', 'unrecorded']);
  });

  it('of one of two equal workspaces does not record the other one, which blocks until acknowledged', async () => {
    const same = ['a', 'b'].flatMap((name) => workspace(name, { description: 'same' }));
    const { bench, stack, idsOf, recordedIds } = await begin(...same);
    const [a = '', b = ''] = await idsOf('a', 'b');
    await rename(bench, { a: 'b', b: 'a' });
    await stack.run(['plan', '--out', 'whole.json'], 0);
    const select = ['--select', 'Workspace/acme/a'];
    const part = JSON.parse((await stack.run(['plan', '--format', 'json', ...select], 0)).out);
    await stack.run(['apply', ...select, '--approve', part.digest, '--ack', 'reference-changed'], 0);
    const left = await stack.plan(0);
    expect(left).toMatchObject({
      changes: [],
      acknowledge: ['reference-changed'],
      guards: [
        {
          id: 'reference-changed',
          concerns: [
            {
              address: 'Workspace/acme/b',
              says: [
                `the ledger has no record of "${a}", and has "${b}" under this name, which is called "a" now: give them their names back in the service, or apply what is declared to the resources as they are called now`,
              ],
            },
          ],
        },
      ],
      changedNames: [{ address: 'Workspace/acme/b', id: a, recorded: [b] }],
    });
    await stack.run(['apply', '--yes'], 5);
    expect(await recordedIds()).toEqual({ a: b, b });
    // An approval of the whole exchange covers the rest of it.
    await stack.run(['apply', 'whole.json', '--ack', 'reference-changed'], 0);
    expect(await recordedIds()).toEqual({ a: b, b: a });
    expect(await stack.plan(0)).toMatchObject({ changes: [], guards: [] });
  });

  it('of one of two equal workspaces blocks also after the names are given back', async () => {
    const same = ['a', 'b'].flatMap((name) => workspace(name, { description: 'same' }));
    const { bench, stack, idsOf, recordedIds } = await begin(...same);
    const [a, b] = await idsOf('a', 'b');
    await rename(bench, { a: 'b', b: 'a' });
    const select = ['--select', 'Workspace/acme/a'];
    const part = JSON.parse((await stack.run(['plan', '--format', 'json', ...select], 0)).out);
    await stack.run(['apply', ...select, '--approve', part.digest, '--ack', 'reference-changed'], 0);
    await rename(bench, { a: 'b', b: 'a' });
    await stack.run(['apply', '--yes'], 5);
    expect(await recordedIds()).toEqual({ a: b, b });
    await stack.applyAcknowledged();
    expect(await recordedIds()).toEqual({ a, b });
  });

  it('of an adoption deletes nothing: the former holder of the name has no record under its new name', async () => {
    const { bench, stack } = await begin(workspace('a', {}, { adopt: true }), workspace('k'));
    await rename(bench, { a: 'x' });
    const attributes = { name: 'a' };
    await bench.byHand.post('/organizations/acme/workspaces', { data: { type: 'workspaces', attributes } });
    const { digest, acknowledge } = await stack.plan(0);
    expect(acknowledge).toEqual(['adopt']);
    // The plan after it would delete the former holder of the name.
    await stack.run(['apply', '--approve', digest, '--ack', 'adopt'], 6);
    expect((await stack.plan(0)).acknowledge).toEqual(['no-record']);
    await stack.run(['apply', '--yes'], 5);
  });
});

describe('The guard "unrecorded"', () => {
  it('names the resource that the ledger has under the name, if it is another one', async () => {
    const { bench, stack, idsOf } = await begin(...about('a'));
    const [a] = await idsOf('a');
    const tags = (await bench.byHand.get(`/workspaces/${a}/tag-bindings`)).resources;
    await bench.byHand.delete(`/workspaces/${a}`);
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: { name: 'a' },
        relationships: {
          'tag-bindings': {
            data: tags.map(({ attributes }) => ({ type: 'tag-bindings', attributes })),
          },
        },
      },
    });
    const [other] = await idsOf('a');
    expect((await stack.plan(0)).guards).toMatchObject([
      {
        id: 'unrecorded',
        concerns: [{ says: [`the ledger has "${a}" under this name, but the live resource is "${other}"`] }],
      },
    ]);
  });
});
