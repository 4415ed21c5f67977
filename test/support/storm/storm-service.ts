/** The embedded service of one storm, with the organization and the mount of the random stacks and neighbours besides. */
import { startServer } from '../../../src/server/start-server.ts';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import { organizationOf } from '../loop/neighbours.ts';
import { mounts, type Tenant } from '../loop/tenants.ts';

const name = 'storm';

/** Workspaces that no stack of a storm declares: of nobody, and of another stack. */
export const strangers = { 'ws-bystander-storm': 'bystander', 'ws-billing-storm': 'billing' } as const;

/** What may stand in no output and in no file beside the stack. */
export const secrets = [
  'planted-owner-token',
  'planted-service-token',
  'the-jwt-of-the-environment',
  'the-jwt-of-a-file',
  'another-jwt',
];

/** @param habit which of the ways that organizations differ in */
export async function openStormService(
  habit: number,
): Promise<{ readonly tenant: Tenant; close(): Promise<void> }> {
  const organization = organizationOf(name, habit);
  const billing = {
    name: 'billing',
    id: 'ws-billing-storm',
    'tag-bindings': { [ownershipTagKey]: 'billing', env: 'theirs' },
    'global-remote-state': false,
  };
  const managers = { name: 'managers', members: ['other'], 'manage-workspaces': true };
  const server = await startServer({
    data: ':memory:',
    seed: {
      users: [
        { username: name, token: 'planted-owner-token' },
        { username: 'other', token: 'token-of-another' },
      ],
      organizations: [
        {
          ...organization,
          workspaces: [...(organization.workspaces ?? []), billing],
          teams: [...(organization.teams ?? []), managers],
        },
      ],
      mounts: Object.values(mounts).map((mount) => mount(name)),
      'service-tokens': [{ token: 'planted-service-token', policies: ['root'] }],
    },
  });
  const tenant: Tenant = {
    name,
    url: server.url,
    ownerToken: 'planted-owner-token',
    otherToken: 'token-of-another',
    serviceToken: 'planted-service-token',
    requests: [],
  };
  return { tenant, close: () => server.close() };
}
