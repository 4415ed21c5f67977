// Plan and apply in `neutral`, the specifications as written, against a recording service: what differs from real services.
import { describe, expect, it } from 'vitest';
import { openOrganization } from '../support/dialects/open-organization.ts';
import { workspace } from '../support/dialects/stack-folder.ts';

const repository = { identifier: 'acme/app', vcsAppInstallationId: 'ghain-1' };
const app = { engineVersion: '~> 1.9.0', vcsRepo: repository, tags: { env: 'prod' } };

describe('a stack in neutral', () => {
  it('is applied with the names of the specifications', async () => {
    const { service, stack } = await openOrganization('neutral');
    const shown = await stack.make(workspace('app', app));
    expect(shown).toContain('"engine-version": "~> 1.9.0"');
    expect(service.unknownMembers).toEqual([]);
    const sent = JSON.stringify(service.requests);
    expect(sent).not.toMatch(/terraform|github|vault|kubernetes/i);
  });

  it('connects an app installation right after the creation, which does not accept one', async () => {
    const { service, stack } = await openOrganization('neutral');
    await stack.make(workspace('app', app));
    const { id } = service.workspace('app');
    expect(service.writes()).toEqual(['POST /organizations/acme/workspaces', `PATCH /workspaces/${id}`]);
    expect(JSON.stringify(service.bodies('/organizations/acme/workspaces')[0])).not.toContain('vcs-repo');
    expect(service.bodies(id)).toEqual([
      {
        data: {
          type: 'workspaces',
          attributes: { 'vcs-repo': { identifier: 'acme/app', 'vcs-app-installation-id': 'ghain-1' } },
        },
      },
    ]);
  });

  it('replaces all tag bindings to add one, ownership tag included', async () => {
    const { service, stack } = await openOrganization('neutral');
    await stack.make(workspace('app', { tags: { env: 'prod' } }));
    const { id } = service.workspace('app');
    service.clear();
    await stack.make(workspace('app', { tags: { env: 'prod', team: 'network' } }));
    expect(service.writes()).toEqual([`PATCH /workspaces/${id}`]);
    expect(service.bodies(id)).toEqual([
      {
        data: {
          type: 'workspaces',
          attributes: { 'assessments-enabled': false },
          relationships: {
            'tag-bindings': {
              data: [
                { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
                { type: 'tag-bindings', attributes: { key: 'team', value: 'network' } },
                {
                  type: 'tag-bindings',
                  attributes: { key: 'trueup-stack', value: expect.stringMatching(/^payments:id=/) },
                },
              ],
            },
          },
        },
      },
    ]);
  });

  it('never sends fields that only real services have', async () => {
    const { service, stack } = await openOrganization('neutral');
    await stack.make(workspace('app', { autoDestroyActivityDuration: '14d' }));
    await stack.make(workspace('app', { autoDestroyActivityDuration: '15d' }));
    expect(JSON.stringify(service.requests)).not.toContain('inherits-project-auto-destroy');
    expect(service.writes().some((line) => line.endsWith('/tag-bindings'))).toBe(false);
  });

  it('finds manual changes, and reverts them', async () => {
    const { service, stack } = await openOrganization('neutral');
    await stack.make(workspace('app', app));
    const live = service.workspace('app');
    live.version = '1.8.0';
    live.tags.set('env', 'staging');
    const { changes } = await stack.plan();
    expect(changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual([
      '/engineVersion',
      '/tags/env',
    ]);
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(live.tags.get('trueup-stack')).toMatch(/^payments:id=/);
  });
});
