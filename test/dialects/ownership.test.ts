// Ownership tags and names through both workspace dialects: the requests differ, and the results do not.
import { describe, expect, it } from 'vitest';
import { openOrganization } from '../support/dialects/open-organization.ts';
import { workspace } from '../support/dialects/stack-folder.ts';

/** Tag bindings of one request's body, in both forms of the dialects: `key=value`. */
function bindingsIn(body: unknown): string[] {
  const { data } = body as { data: unknown };
  const list = Array.isArray(data) ? data : bindingsOf(data as Resource);
  return list.map(({ attributes }: Binding) => `${attributes.key}=${attributes.value}`);
}

interface Binding {
  readonly attributes: { readonly key: string; readonly value: string };
}

interface Resource {
  readonly relationships?: { readonly 'tag-bindings'?: { readonly data: readonly Binding[] } };
}

function bindingsOf({ relationships }: Resource): readonly Binding[] {
  return relationships?.['tag-bindings']?.data ?? [];
}

describe.each(['hcp-terraform', 'neutral'] as const)('through %s', (dialect) => {
  it('a removed ownership tag is restored together with changes of tags and settings', async () => {
    const { service, stack } = await openOrganization(dialect);
    await stack.make(workspace('app', { description: 'one', tags: { env: 'prod', team: 'network' } }));
    const app = service.workspace('app');
    app.tags.delete('trueup-stack');
    await stack.make(workspace('app', { description: 'two', tags: { env: 'prod' } }));
    expect([...app.tags]).toEqual([
      ['env', 'prod'],
      ['trueup-stack', expect.stringMatching(/^payments:id=/)],
    ]);
  });

  it('protection and release are stored in the ownership tag, and other tags are kept', async () => {
    const { service, stack } = await openOrganization(dialect);
    await stack.make(workspace('app', { tags: { env: 'prod' } }));
    const app = service.workspace('app');
    app.tags.set('hc:managed', 'yes');
    await stack.make(workspace('app', { tags: { env: 'prod' } }, { protect: true, onRemove: 'release' }));
    expect(Object.fromEntries(app.tags)).toEqual({
      env: 'prod',
      'hc:managed': 'yes',
      'trueup-stack': expect.stringMatching(/^payments:protect:release:id=/),
    });
    await stack.make(workspace('app', { tags: { env: 'prod' } }, { onRemove: 'release' }));
    await stack.make('');
    expect(Object.fromEntries(app.tags)).toEqual({ env: 'prod', 'hc:managed': 'yes' });
  });

  it('a rename keeps the workspace, its tags and its ownership tag', async () => {
    const { service, stack } = await openOrganization(dialect);
    await stack.make(workspace('app', { tags: { env: 'prod' } }));
    const { id } = service.workspace('app');
    service.clear();
    await stack.make(workspace('service', { tags: { env: 'prod' } }, { renamedFrom: 'app' }));
    expect(service.workspace('service').id).toBe(id);
    expect(service.writes()).toEqual([`PATCH /workspaces/${id}`]);
    expect(service.bodies(id)).toMatchObject([{ data: { attributes: { name: 'service' } } }]);
  });

  it('every write of tags contains the ownership tag', async () => {
    const { service, stack } = await openOrganization(dialect);
    await stack.make(workspace('app', { tags: { env: 'prod' } }));
    await stack.make(workspace('app', { tags: { env: 'prod', team: 'network' } }));
    await stack.make(workspace('app', { tags: { team: 'network' } }));
    await stack.make(workspace('app', {}));
    const replacing = service.requests
      .filter(({ text }) => text.includes('"relationships"') && text.includes('tag-bindings'))
      .map(({ body }) => bindingsIn(body));
    expect(replacing.length).toBeGreaterThan(1);
    for (const bindings of replacing)
      expect(bindings).toContainEqual(expect.stringMatching(/^trueup-stack=payments:id=/));
    const adding = service.requests
      .filter(({ path }) => path.endsWith('/tag-bindings'))
      .map(({ body }) => body);
    expect(adding.map(bindingsIn)).toEqual(dialect === 'neutral' ? [] : [['team=network']]);
  });

  it('a workspace of another stack blocks the apply before anything is written', async () => {
    const { service, stack } = await openOrganization(dialect);
    service.create('app').tags.set('trueup-stack', 'billing:protect');
    await stack.declare(workspace('app', {}) + workspace('new', {}));
    const { problems } = await stack.plan();
    expect(problems.map(({ code }) => code)).toEqual(['claimed-by-another-stack']);
    await stack.run('apply --yes', 9);
    expect(service.writes()).toEqual([]);
  });
});
