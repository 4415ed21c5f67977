/**
 * Two repositories with a stack of the same name: the id in ledger and ownership tags, and the repository in the ledger, keep them from
 * undoing each other's changes.
 */
import { execFileSync } from 'node:child_process';
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { tagBindings, workspace } from '../../support/cli/documents.ts';

const claimOf = async (bench: Bench, name: string) => {
  const { resources } = await bench.byHand.get(`/workspaces/${await bench.idOf(name)}/tag-bindings`);
  return resources.find(({ attributes }) => attributes['key'] === 'trueup-stack')?.attributes['value'];
};
const stored = async (stack: Checkout) =>
  (await stack.ledger()) as unknown as {
    version: number;
    stackId: string;
    repository?: { remote?: string; path: string };
  };
const setClaim = async (bench: Bench, name: string, value: string) =>
  bench.byHand.patch(`/workspaces/${await bench.idOf(name)}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value } }],
  });
const git = (stack: Checkout, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: stack.directory });

describe('The id of a stack', () => {
  it('is new if a repository without a ledger takes over, and the other repository is stopped', async () => {
    const bench = await openBench();
    const theirs = await bench.checkout();
    await theirs.declare(workspace('app', { description: 'theirs' }));
    await theirs.run(['apply', '--yes'], 0);
    const { stackId } = await stored(theirs);
    const mine = await bench.checkout();
    await mine.declare(workspace('app', { description: 'mine' }));
    const refused = (await mine.run(['apply', '--yes'], 9)).out.replace(/\s+/g, ' ');
    expect(refused).toContain('fix: if the ledger of this stack was lost, rebuild it with "trueup recover"');
    const { out } = await mine.run(['recover', '--adopt-repository', '--yes'], 0);
    expect(out).toContain(`These have the id "${stackId}" in their ownership tag, and become this stack's`);
    await mine.run(['apply', '--yes'], 0);
    expect((await stored(mine)).stackId).not.toBe(stackId);
    expect(await claimOf(bench, 'app')).toBe(`payments:id=${(await stored(mine)).stackId}`);
    await theirs.run(['apply', '--yes'], 9);
    await mine.run(['plan', '--exit-code'], 0);
  });

  it('stays if there is nothing to take over, and "recover --adopt-repository" says so', async () => {
    const stack = await (await openBench()).checkout();
    git(stack, 'init', '--quiet');
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run(['recover', '--adopt-repository', '--yes'], 0);
    expect(out).toContain('The ledger was written from trueup.yaml, which is this stack file.');
    expect(out).not.toMatch(/belong|those tags/);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('protects a workspace of the other repository also if its ownership tag was removed', async () => {
    const bench = await openBench();
    const theirs = await bench.checkout();
    const mine = await bench.checkout();
    await theirs.declare(workspace('billing', { description: 'theirs' }));
    await theirs.run(['apply', '--yes'], 0);
    await mine.declare(workspace('app'));
    await mine.run(['apply', '--yes'], 0);
    await bench.byHand.patch(`/workspaces/${await bench.idOf('billing')}`, {
      data: { type: 'workspaces', relationships: { 'tag-bindings': { data: [] } } },
    });
    await mine.declare(workspace('app'), workspace('billing', { description: 'mine' }));
    expect((await mine.run(['apply', '--yes'], 9)).out).toContain(
      'exists without an ownership tag of any stack',
    );
    expect((await bench.byHand.attributes(await bench.idOf('billing')))['description']).toBe('theirs');
  });

  it('is made by the first apply, and is in the ledger and in each ownership tag', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web', {}, { protect: true, onRemove: 'release' }));
    await stack.run(['apply', '--yes'], 0);
    const { stackId, version } = await stored(stack);
    expect(version).toBe(3);
    expect(stackId).toMatch(/^[0-9a-f]{8}$/);
    expect(await claimOf(bench, 'app')).toBe(`payments:id=${stackId}`);
    expect(await claimOf(bench, 'web')).toBe(`payments:protect:release:id=${stackId}`);
    await stack.run(['apply', '--yes'], 0);
    expect((await stored(stack)).stackId).toBe(stackId);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['drift'], 0);
  });

  it('is not part of the digest, of fields, or of the tags that export writes', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const { digest, changes } = await stack.plan();
    expect(changes[0]?.fields).toContainEqual({ path: '/claim', after: 'payments', shape: 'scalar' });
    await stack.run(['apply', '--approve', digest], 0);
    expect((await stack.run(['export', '--all', '--target', 'acme'], 0)).out).not.toContain('trueup-stack');
  });

  it('is added when the tags of a workspace are written anyway, and never by itself', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('web'));
    const { stackId } = await stored(stack);
    for (const name of ['app', 'web']) await setClaim(bench, name, 'payments');
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['drift'], 0);
    await stack.declare(workspace('app', { tags: { team: 'a' } }), workspace('web', { description: 'new' }));
    await stack.run(['apply', '--yes'], 0);
    expect(await claimOf(bench, 'app')).toBe(`payments:id=${stackId}`);
    expect(await claimOf(bench, 'web')).toBe('payments');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each(['neutral', 'hcp-terraform'])(
    'is added together with the protection and a tag of the same plan, through %s',
    async (dialect) => {
      const bench = await openBench({ dialects: [dialect] });
      const stack = await bench.checkout({ workspaces: { dialect } });
      await stack.setUp(workspace('app'), workspace('web'));
      const { stackId } = await stored(stack);
      await setClaim(bench, 'app', 'payments');
      const tags = { env: 'prod' };
      await stack.declare(workspace('app', { tags }, { protect: true }), workspace('web'));
      await stack.run(['apply', '--yes'], 0);
      expect(await claimOf(bench, 'app')).toBe(`payments:protect:id=${stackId}`);
      expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'payments:protect', ...tags });
      await stack.declare(workspace('web'));
      await stack.run(['apply', '--yes'], 0);
      expect(await bench.idsOf('app')).toHaveLength(1);
    },
  );

  it('is the same for two first applies that begin at the same time', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web'));
    const both = await Promise.all(
      [1, 2].map(() => stack.tryRun(['apply', '--yes', '--lock-timeout', '60s'])),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const { stackId } = await stored(stack);
    expect([await claimOf(bench, 'app'), await claimOf(bench, 'web')]).toEqual([
      `payments:id=${stackId}`,
      `payments:id=${stackId}`,
    ]);
  });
});

