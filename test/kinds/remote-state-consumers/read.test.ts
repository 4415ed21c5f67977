import { afterEach, describe, expect, it } from 'vitest';
import { remoteStateConsumers as kind } from '../../../src/kinds/remote-state-consumers/index.ts';
import {
  type Canned,
  type Organization,
  openCannedOrganization,
  openEmbeddedOrganization,
} from '../../support/services/workspaces/open-organization.ts';
import {
  bareAttributes,
  declare,
  readRequest,
  inAcme,
} from '../../support/services/workspaces/plan-organization.ts';

let organization: Organization | undefined;
afterEach(async () => {
  await organization?.close();
  organization = undefined;
});

const relation = 'relationships/remote-state-consumers';
const many = Array.from({ length: 120 }, (_, index) => ({ name: `c-${index}`, id: `ws-c-${index}` }));
const address = { kind: 'RemoteStateConsumers', target: 'acme', name: 'app' };

async function embedded(): Promise<Organization> {
  organization = await openEmbeddedOrganization({
    workspaces: [
      { name: 'app', id: 'ws-app' },
      { name: 'everyone', id: 'ws-everyone', 'global-remote-state': true },
      { name: 'unconcerned', id: 'ws-unconcerned' },
      ...many,
    ],
  });
  await organization.send('POST', `/workspaces/ws-app/${relation}`, {
    data: many.map(({ id }) => ({ type: 'workspaces', id })),
  });
  organization.seen.length = 0;
  return organization;
}

describe('Reading consumers', () => {
  it('sends a request for each hundred, only for declared consumers of states that are not shared globally', async () => {
    const { session, seen } = await embedded();
    const set = await kind.read(
      session,
      readRequest(['app', 'everyone', 'missing'].map((name) => declare(kind.name, name))),
    );
    expect(seen.filter((line) => line.includes(relation)).toSorted()).toEqual([
      `GET /workspaces/ws-app/${relation}?page[size]=100&page[number]=1`,
      `GET /workspaces/ws-app/${relation}?page[size]=100&page[number]=2`,
    ]);
    expect(set).toMatchObject({ incomplete: [], notes: [], invisible: [] });
    expect(set.resources).toHaveLength(2);
    const [app, everyone] = set.resources;
    expect(app).toMatchObject({ id: 'ws-app', facts: { global: false, edges: { 'c-7': 'ws-c-7' } } });
    expect(app?.spec['consumers']).toHaveLength(120);
    expect(everyone).toMatchObject({ id: 'ws-everyone', spec: {}, facts: { global: true } });
  });

  it('also reads consumers that only the ledger has', async () => {
    const { session } = await embedded();
    const set = await kind.read(
      session,
      readRequest([], { 'RemoteStateConsumers/acme/app': { id: 'ws-app' } }),
    );
    expect(set.resources.map((resource) => resource.address.name)).toEqual(['app']);
  });

  it('reads one workspace again with the same result', async () => {
    const { session } = await embedded();
    const { resources } = await kind.read(session, readRequest([declare(kind.name, 'app')]));
    expect(await kind.readOne(session, address, 'ws-app')).toEqual(resources[0]);
    expect(await kind.readOne(session, address, 'ws-gone')).toBeUndefined();
  });
});

describe('Consumers of many workspaces that the service answers with 404', () => {
  const some = Array.from({ length: 30 }, (_, index) => `w-${index}`);

  /** @param projectOf the project of each workspace; those of `readable` have no consumers, all others return 404 */
  async function missing(projectOf: (name: string) => string, readable: readonly string[] = []) {
    const data = some.map((name) => ({
      id: `ws-${name}`,
      type: 'workspaces',
      attributes: { ...bareAttributes, name },
      relationships: {
        ...inAcme,
        project: { data: { type: 'projects', id: projectOf(name) } },
        'effective-tag-bindings': { data: [] },
      },
    }));
    const empty = { data: [], meta: { pagination: { 'total-count': 0, 'total-pages': 1 } } };
    organization = await openCannedOrganization((line) => {
      if (!line.includes(relation))
        return { status: 200, body: { data, meta: { pagination: { 'total-count': 30, 'total-pages': 1 } } } };
      const isReadable = readable.some((name) => line.includes(`/ws-${name}/`));
      return isReadable ? { status: 200, body: empty } : { status: 404 };
    });
    const { session, seen } = organization;
    return { session, asked: () => seen.filter((line) => line.includes(relation)).length };
  }
  const all = some.map((name) => declare(kind.name, name));

  it('are requested for each workspace, because one response proves nothing about the others', async () => {
    const { session, asked } = await missing(() => 'prj-one');
    expect((await kind.read(session, readRequest(all))).unsupported).toMatchObject({ code: 'no-consumers' });
    expect(asked()).toBe(30);
  });

  it('are not read completely if one of them can be read', async () => {
    const { session, asked } = await missing((name) => (name === 'w-20' ? 'prj-two' : 'prj-one'), ['w-20']);
    const set = await kind.read(session, readRequest(all));
    expect(set.unsupported).toBeUndefined();
    expect(set.incomplete).toHaveLength(29);
    expect(asked()).toBe(30);
  });

  it('are requested for all workspaces if the ledger has consumers', async () => {
    const { session, asked } = await missing(() => 'prj-one');
    const marks = { edges: { reader: 'ws-reader' } };
    const records = { 'RemoteStateConsumers/acme/w-25': { id: 'ws-w-25', marks } };
    const set = await kind.read(session, readRequest(all, records));
    expect(set.unsupported).toBeUndefined();
    expect(asked()).toBe(30);
  });
});

describe('Consumers that cannot be read', () => {
  async function canned(consumers: Canned): Promise<Organization> {
    const document = {
      id: 'ws-app',
      type: 'workspaces',
      attributes: { ...bareAttributes, name: 'app' },
      relationships: { ...inAcme, 'effective-tag-bindings': { data: [] } },
    };
    organization = await openCannedOrganization((line) => {
      if (line.includes(relation)) return consumers;
      const pagination = { 'total-count': 1, 'total-pages': 1 };
      const one = line.startsWith('GET /workspaces/ws-app');
      return { status: 200, body: one ? { data: document } : { data: [document], meta: { pagination } } };
    });
    return organization;
  }
  const declared = readRequest([declare(kind.name, 'app')]);

  it.each([
    [2, '1 consumer of workspace "app" cannot be read with this token: it is left alone'],
    [3, '2 consumers of workspace "app" cannot be read with this token: they are left alone'],
  ])('are left alone and reported when the service counts more than it lists: %i', async (total, note) => {
    const reader = { id: 'ws-one', type: 'workspaces', attributes: { name: 'one' } };
    const pagination = { 'total-count': total, 'total-pages': 1 };
    const { session } = await canned({ status: 200, body: { data: [reader], meta: { pagination } } });
    const set = await kind.read(session, declared);
    expect(set.incomplete).toEqual([]);
    expect(set.notes).toEqual([note]);
    expect(set.resources[0]?.spec).toEqual({ consumers: ['one'] });
  });

  it('make the read incomplete when the service refuses it', async () => {
    const { session } = await canned({ status: 403 });
    const set = await kind.read(session, declared);
    expect(set.resources).toEqual([]);
    expect(set.incomplete).toEqual([
      expect.stringMatching(
        /^the remote state consumers of workspace "app" were not all read: GET .* answered 403/,
      ),
    ]);
    await expect(kind.readOne(session, address, 'ws-app')).rejects.toThrow('answered 403');
  });
});
