import { afterEach, describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import { readAddress } from '../../../src/model/address.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { LiveResource } from '../../../src/model/resource.ts';
import {
  type Canned,
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

async function embedded(...about: Parameters<typeof openEmbeddedOrganization>): Promise<Organization> {
  organization = await openEmbeddedOrganization(...about);
  return organization;
}

const nothing = readRequest([]);
const names = (resources: readonly LiveResource[]) => resources.map(({ address }) => address.name);
const find = (resources: readonly LiveResource[], name: string) =>
  resources.find(({ address }) => address.name === name);

describe('Reading the workspaces of an organization', () => {
  it('takes one request for each hundred, including tags and ownership tags', async () => {
    const workspaces = Array.from({ length: 250 }, (_, index) => ({ name: `w-${index}` }));
    const { session, seen } = await embedded({ workspaces });
    const set = await kind.read(session, readRequest([declare('Workspace', 'w-1', { autoApply: true })]));
    expect(set).toMatchObject({ total: 250, incomplete: [], invisible: [], notes: [] });
    expect(set.resources).toHaveLength(250);
    expect(seen.toSorted()).toEqual(
      [1, 2, 3].map(
        (page) =>
          `GET /organizations/acme/workspaces?sort=name&include=effective_tag_bindings&page[size]=100&page[number]=${page}`,
      ),
    );
  });

  it('is done once in a session, for all callers', async () => {
    const { session, seen } = await embedded({ workspaces: [{ name: 'app' }] });
    await Promise.all([kind.read(session, nothing), kind.read(session, nothing)]);
    expect(seen).toHaveLength(1);
  });

  it('reports ownership tag, creator mark and tags separately', async () => {
    const { session } = await embedded({
      projects: [{ name: 'shared', 'tag-bindings': { 'trueup-stack': 'network', team: 'inherited' } }],
      workspaces: [
        {
          name: 'ours',
          'source-name': 'trueup/payments',
          'tag-bindings': { 'trueup-stack': 'payments:protect', env: 'prod' },
        },
        { name: 'in-project', project: 'shared', 'tag-bindings': { env: 'test' } },
        { name: 'plain' },
      ],
    });
    const { resources } = await kind.read(session, nothing);
    expect(find(resources, 'ours')).toMatchObject({
      evidence: {
        ownershipTag: { stack: 'payments', protect: true, release: false, inherited: false },
        creatorStack: 'payments',
      },
      facts: { direct: { env: 'prod' }, tagCount: 2 },
    });
    expect(find(resources, 'in-project')).toMatchObject({
      evidence: { ownershipTag: { stack: 'network', inherited: true } },
      facts: { direct: { env: 'test' }, tagCount: 1 },
    });
    expect(find(resources, 'plain')?.evidence).toEqual({});
  });

  it('returns a workspace in the form of its manifest', async () => {
    const { session, send } = await embedded({
      projects: [{ name: 'alpha', id: 'prj-alpha' }],
      'agent-pools': [{ name: 'first', id: 'apool-1' }],
      'oauth-tokens': [{ id: 'ot-1' }],
    });
    const created = await send('POST', '/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: {
          name: 'app',
          'execution-mode': 'agent',
          'agent-pool-id': 'apool-1',
          'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': 'ot-1' },
          'trigger-patterns': ['/a/*'],
          'auto-destroy-at': '2031-01-31T08:00:59Z',
        },
        relationships: { project: { data: { type: 'projects', id: 'prj-alpha' } } },
      },
    });
    expect(created.status).toBe(201);
    const { resources } = await kind.read(session, nothing);
    expect(resources[0]?.spec).toMatchObject({
      name: 'app',
      description: null,
      executionMode: 'agent',
      agentPoolId: 'apool-1',
      settingOverwrites: { executionMode: true, agentPool: true },
      autoDestroyAt: '2031-01-31T08:00:00.000Z',
      vcsRepo: {
        identifier: 'acme/network',
        ingressSubmodules: false,
        oauthTokenId: 'ot-1',
        vcsAppInstallationId: null,
        tagsRegex: null,
      },
      triggerPatterns: ['/a/*'],
      triggerPrefixes: [],
      projectId: 'prj-alpha',
      sshKeyId: null,
      tagNames: [],
      lock: null,
    });
  });

  it('returns null for an inherited setting, regardless of its effective value', async () => {
    const { session } = await embedded({
      'agent-pools': [{ name: 'first', id: 'apool-1' }],
      'default-execution-mode': 'agent',
      'default-agent-pool': 'first',
      workspaces: [{ name: 'app' }],
    });
    const { resources } = await kind.read(session, nothing);
    expect(resources[0]?.spec).toMatchObject({
      executionMode: null,
      agentPoolId: null,
      settingOverwrites: { executionMode: false, agentPool: false },
    });
  });

  it('requests a retention policy only for a workspace of the stack that has one', async () => {
    const { session, seen, send } = await embedded({
      'data-retention-policy': { 'delete-older-than-n-days': 7 },
      workspaces: [
        { name: 'app', id: 'ws-app' },
        { name: 'without', id: 'ws-without' },
        { name: 'foreign', id: 'ws-foreign' },
      ],
    });
    for (const id of ['ws-app', 'ws-foreign']) {
      await send('POST', `/workspaces/${id}/relationships/data-retention-policy`, {
        data: {
          type: 'data-retention-policy-delete-olders',
          attributes: { 'delete-older-than-n-days': 30 },
        },
      });
    }
    seen.length = 0;
    const declared = ['app', 'without'].map((name) => declare('Workspace', name));
    const { resources } = await kind.read(session, readRequest(declared));
    expect(seen.slice(1)).toEqual(['GET /workspaces/ws-app/relationships/data-retention-policy']);
    expect(find(resources, 'app')?.spec['dataRetentionPolicy']).toEqual({ deleteOlderThanNDays: 30 });
    expect(find(resources, 'without')?.spec['dataRetentionPolicy']).toBeNull();
    expect(find(resources, 'foreign')?.spec).not.toHaveProperty('dataRetentionPolicy');
  });

  it('returns the lock, and the facts that a safe delete depends on', async () => {
    const { session, send } = await embedded({
      workspaces: [{ name: 'app', id: 'ws-app', 'resource-count': 3 }],
    });
    await send('POST', '/workspaces/ws-app/actions/lock', { reason: 'frozen' });
    const { resources } = await kind.read(session, nothing);
    expect(resources[0]).toMatchObject({
      spec: { lock: { reason: 'frozen' } },
      facts: { locked: true, lockedReason: 'frozen', resourceCount: 3 },
      rights: { 'can-update': true },
    });
  });

  it('returns no workspaces, and the reason, when the organization cannot be read', async () => {
    const { session } = await embedded({}, { organization: 'elsewhere' });
    const set = await kind.read(session, nothing);
    expect(set.resources).toEqual([]);
    expect(set.unread).toMatch(
      /^the workspaces of organization "elsewhere" cannot be listed: GET .* answered 404/,
    );
  });
});