describe('Two repositories with a stack of the same name', () => {
  const twoRepositories = async () => {
    const bench = await openBench();
    const [one, two] = [await bench.checkout(), await bench.checkout()];
    await one.setUp(workspace('app', { description: 'of one' }));
    await two.declare(workspace('app', { description: 'of two' }), workspace('own'));
    return { bench, one, two };
  };

  it('do not write what has the id of the other one', async () => {
    const { bench, one, two } = await twoRepositories();
    const { stackId } = await stored(one);
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { out } = await two.run(args, 9);
      expect(out).toContain('claimed-by-another-id');
      expect(out.replace(/\s+/g, ' ')).toContain(`has the id "${stackId}"`);
      expect(out).toContain('recover --adopt-repository');
    }
    expect(bench.written()).toEqual([]);
    await two.declare(workspace('own'));
    await two.run(['apply', '--yes'], 0);
    await two.declare(workspace('own', { description: 'x' }), workspace('app'));
    await two.run(['apply', '--yes'], 9);
    await one.run(['plan', '--exit-code'], 0);
  });

  it('get one error for all resources with the same id', async () => {
    const bench = await openBench();
    const [one, two] = [await bench.checkout(), await bench.checkout()];
    const all = Array.from({ length: 6 }, (_, at) => workspace(`app-${at}`));
    await one.setUp(...all);
    await two.declare(...all);
    const { stackId } = await stored(one);
    const { problems } = await two.plan(9);
    expect(problems).toMatchObject([
      {
        code: 'claimed-by-another-id',
        message: expect.stringMatching(
          /^each of 6 resources \("Workspace\/acme\/app-0", "Workspace\/acme\/app-1", "Workspace\/acme\/app-2" and 3 more\) belongs to another stack/,
        ),
      },
    ]);
    expect(problems[0]?.message).toContain(`has the id "${stackId}"`);
  });

  it('can be joined: the one that takes over writes its id, and the other one is stopped', async () => {
    const { bench, one, two } = await twoRepositories();
    await two.declare(workspace('own'));
    await two.run(['apply', '--yes'], 0);
    await two.declare(workspace('own'), workspace('app', { description: 'of two' }));
    await two.run(['recover', '--yes'], 0);
    await two.run(['plan'], 9);
    expect((await two.run(['recover', '--adopt-repository', '--yes'], 0)).out).toContain(
      'Workspace/acme/app',
    );
    expect((await two.run(['apply', '--yes'], 5)).out).toMatch(/blocks +unrecorded/);
    await two.applyAcknowledged();
    const { stackId } = await stored(two);
    expect(await claimOf(bench, 'app')).toBe(`payments:id=${stackId}`);
    await two.run(['plan', '--exit-code'], 0);
    await one.run(['plan'], 9);
  });

  it('stop each other whenever one of them has taken over and applied', async () => {
    const { bench, one, two } = await twoRepositories();
    await two.declare(workspace('own'));
    await two.run(['apply', '--yes'], 0);
    await two.declare(workspace('own'), workspace('app', { description: 'of two' }));
    await two.run(['recover', '--adopt-repository', '--yes'], 0);
    await two.applyAcknowledged();
    await one.run(['apply', '--yes'], 9);
    await one.run(['recover', '--adopt-repository', '--yes'], 0);
    await one.declare(workspace('own'), workspace('app', { description: 'of one' }));
    await one.applyAcknowledged();
    await two.run(['apply', '--yes'], 9);
    expect((await bench.byHand.attributes(await bench.idOf('app')))['description']).toBe('of one');
  });

  it('have different ids, also if the ledger that takes over had none yet', async () => {
    const bench = await openBench();
    const [one, two] = [await bench.checkout(), await bench.checkout()];
    await two.declare(workspace('app', { description: 'of two' }));
    await two.run(['recover', '--yes'], 0);
    await one.setUp(workspace('app', { description: 'of one' }));
    await two.run(['apply', '--yes'], 9);
    await two.run(['recover', '--adopt-repository', '--yes'], 0);
    expect((await stored(two)).stackId).not.toBe((await stored(one)).stackId);
    await two.applyAcknowledged();
    await one.run(['apply', '--yes'], 9);
  });

  it('are not joined while a target cannot be read', async () => {
    const { bench, one, two } = await twoRepositories();
    await two.run(['recover', '--yes'], 0);
    const before = await readFile(two.ledgerFile, 'utf8');
    bench.wire.add({ method: 'GET', path: /\/workspaces\?/, times: 99, fault: { answer: 403, body: {} } });
    const { err } = await two.run(['recover', '--adopt-repository', '--yes'], 1);
    expect(err).toContain('nothing was written: not everything could be read');
    expect(await readFile(two.ledgerFile, 'utf8')).toBe(before);
    await one.run(['plan', '--exit-code'], 1);
  });
});

