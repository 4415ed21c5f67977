/** Names of managed resources that somebody exchanged in the service: trueup never silently uses a name for another resource. */
import { describe, expect, it } from 'vitest';
import { type ApplyScene, openApplyScene } from '../../support/ci/apply-scene.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, openBench, secrets } from '../../support/cli/bench.ts';
import { consumers, removalRequest, workspace } from '../../support/cli/documents.ts';
import { bothDialects, openProjects, project } from '../../support/cli/projects-scene.ts';

/** Gives each workspace the name that it is mapped to. */
async function rename({ byHand, idOf }: Bench, names: Readonly<Record<string, string>>): Promise<void> {
  const renamed = await Promise.all(
    Object.entries(names).map(async ([name, to]) => ({ id: await idOf(name), to })),
  );
  const change = (id: string, name: string) =>
    byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', attributes: { name } } });
  for (const { id } of renamed) await change(id, `meanwhile-${id}`);
  for (const { id, to } of renamed) await change(id, to);
}

const [a, b, c] = ['a', 'b', 'c'].map((name) => workspace(name, { description: `about ${name}` }));
const two = [a, b].flatMap((one) => one ?? []);
const three = [a, b, c].flatMap((one) => one ?? []);

/** They differ only in names and ids. */
const same = ['a', 'b', 'c'].map((name) => workspace(name, { description: 'the same' }));

type Stack = Awaited<ReturnType<Bench['checkout']>>;

/** The resources that the guard names. */
async function exchanged(stack: Stack, ...words: string[]): Promise<string[]> {
  const { out } = await stack.run(['plan', '--format', 'json', ...words], 0);
  const { guards } = JSON.parse(out) as Awaited<ReturnType<Stack['plan']>>;
  return guards
    .filter(
      ({ id, effect, message }) =>
        id === 'reference-changed' && effect === 'blocks' && message.includes('another resource'),
    )
    .flatMap(({ concerns }) => concerns.map(({ address }) => address));
}

const [atA, atB, atC] = ['Workspace/acme/a', 'Workspace/acme/b', 'Workspace/acme/c'];