describe('Reading one workspace again', () => {
  it('finds it by its id after a rename, with all facts of the list', async () => {
    const { session, send, seen } = await embedded({
      workspaces: [
        { name: 'app', id: 'ws-app', 'tag-bindings': { 'trueup-stack': 'payments', env: 'prod' } },
      ],
    });
    const declared = readRequest([declare('Workspace', 'app', { executionMode: null })]);
    const listed = (await kind.read(session, declared)).resources[0];
    const address = { kind: 'Workspace', target: 'acme', name: 'app' };
    expect({ ...(await kind.readOne(session, address, 'ws-app')), listIndex: 0 }).toEqual(listed);
    await send('PATCH', '/workspaces/ws-app', {
      data: { type: 'workspaces', attributes: { name: 'moved' } },
    });
    seen.length = 0;
    expect(await kind.readOne(session, address, 'ws-app')).toMatchObject({
      address,
      spec: { name: 'moved' },
    });
    expect(seen).toEqual(['GET /workspaces/ws-app?include=effective_tag_bindings']);
  });

  it('finds it by name when no id is known, and returns nothing if it does not exist', async () => {
    const { session } = await embedded({ workspaces: [{ name: 'app', id: 'ws-app' }] });
    const address = { kind: 'Workspace', target: 'acme', name: 'app' };
    expect(await kind.readOne(session, address)).toMatchObject({ id: 'ws-app' });
    expect(await kind.readOne(session, { ...address, name: 'other' })).toBeUndefined();
    expect(await kind.readOne(session, address, 'ws-gone')).toBeUndefined();
  });
});