describe('A lost ledger', () => {
  const lost = async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('web'));
    const { stackId } = await stored(stack);
    await rm(stack.ledgerFile);
    return { bench, stack, stackId };
  };

  it('is a conflict until recover takes the id from the tags', async () => {
    const { stack, stackId } = await lost();
    expect((await stack.run(['plan'], 9)).out).toContain('trueup recover');
    await stack.run(['recover', '--yes'], 0);
    expect((await stored(stack)).stackId).toBe(stackId);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is not rebuilt if its tags have different ids, unless all of them are taken over', async () => {
    const { bench, stack } = await lost();
    await setClaim(bench, 'web', 'payments:id=0123abcd');
    const { err } = await stack.run(['recover', '--yes'], 9);
    expect(err).toContain('0123abcd');
    await stack.run(['recover', '--adopt-repository', '--yes'], 0);
    await stack.run(['apply', '--yes'], 0);
    const { stackId } = await stored(stack);
    expect(await claimOf(bench, 'web')).toBe(`payments:id=${stackId}`);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('The guard unrecorded', () => {
  const unrecorded = async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('web', { description: 'x' }));
    await stack.loseLedger();
    bench.wire.reset();
    return { bench, stack };
  };

  it('blocks if our tag is there, the ledger has no record, and something differs', async () => {
    const { bench, stack } = await unrecorded();
    await stack.declare(workspace('app'), workspace('web', { description: 'y' }));
    const { guards } = await stack.plan();
    expect(guards).toMatchObject([{ id: 'unrecorded', effect: 'blocks', counted: 1 }]);
    await stack.run(['apply', '--yes'], 5);
    expect(bench.written()).toEqual([]);
    await stack.applyAcknowledged();
    await stack.declare(workspace('app'), workspace('web', { description: 'z' }));
    await stack.run(['apply', '--yes'], 0);
  });

  it('blocks also if only the tags differ', async () => {
    const { stack } = await unrecorded();
    await stack.declare(
      workspace('app'),
      workspace('web', { description: 'x' }),
      tagBindings('app', { tags: { a: 'b' } }),
    );
    await stack.run(['apply', '--yes'], 5);
  });

  it('does not block if nothing differs', async () => {
    const { stack } = await unrecorded();
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('The repository in the ledger', () => {
  const inRepository = async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    git(stack, 'init', '-q');
    git(stack, 'remote', 'add', 'origin', 'https://ci:secret-login@git.test/Acme/infra.git');
    await stack.setUp(workspace('app'));
    return { bench, stack };
  };

  it('is its remote without login, and the path of the stack file', async () => {
    const { stack } = await inRepository();
    const { repository } = await stored(stack);
    expect(repository).toEqual({ remote: 'git.test/acme/infra', path: 'trueup.yaml' });
    git(stack, 'remote', 'set-url', 'origin', 'git@git.test:acme/infra');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is a conflict in another repository, until that one takes over', async () => {
    const { stack } = await inRepository();
    git(stack, 'remote', 'set-url', 'origin', 'https://git.test/other/infra.git');
    for (const args of [['plan'], ['drift'], ['apply', '--yes']])
      expect((await stack.run(args, 9)).out).toContain('git.test/acme/infra');
    await stack.run(['recover', '--adopt-repository', '--yes'], 0);
    expect((await stored(stack)).repository?.remote).toBe('git.test/other/infra');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('may hold the stack file at a new path, but not two of them', async () => {
    const { bench, stack } = await inRepository();
    await stack.write('infra/trueup.yaml', '');
    for (const name of ['trueup.yaml', 'manifests', '.trueup'])
      await cp(join(stack.directory, name), join(stack.directory, 'infra', name), { recursive: true });
    expect((await stack.run(['plan', 'infra'], 9)).out).toContain('another stack file');
    await rm(join(stack.directory, 'trueup.yaml'));
    await stack.run(['apply', 'infra', '--yes'], 0);
    expect(bench.written()).toEqual([]);
  });
});
