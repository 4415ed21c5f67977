/** Defaults of a stack that apply to some manifests: to which ones, and which of several defaults wins. */
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

async function scene(defaults: unknown, ...documents: readonly object[]): Promise<Checkout> {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: { defaults } });
  await stack.declare(...documents);
  return stack;
}

/** What a plan would set, by address: `field=value`, sorted, without the ownership tag. */
async function planned(stack: Checkout): Promise<Record<string, readonly string[]>> {
  const { changes } = await stack.plan();
  return Object.fromEntries(
    changes.map(({ address, fields }) => [
      address.replace('/acme/', ' '),
      fields
        .filter(({ path }) => path !== '/claim')
        .map(({ path, after }) => `${path.slice(1)}=${JSON.stringify(after)}`)
        .toSorted(),
    ]),
  );
}

const tagged = (name: string, tags: object, spec: object = {}) => workspace(name, { ...spec, tags });

describe('Defaults with a match', () => {
  it('apply to names that match one of the patterns, and to all names without a match', async () => {
    const stack = await scene(
      [
        { Workspace: { description: 'any' } },
        { match: { name: ['net-*', 'app'] }, Workspace: { queueAllRuns: true } },
      ],
      ...['net-a', 'app', 'apps'].map((name) => workspace(name)),
    );
    expect(await planned(stack)).toEqual({
      'Workspace net-a': ['description="any"', 'queueAllRuns=true'],
      'Workspace app': ['description="any"', 'queueAllRuns=true'],
      'Workspace apps': ['description="any"'],
    });
  });

  it('let later entries win, merge maps by key, and let the manifest win over all', async () => {
    const stack = await scene(
      [
        { Workspace: { description: 'first', workingDirectory: 'first', tags: { a: '1', b: '1' } } },
        {
          match: { name: '*' },
          Workspace: { description: 'second', workingDirectory: 'second', tags: { b: '2', c: '2' } },
        },
      ],
      tagged('app', { c: '3' }, { workingDirectory: 'own' }),
    );
    expect(await planned(stack)).toEqual({
      'Workspace app': ['description="second"', 'workingDirectory="own"'],
      'TagBindings app': ['tags={"a":"1","b":"2","c":"3"}'],
    });
  });

  it('match the tags of a manifest, but not tags from other defaults', async () => {
    const stack = await scene(
      [
        { Workspace: { tags: { env: 'prod' } } },
        { match: { tags: { env: 'prod' } }, Workspace: { description: 'matched' } },
        { match: { tags: { env: ['p*', 'dev'], team: '*' } }, Workspace: { queueAllRuns: true } },
      ],
      workspace('inherits'),
      tagged('own', { env: 'prod' }),
      tagged('both', { env: 'prod', team: 'x' }),
    );
    expect(await planned(stack)).toMatchObject({
      'Workspace inherits': [],
      'Workspace own': ['description="matched"'],
      'Workspace both': ['description="matched"', 'queueAllRuns=true'],
    });
  });

  it('apply by project, and only to their kinds', async () => {
    const stack = await scene(
      [
        {
          match: { project: 'prj-*' },
          Workspace: { description: 'grouped' },
          ClusterAuthRole: { tokenNumUses: 5 },
        },
      ],
      workspace('one', { projectId: 'prj-1' }),
      workspace('two'),
      role('web'),
    );
    const { out } = await stack.run(['render'], 0);
    expect(out).toContain('description: grouped');
    expect(out.match(/grouped/g)).toHaveLength(1);
    expect(out).not.toContain('tokenNumUses: 5');
  });

  it('apply by target, also if a document names several targets or none', async () => {
    const bench = await openBench({ mounts: ['cluster', 'second'] });
    const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
    const text = (await import('node:fs')).readFileSync(`${stack.directory}/trueup.yaml`, 'utf8');
    const written = JSON.parse(text);
    const [acme, prod] = written.spec.targets;
    written.spec.targets = [acme, prod, { ...prod, name: 'second', mount: 'second' }];
    written.spec.defaults = [
      { match: { target: 'second' }, ClusterAuthRole: { tokenNumUses: 7 } },
      { match: { target: 'acme' }, Workspace: { description: 'here' } },
    ];
    await stack.write('trueup.yaml', JSON.stringify(written));
    const both = role('web');
    await stack.declare(
      { ...both, metadata: { name: 'web', targets: ['prod', 'second'] } },
      workspace('app'),
    );
    const { out } = await stack.run(['render'], 0);
    const documents = out.split('---\n');
    expect(
      documents.filter((one) => one.includes('tokenNumUses: 7')).map((one) => /target: (\w+)/.exec(one)?.[1]),
    ).toEqual(['second']);
    expect(out).toContain('description: here');
  });

  it('do not apply to a manifest with "defaults: false"', async () => {
    const excluded = { ...workspace('app'), metadata: { name: 'app', defaults: false } };
    const stack = await scene({ Workspace: { description: 'any', tags: { a: 'b' } } }, excluded);
    expect(await planned(stack)).toEqual({ 'Workspace app': [] });
  });

  it('match the resources of a template, not the template', async () => {
    const stack = await scene([{ match: { name: '*-prod' }, Workspace: { description: 'careful' } }]);
    await stack.write(
      'manifests/all.yaml',
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: "app-${each.key}", each: [dev, prod] }\nspec: {}\n',
    );
    expect(await planned(stack)).toEqual({
      'Workspace app-dev': [],
      'Workspace app-prod': ['description="careful"'],
    });
  });

  it('are left out of exported manifests that they apply to', async () => {
    const bench = await openBench();
    await bench.byHand.created({ name: 'net-a', description: 'nets' });
    await bench.byHand.created({ name: 'app', description: 'nets' });
    const stack = await bench.checkout({
      spec: { defaults: [{ match: { name: 'net-*' }, Workspace: { description: 'nets' } }] },
    });
    await stack.declare(workspace('other'));
    const { out } = await stack.run(['export'], 0);
    expect(out.match(/description: nets/g)).toHaveLength(1);
  });

  it.each([
    ['an empty match', { match: {}, Workspace: {} }, 'too-few'],
    ['an unknown condition', { match: { names: 'x' }, Workspace: {} }, 'unknown-field'],
    ['an unknown kind', { match: { name: 'x' }, Workspaces: {} }, 'unknown-kind'],
    ['a wrong value', { match: { name: 'x' }, Workspace: { autoApply: 'yes' } }, 'wrong-type'],
    ['a match that is a text', { match: 'x', Workspace: {} }, 'wrong-type'],
  ])('are refused with %s', async (_, entry, code) => {
    const stack = await scene([entry], workspace('app'));
    const { out } = await stack.run(['validate', '--format', 'json'], 7);
    expect(JSON.parse(out).diagnostics.map((found: { code: string }) => found.code)).toEqual([code]);
  });
});
