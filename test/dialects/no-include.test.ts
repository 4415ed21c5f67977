// Services that cannot include tag bindings in a list: some refuse the parameter, others ignore it silently.
import { describe, expect, it } from 'vitest';
import { openOrganization } from '../support/dialects/open-organization.ts';
import { workspace } from '../support/dialects/stack-folder.ts';

const note =
  'the service does not include tag bindings in its list of workspaces: they were read one workspace at a time, only for declared workspaces and those with an ownership tag';

const dialects = ['hcp-terraform', 'neutral'] as const;

describe.each(dialects)('tag bindings through %s', (dialect) => {
  it.each(['refused', 'ignored'] as const)(
    'are read one workspace at a time if the include is %s',
    async (include) => {
      const { service, stack } = await openOrganization(dialect, { include });
      for (let index = 0; index < 5; index++) service.create(`bystander-${index}`);
      const manifests = workspace('app', { tags: { env: 'prod' } }) + workspace('plain', {});
      await stack.make(manifests);
      service.clear();
      const { coverage } = await stack.plan();
      expect(coverage).toMatchObject({ complete: true, targets: [{ limits: [note] }] });
      const lists = service.requests.filter(({ path }) => path.includes('/organizations/'));
      expect(lists.map(({ path }) => decodeURIComponent(path))).toEqual(
        expect.arrayContaining([expect.stringContaining('filter[tagged][0][key]=trueup-stack')]),
      );
      const reads = service.requests.filter(({ path }) => path.endsWith('tag-bindings'));
      expect(reads.map(({ path }) => path).sort()).toEqual(
        ['app', 'plain']
          .map((name) => `/api/v2/workspaces/${service.workspace(name).id}/tag-bindings`)
          .sort(),
      );
      expect(service.writes()).toEqual([]);
      expect((await stack.run('plan')).out).toContain(note.slice(0, 60));
    },
  );

  it('show drift and deletes, even without the include', async () => {
    const { service, stack } = await openOrganization(dialect, { include: 'ignored' });
    await stack.make(workspace('app', { tags: { env: 'prod' } }) + workspace('gone', {}));
    service.workspace('app').tags.set('env', 'by hand');
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    const { changes } = await stack.plan();
    expect(changes.map(({ address, action }) => [address, action])).toEqual([
      ['TagBindings/acme/app', 'update'],
      ['Workspace/acme/gone', 'delete'],
    ]);
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect([...service.workspace('app').tags]).toEqual(expect.arrayContaining([['env', 'prod']]));
  });

  it('without an own ownership tag are distinguished from those with a tag of the project', async () => {
    const projects = [{ id: 'prj-default', tags: { 'trueup-stack': 'payments' } }];
    const { service, stack } = await openOrganization(dialect, { include: 'refused', projects });
    service.create('app');
    await stack.declare(workspace('app', {}));
    const { problems } = await stack.plan();
    expect(problems.map(({ code }) => code)).toEqual(['claim-inherited']);
  });
});