describe.each(bothDialects)('In the dialect %s, workspaces that exchanged their names', (dialect) => {
  async function begin(...documents: object[]) {
    const bench = await openBench({ dialects: [dialect] });
    const stack = await bench.checkout({ workspaces: { dialect } });
    await stack.setUp(...documents);
    return { bench, stack };
  }

  it('block documents from standard input, also a removal request and a document of consumers alone', async () => {
    const { bench, stack } = await begin(...three);
    await rename(bench, { a: 'b', b: 'a' });
    bench.wire.reset();
    const fromInput = (document: object) =>
      trueup(['apply', '-', '--yes'], {
        ...{ cwd: stack.directory, env: secrets },
        stdin: JSON.stringify(document),
      });
    for (const document of [
      removalRequest('Workspace', 'a', 'safe'),
      workspace('a', { description: 'other' }),
      consumers('a', { consumers: ['c'] }),
    ]) {
      const { code, out } = await fromInput(document);
      expect(out).toContain('reference-changed');
      expect(code).toBe(5);
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it('block a document from standard input under a name that has no record any more', async () => {
    const { bench, stack } = await begin(...three);
    await bench.byHand.delete(`/workspaces/${await bench.idOf('a')}`);
    await stack.declare(...three.slice(1));
    await stack.run(['apply', '--yes'], 0);
    await rename(bench, { b: 'a' });
    bench.wire.reset();
    const stdin = JSON.stringify(removalRequest('Workspace', 'a', 'safe'));
    const at = { cwd: stack.directory, env: secrets, stdin };
    expect((await trueup(['apply', '-', '--yes'], at)).code).toBe(5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('block a document from standard input that still has one of the names as "renamedFrom"', async () => {
    const { bench, stack } = await begin(workspace('a'));
    await stack.declare(workspace('b', {}, { renamedFrom: 'a' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(...two);
    await stack.run(['apply', '--yes'], 0);
    await rename(bench, { a: 'b', b: 'a' });
    bench.wire.reset();
    const stdin = JSON.stringify(workspace('b', { description: 'new' }, { renamedFrom: 'a' }));
    const at = { cwd: stack.directory, env: secrets, stdin };
    expect((await trueup(['apply', '-', '--yes'], at)).code).toBe(5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('block such a document also after its own workspace was deleted', async () => {
    const { bench, stack } = await begin(...two);
    await bench.byHand.delete(`/workspaces/${await bench.idOf('b')}`);
    bench.wire.reset();
    const stdin = JSON.stringify(workspace('b', { description: 'new' }, { renamedFrom: 'a' }));
    const at = { cwd: stack.directory, env: secrets, stdin };
    expect((await trueup(['apply', '-', '--yes'], at)).code).toBe(5);
    await rename(bench, { a: 'b' });
    expect((await trueup(['apply', '-', '--yes'], at)).code).toBe(5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('block each plan, which shows both with their ids', async () => {
    const { bench, stack } = await begin(...two);
    const [idOfA, idOfB] = [await bench.idOf('a'), await bench.idOf('b')];
    await rename(bench, { a: 'b', b: 'a' });
    const { guards, digest } = await stack.plan(0);
    expect(guards).toMatchObject([
      {
        id: 'reference-changed',
        effect: 'blocks',
        counted: 2,
        concerns: [
          {
            address: atA,
            says: [
              `the ledger has "${idOfB}" as "${atB}", and has "${idOfA}" under this name, which is called "b" now: give them their names back in the service, or apply what is declared to the resources as they are called now`,
            ],
          },
          { address: atB },
        ],
      },
    ]);
    await stack.run(['apply', '--yes'], 5);
    await stack.run(['apply', '--approve', digest], 5);
    const lenient = await stack.reconfigure({
      workspaces: { dialect },
      spec: { guards: { allow: ['reference-changed'] } },
    });
    await lenient.run(['apply', '--yes'], 5);
    expect(bench.written()).toEqual([]);
    await rename(bench, { a: 'b', b: 'a' });
    expect(await stack.plan(0)).toMatchObject({ changes: [], guards: [] });
  });

  it('are changed as declared under their present names once acknowledged, and the next plan is empty', async () => {
    const { bench, stack } = await begin(...two);
    const idOfA = await bench.idOf('a');
    await rename(bench, { a: 'b', b: 'a' });
    await stack.applyAcknowledged();
    expect(await stack.plan(0)).toMatchObject({ changes: [], guards: [] });
    expect((await stack.ledger()).records[atB]?.id).toBe(idOfA);
  });

  it('block also if only one of them would change, or none', async () => {
    const { bench, stack } = await begin(
      workspace('a', { description: 'same' }),
      workspace('b', { description: 'same' }),
    );
    await rename(bench, { a: 'b', b: 'a' });
    expect(await exchanged(stack)).toEqual([atA, atB]);
    await stack.declare(workspace('a', { description: 'new' }), workspace('b', { description: 'same' }));
    expect(await exchanged(stack)).toEqual([atA, atB]);
    await stack.run(['apply', '--yes'], 5);
  });

  it('block in a cycle of three, and in a plan of a part', async () => {
    const { bench, stack } = await begin(...three);
    await rename(bench, { a: 'b', b: 'c', c: 'a' });
    expect(await exchanged(stack)).toEqual([atA, atB, atC]);
    expect(await exchanged(stack, '--select', atB ?? '')).toEqual([atB]);
  });

  it('block if the former holder of the name was deleted', async () => {
    const { bench, stack } = await begin(...two);
    await bench.byHand.delete(`/workspaces/${await bench.idOf('a')}`);
    await rename(bench, { b: 'a' });
    expect(await exchanged(stack)).toEqual([atA]);
    await stack.run(['accept', atB ?? '', '--remove', '--yes'], 1);
  });

  it('block if the name is declared for the first time', async () => {
    const { bench, stack } = await begin(...two);
    await rename(bench, { b: 'c' });
    await stack.declare(...three);
    expect(await exchanged(stack)).toEqual([atC]);
  });

  it('block if a manifest renames one of them at the same time', async () => {
    const { bench, stack } = await begin(...two);
    await rename(bench, { a: 'b', b: 'a' });
    await stack.declare(workspace('new', { description: 'about a' }, { renamedFrom: 'a' }), ...two.slice(1));
    expect(await exchanged(stack)).toEqual([atB, 'Workspace/acme/new']);
  });

  it('block the removal that is requested for one of them', async () => {
    const { bench, stack } = await begin(...two);
    await rename(bench, { a: 'b', b: 'a' });
    await stack.declare(removalRequest('Workspace', 'a', 'safe'), ...two.slice(1));
    expect(await exchanged(stack)).toContain(atA);
    const { guards } = await stack.plan();
    const says = guards.flatMap(({ concerns }) => concerns.flatMap((concern) => concern.says));
    expect(says.join()).toContain('under this name, which is called "b" now; this plan deletes "ws-');
    await stack.run(['apply', '--yes'], 5);
  });

  it('are reported as drift, and accept writes no value of one into the document of the other', async () => {
    const { bench, stack } = await begin(...two);
    await rename(bench, { a: 'b', b: 'a' });
    const { out } = await stack.tryRun(['drift']);
    expect(out).toContain('the applied resource is now called "b"');
    const refused = await stack.run(['accept', '--all', '--yes'], 1);
    expect(refused.out + refused.err).toContain('resource-renamed');
    expect(await exchanged(stack)).toEqual([atA, atB]);
    const { changes } = await stack.plan();
    expect(changes).toHaveLength(2);
  });

  it('do not block if a document follows the rename, or if the new name is not declared', async () => {
    const { bench, stack } = await begin(...two);
    await stack.declare(workspace('c', { description: 'about a' }, { renamedFrom: 'a' }), ...two.slice(1));
    await rename(bench, { a: 'c' });
    expect(await exchanged(stack)).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    await rename(bench, { b: 'd' });
    expect(await exchanged(stack)).toEqual([]);
  });

  it('during an apply are recorded as they were before it, and block the next plan', async () => {
    const { bench, stack } = await begin(...same);
    const idOfA = await bench.idOf('a');
    await stack.declare(...same.slice(0, 2), workspace('c', { description: 'new' }));
    const { digest } = await stack.plan();
    const exchange = () => rename(bench, { a: 'b', b: 'a' });
    bench.wire.add({ method: 'PATCH', path: /ws-/, fault: { first: exchange } });
    const { out } = await stack.run(['apply', '--approve', digest], 6);
    expect(out).toContain('Names were changed in the service during this apply');
    expect(out).toContain(`of ${atA}, ${atB}`);
    expect((await stack.ledger()).records[atA ?? '']?.id).toBe(idOfA);
    expect(await exchanged(stack)).toEqual([atA, atB]);
    await rename(bench, { a: 'b', b: 'a' });
    await stack.run(['apply', '--approve', digest], 0);
    expect(await stack.plan()).toMatchObject({ changes: [], guards: [] });
  });

  it('block in the same way if they are projects', async () => {
    const { stack, idOfProject, change } = await openProjects(dialect);
    await stack.setUp(
      project('one', { description: 'about one' }),
      project('two', { description: 'about two' }),
    );
    const [one, other] = [await idOfProject('one'), await idOfProject('two')];
    await change(one, { name: 'meanwhile' });
    await change(other, { name: 'one' });
    await change(one, { name: 'two' });
    expect(await exchanged(stack)).toEqual(['Project/acme/one', 'Project/acme/two']);
    await stack.run(['apply', '--yes'], 5);
  });
});

describe('A merged pull request about workspaces that exchanged their names', () => {
  it('is stopped by the guard', async () => {
    const scene: ApplyScene = await openApplyScene();
    const first = await scene.pull(two);
    first.approve('alice');
    first.merge();
    await scene.ciApply(0);
    scene.bench.wire.reset();
    await rename(scene.bench, { a: 'b', b: 'a' });
    const second = await scene.pull(three);
    second.approve('alice');
    second.merge();
    await scene.expectRefused(/reference-changed/, 5);
  });
});

describe('An approval of a digest', () => {
  async function begin(...documents: object[]) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents);
    bench.wire.reset();
    return { bench, stack };
  }

  it('does not cover an exchange after the plan was shown, even if the plan changes the same fields', async () => {
    const { bench, stack } = await begin(...same);
    await stack.declare(workspace('a', { description: 'new' }), ...same.slice(1));
    const { digest } = await stack.plan();
    await rename(bench, { a: 'b', b: 'a' });
    const after = await stack.plan();
    expect(after.changes).toHaveLength(1);
    const { out, err } = await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 4);
    expect(`${out}${err}`).toContain(digest);
    expect(bench.wire.writes().filter(({ path }) => path.includes(atA ?? ''))).toEqual([]);
    await stack.run(['apply', '--approve', after.digest, '--ack', 'reference-changed'], 0);
  });

  it('covers only the exchange that the plan showed', async () => {
    const { bench, stack } = await begin(...same);
    await rename(bench, { a: 'b', b: 'a' });
    const { digest, changes, changedNames } = await stack.plan(0);
    expect(changes).toEqual([]);
    expect(changedNames).toMatchObject([
      { address: atA, resource: atA, id: await bench.idOf('a'), recorded: [await bench.idOf('b')] },
      { address: atB, resource: atB, id: await bench.idOf('b'), recorded: [await bench.idOf('a')] },
    ]);
    await rename(bench, { a: 'c', c: 'a' });
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 4);
    await rename(bench, { a: 'c', c: 'a' });
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 0);
    expect((await stack.plan(0)).changedNames).toBeUndefined();
  });

  it('that has ended does not cover a later exchange in an empty plan', async () => {
    const { bench, stack } = await begin(...same);
    await stack.declare(workspace('a', { description: 'new' }), ...same.slice(1));
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest], 0);
    await rename(bench, { b: 'c', c: 'b' });
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 4);
    expect((await stack.plan(0)).acknowledge).toEqual(['reference-changed']);
  });

  it('is refused once the names are given back, as is a plan file', async () => {
    const { bench, stack } = await begin(...same);
    await stack.declare(workspace('a', { description: 'new' }), ...same.slice(1));
    await rename(bench, { a: 'b', b: 'a' });
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { digest } = await stack.plan();
    await rename(bench, { a: 'b', b: 'a' });
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 4);
    await stack.run(['apply', 'plan.json', '--ack', 'reference-changed'], 4);
  });

  it('does not cover a project whose name another one has now, even if the workspace was moved there', async () => {
    const { stack, idOfProject, change, bench } = await openProjects('neutral');
    await stack.setUp(project('one'), project('two'), workspace('app', { project: 'one' }));
    const { digest } = await stack.plan(0);
    const [one, other] = [await idOfProject('one'), await idOfProject('two')];
    await change(one, { name: 'meanwhile' });
    await change(other, { name: 'one' });
    await change(one, { name: 'two' });
    const relationships = { project: { data: { type: 'projects', id: other } } };
    await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
      data: { type: 'workspaces', relationships },
    });
    const after = await stack.plan(0);
    expect(after.changes).toEqual([]);
    expect(after.changedNames?.map(({ address, field }) => [address, field])).toContainEqual([
      'Workspace/acme/app',
      'projectId',
    ]);
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 4);
  });
});

describe('A part of a stack', () => {
  it('with a consumer whose name another workspace has now is blocked, and the plan names it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...three, consumers('c', { consumers: [] }));
    await rename(bench, { a: 'b', b: 'a' });
    await stack.declare(...three, consumers('c', { consumers: ['a'] }));
    const address = 'RemoteStateConsumers/acme/c';
    expect(await exchanged(stack, '--select', address)).toEqual([address]);
    const { out } = await stack.run(['plan', '--select', address, '--format', 'json'], 0);
    expect(out).toContain(`\\"${atA}\\" is another resource now`);
    await stack.run(['apply', '--select', address, '--yes'], 5);
  });

  it('with the consumers of such a workspace says what the recorded workspace is called now', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    // Without differences, so that the workspace itself does not come along.
    const same = ['a', 'b', 'c'].map((name) => workspace(name, { description: 'the same' }));
    await stack.setUp(...same, consumers('a', { consumers: ['c'] }));
    await rename(bench, { a: 'b', b: 'a' });
    const address = 'RemoteStateConsumers/acme/a';
    expect(await exchanged(stack, '--select', address)).toEqual([address]);
    const { out } = await stack.run(['plan', '--select', address, '--format', 'json'], 0);
    expect(out).toContain('which is called \\"b\\" now');
    expect(out).not.toContain('was not found');
  });
});