describe('A value or workspace that the list does not report', () => {
  const canned = (attributes: JsonObject, more: (line: string) => Canned | undefined = () => undefined) =>
    openCannedOrganization((line) => {
      const document = {
        id: 'ws-app',
        type: 'workspaces',
        attributes: { name: 'app', ...attributes },
        relationships: { 'effective-tag-bindings': { data: [] } },
      };
      const pagination = { 'total-count': 1, 'total-pages': 1 };
      return more(line) ?? { status: 200, body: { data: [document], meta: { pagination } } };
    });

  it('is reported as invisible, and left out of the live spec', async () => {
    organization = await canned({
      'vcs-repo': { identifier: 'acme/network', branch: 'main', 'oauth-token-id': null },
    });
    const declared = declare('Workspace', 'app', {
      assessmentsEnabled: true,
      operations: true,
      vcsRepo: { identifier: 'acme/network', vcsAppInstallationId: 'app-1' },
    });
    const set = await kind.read(organization.session, readRequest([declared]));
    expect(set.invisible).toEqual(['assessmentsEnabled', 'executionMode', 'vcsRepo.vcsAppInstallationId']);
    expect(set.resources[0]?.spec).not.toHaveProperty('assessmentsEnabled');
  });

  it('is read by its id if the ledger has the workspace', async () => {
    organization = await canned({}, (line) => {
      if (line === 'GET /workspaces/ws-gone') return { status: 404 };
      if (line === 'GET /workspaces/ws-broken') return { status: 403 };
      if (!line.startsWith('GET /workspaces/ws-moved')) return undefined;
      if (line.endsWith('tag-bindings')) return { status: 200, body: { data: [] } };
      const attributes = { ...bareAttributes, name: 'moved' };
      const document = { id: 'ws-moved', type: 'workspaces', attributes, relationships: inAcme };
      return { status: 200, body: { data: document } };
    });
    const records = Object.fromEntries(
      ['moved', 'gone', 'broken'].map((name) => [`Workspace/acme/was-${name}`, { id: `ws-${name}` }]),
    );
    const set = await kind.read(organization.session, readRequest([], records));
    expect(names(set.resources)).toEqual(['app', 'moved']);
    expect(set.incomplete).toEqual([
      expect.stringContaining('lacks "moved", which is found by its id'),
      expect.stringContaining('/workspaces/ws-broken answered 403'),
    ]);
  });

  it('is not read again if this run deleted the workspace, unless the list still has it', async () => {
    organization = await canned({});
    const { session, seen } = organization;
    const records = { 'Workspace/acme/gone': { id: 'ws-gone' }, 'Workspace/acme/app': { id: 'ws-app' } };
    const deleted = new Set(Object.keys(records).map(readAddress));
    const set = await kind.read(session, { ...readRequest([], records), deleted });
    expect(names(set.resources)).toEqual(['app']);
    expect(seen.filter((line) => line.includes('ws-gone'))).toEqual([]);
  });

  it('makes the read incomplete if the total does not match', async () => {
    organization = await canned({}, (line) =>
      line.startsWith('GET /organizations')
        ? { status: 200, body: { data: [], meta: { pagination: { 'total-count': 2, 'total-pages': 1 } } } }
        : undefined,
    );
    const set = await kind.read(organization.session, nothing);
    expect(set.incomplete).toEqual([expect.stringContaining('total of 2')]);
  });
});
