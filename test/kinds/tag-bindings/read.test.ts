import { afterEach, describe, expect, it } from 'vitest';
import { tagBindings as kind } from '../../../src/kinds/tag-bindings/index.ts';
import { workspace } from '../../../src/kinds/workspace/index.ts';
import type { OrganizationSeed } from '../../../src/server/seed/seed-schema.ts';
import {
  type Organization,
  openEmbeddedOrganization,
} from '../../support/services/workspaces/open-organization.ts';
import { declare, readRequest } from '../../support/services/workspaces/plan-organization.ts';

let organization: Organization | undefined;
afterEach(async () => {
  await organization?.close();
  organization = undefined;
});

async function embedded(seed: Partial<OrganizationSeed>): Promise<Organization> {
  organization = await openEmbeddedOrganization(seed);
  return organization;
}

const workspaces = [
  { name: 'app', id: 'ws-app', 'tag-bindings': { 'trueup-stack': 'payments', env: 'prod' } },
  { name: 'other', id: 'ws-other' },
];

describe('Reading tag bindings', () => {
  it('sends no request besides the list of workspaces, and returns only what is declared or recorded', async () => {
    const { session, seen } = await embedded({ workspaces });
    await workspace.read(session, readRequest([]));
    const set = await kind.read(session, readRequest([declare('TagBindings', 'app')]));
    expect(seen).toHaveLength(1);
    expect(set).toEqual({
      resources: [expect.anything()],
      unseen: new Map(),
      incomplete: [],
      invisible: [],
      notes: [],
    });
    expect(set.resources[0]).toMatchObject({
      id: 'ws-app',
      spec: { tags: { env: 'prod' } },
      evidence: { ownershipTag: { stack: 'payments', inherited: false } },
      facts: { direct: { env: 'prod' }, ownershipTag: 'payments' },
    });
    const recorded = await kind.read(
      session,
      readRequest([], { 'TagBindings/acme/other': { id: 'ws-other' } }),
    );
    expect(recorded.resources.map(({ address }) => address.name)).toEqual(['other']);
  });

  it('finds the tags of a workspace that was renamed in the service', async () => {
    const { session } = await embedded({ workspaces });
    const records = { 'Workspace/acme/was-app': { id: 'ws-app' } };
    const set = await kind.read(session, {
      ...readRequest([declare('TagBindings', 'was-app')]),
      record: readRequest([], records).record,
    });
    expect(set.resources).toMatchObject([{ address: { name: 'was-app' }, id: 'ws-app' }]);
  });

  it('finds the tags under the former name of a workspace, and then only under the new name', async () => {
    const { session } = await embedded({ workspaces });
    const declared = declare('TagBindings', 'new-app', {}, { renamedFrom: 'app' });
    const set = await kind.read(
      session,
      readRequest([declared], { 'TagBindings/acme/app': { id: 'ws-app' } }),
    );
    expect(set.resources.map(({ address }) => address.name)).toEqual(['new-app']);
  });

  it('reads one workspace again with the same result', async () => {
    const { session, seen } = await embedded({ workspaces });
    const { resources } = await kind.read(session, readRequest([declare('TagBindings', 'app')]));
    seen.length = 0;
    const address = { kind: 'TagBindings', target: 'acme', name: 'app' };
    expect({ ...(await kind.readOne(session, address, 'ws-app')), listIndex: 0 }).toEqual(resources[0]);
    expect(seen).toEqual(['GET /workspaces/ws-app?include=effective_tag_bindings']);
    expect(await kind.readOne(session, address, 'ws-gone')).toBeUndefined();
  });
});
