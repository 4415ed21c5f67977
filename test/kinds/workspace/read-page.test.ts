/** One page of the list instead of many single reads: it shows the same workspaces, or a workspace is read by itself. */
import { afterEach, describe, expect, it } from 'vitest';
import { tagBindings } from '../../../src/kinds/tag-bindings/index.ts';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import { pages } from '../../../src/kinds/workspace/read.ts';
import {
  type Organization,
  openCannedOrganization,
  openEmbeddedOrganization,
} from '../../support/services/workspaces/open-organization.ts';
import {
  bareAttributes,
  declare,
  inAcme,
  readRequest,
} from '../../support/services/workspaces/plan-organization.ts';

let organization: Organization | undefined;
afterEach(async () => {
  await organization?.close();
  organization = undefined;
});

const addressOf = (name: string, of = 'Workspace') => ({ kind: of, target: 'acme', name });

describe('A page of the list', () => {
  it('shows each workspace like a single read does', async () => {
    organization = await openEmbeddedOrganization({
      projects: [{ name: 'shared', 'tag-bindings': { 'trueup-stack': 'network', team: 'inherited' } }],
      workspaces: [
        { name: 'a', 'tag-bindings': { 'trueup-stack': 'mine:id=0123abcd', env: 'prod' } },
        { name: 'b', project: 'shared', 'global-remote-state': true },
        { name: 'c', 'source-name': 'trueup/mine', tags: ['one'], 'resource-count': 3 },
        { name: 'd', id: 'ws-d', 'tag-bindings': { env: '' } },
      ],
    });
    const attributes = { description: 'text', 'execution-mode': 'local', 'trigger-prefixes': ['/x'] };
    await organization.send('PATCH', '/workspaces/ws-d', { data: { type: 'workspaces', attributes } });
    const { session, newSession } = organization;
    const listed = (await kind.read(session, readRequest([declare('Workspace', 'a')]))).resources;
    expect(listed.map(({ listIndex }) => listIndex)).toEqual([0, 1, 2, 3]);
    const recent = newSession();
    for (const { address, id = '', listIndex } of listed) {
      const about = { page: 0, recent, address, id };
      const alone = await kind.readOne(newSession(), address, id);
      expect(await pages.read(newSession(), about), address.name).toEqual({ ...alone, listIndex });
      const tags = addressOf(address.name, 'TagBindings');
      const tagsAlone = await tagBindings.readOne(newSession(), tags, id);
      expect(await tagBindings.pages?.read(newSession(), { ...about, address: tags })).toEqual({
        ...tagsAlone,
        listIndex,
      });
    }
    const isPage = (line: string) => line.includes('/organizations/acme/workspaces?');
    expect(organization.seen.filter(isPage), 'one for the plan, one for all of them').toHaveLength(2);
  });

  const document = (name: string, relationships: object = {}) => ({
    id: `ws-${name}`,
    type: 'workspaces',
    attributes: { ...bareAttributes, name },
    relationships: { ...inAcme, 'effective-tag-bindings': { data: [] }, ...relationships },
  });

  async function onPage(data: readonly object[], id: string, more: object = {}) {
    organization = await openCannedOrganization(() => ({ status: 200, body: { data, ...more } }));
    const { session, newSession } = organization;
    return pages.read(session, { page: 3, recent: newSession(), address: addressOf('app'), id });
  }

  it('finds a workspace by its id, at any place and under any name', async () => {
    const found = await onPage([document('other'), document('renamed')], 'ws-renamed');
    expect(found).toMatchObject({ id: 'ws-renamed', listIndex: 301, spec: { name: 'renamed' } });
  });

  it.each<[string, object[]]>([
    ['without the workspace', [document('other')]],
    ['without any workspace', []],
    [
      'that lacks the tags of the workspace',
      [document('app', { 'effective-tag-bindings': { links: { related: 'x' } } })],
    ],
    [
      'that refers to a tag without including it',
      [
        document('app', {
          'effective-tag-bindings': { data: [{ type: 'effective-tag-bindings', id: '1' }] },
        }),
      ],
    ],
    ['that shows the workspace without a name', [{ ...document('app'), attributes: { 'auto-apply': true } }]],
    [
      'with a workspace that cannot be parsed',
      [{ ...document('app'), attributes: { ...bareAttributes, name: 'app', 'tag-names': 'one' } }],
    ],
    [
      'with a workspace that has a retention policy',
      [document('app', { 'data-retention-policy': { data: { type: 'x', id: '1' } } })],
    ],
  ])('%s leaves the workspace to a single read', async (_, data) => {
    expect(await onPage(data, 'ws-app')).toBeUndefined();
  });

  it('with a workspace of another organization is not used at all', async () => {
    const foreign = document('foreign', {
      organization: { data: { type: 'organizations', id: 'elsewhere' } },
    });
    await expect(onPage([document('app'), foreign], 'ws-app')).rejects.toThrow('none of it is used');
  });

  it.each([404, 403, 500])('that is answered with %s is not used', async (status) => {
    organization = await openCannedOrganization(() => ({ status }));
    const { session, newSession } = organization;
    const about = { page: 0, recent: newSession(), address: addressOf('app'), id: 'ws-app' };
    await expect(pages.read(session, about)).rejects.toThrow(`${status}`);
  });
});
