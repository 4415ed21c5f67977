/**
 * The world of a simulated case: an organization and two mounts in an embedded service, with neighbours that exist before a case
 * and that trueup refers to without managing them. Ids are unique in a service, so each tenant has its own.
 */
import { ownershipTagKey } from '../../../src/model/resource.ts';
import type { OrganizationSeed } from '../../../src/server/seed/seed-schema.ts';
import type { RunningServer, ServedRequest, ServerOptions } from '../../../src/server/start-server.ts';
import { startService } from '../rig/embedded-service.ts';

export const neighbours = {
  pools: ['apool-1', 'apool-2'],
  sshKeys: ['sshkey-1', 'sshkey-2'],
  oauthTokens: ['ot-1', 'ot-2'],
  appInstallations: ['ghain-1'],
  projects: ['prj-plain', 'prj-tagged', 'prj-agents'],
} as const;

const ids: ReadonlySet<string> = new Set(Object.values(neighbours).flat());

/** A workspace without owner that no apply may change; manifests can name it as a consumer. */
export const bystander = 'bystander';
/** A workspace of another stack. */
export const billing = 'billing';
/** A workspace that exists without an ownership tag, for manifests to adopt. */
export const legacy = 'legacy';
/** A project that exists without an ownership tag, for manifests to adopt. No workspace refers to its id, because it may be deleted. */
export const legacyProject = 'found';
/** A workspace of others whose tags and consumers this stack may manage. */
export const annex = 'annex';

/** Replaces all ids of neighbours by those of a tenant. */
export function inTenant<T extends object>(value: T, tenant: string): T {
  return JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === 'string' && ids.has(member) ? `${member}-${tenant}` : member,
  );
}

/** The id of a neighbouring workspace. */
export function neighbourId(name: string, tenant: Pick<Tenant, 'name'>): string {
  return `ws-${name}-${tenant.name}`;
}

/** The different settings of organizations, which workspaces inherit by default. */
export const organizationSettings: readonly Partial<OrganizationSeed>[] = [
  {},
  { 'default-execution-mode': 'agent' },
  { 'default-execution-mode': 'local', 'data-retention-policy': { 'delete-older-than-n-days': 90 } },
  { 'global-remote-state-default': true },
];

function organizationOf(tenant: string, settingsIndex: number): OrganizationSeed {
  const id = (name: string) => `${name}-${tenant}`;
  const workspace = (name: string, tags: Readonly<Record<string, string>>, more: object = {}) => ({
    ...{ name, id: neighbourId(name, { name: tenant }), 'tag-bindings': tags },
    ...more,
  });
  return {
    name: tenant,
    'default-agent-pool': 'inherited',
    'agent-pools': [
      { name: 'inherited', id: id('apool-inherited') },
      ...neighbours.pools.map((name) => ({ name, id: id(name) })),
    ],
    'ssh-keys': neighbours.sshKeys.map((name) => ({ name, id: id(name) })),
    'oauth-tokens': neighbours.oauthTokens.map((name) => ({ id: id(name) })),
    'vcs-app-installations': neighbours.appInstallations.map((name) => ({ id: id(name) })),
    projects: [
      { name: 'plain', id: id('prj-plain') },
      { name: 'tagged', id: id('prj-tagged'), 'tag-bindings': { 'cost-center': '4711', env: 'inherited' } },
      {
        ...{ name: 'agents', id: id('prj-agents') },
        ...{ 'default-execution-mode': 'agent', 'default-agent-pool': 'inherited' },
      },
      { name: legacyProject, id: id('prj-found'), 'tag-bindings': { 'cost-owner': 'finance', env: 'old' } },
    ],
    workspaces: [
      workspace(bystander, { env: 'theirs' }, { 'resource-count': 3 }),
      workspace(billing, { [ownershipTagKey]: 'billing', env: 'theirs' }, { 'global-remote-state': false }),
      workspace(
        legacy,
        { env: 'old', 'cost-owner': 'finance' },
        { tags: ['one', 'old'], 'source-name': 'by hand' },
      ),
      workspace(annex, { env: 'theirs' }, { 'global-remote-state': false }),
    ],
    teams: [
      { name: 'owners', members: [tenant] },
      { name: 'managers', members: [`${tenant}-other`], 'manage-workspaces': true },
    ],
    ...organizationSettings[settingsIndex % organizationSettings.length],
  };
}

export interface Tenant {
  /** the name of the organization, of its mount, and of its owner */
  readonly name: string;
  /** the URL of the service */
  readonly url: string;
  readonly ownerToken: string;
  /** the token of another user who manages workspaces of the organization */
  readonly otherToken: string;
  readonly serviceToken: string;
  /** all requests to the service; each case clears them */
  readonly requests: ServedRequest[];
}

/** The mounts of a tenant, by their targets. */
export const mounts = { prod: (tenant: string) => tenant, spare: (tenant: string) => `${tenant}-spare` };

const serviceToken = 'planted-service-token';

/** JWTs in the environment and in files of the commands. None of them may be printed or stored. */
export const jwts = {
  REVIEWER_JWT: 'the-jwt-of-the-environment',
  OTHER_JWT: 'another-jwt',
  file: 'the-jwt-of-a-file',
};

export function secretsOf({ ownerToken }: Tenant): readonly string[] {
  return [ownerToken, serviceToken, ...Object.values(jwts)];
}

/** @param settingsIndexes for each tenant, by its name, the index in `organizationSettings` */
export async function startWorld(
  settingsIndexes: Readonly<Record<string, number>>,
  options: Partial<ServerOptions> = {},
): Promise<{ readonly tenants: readonly Tenant[] } & RunningServer> {
  const names = Object.keys(settingsIndexes);
  const ownerToken = (name: string) => `planted-owner-token-${name}`;
  const requests: ServedRequest[] = [];
  const server = await startService({
    seed: {
      users: names.flatMap((name) => [
        { username: name, token: ownerToken(name) },
        { username: `${name}-other`, token: `${name}-other` },
      ]),
      organizations: names.map((name) => organizationOf(name, settingsIndexes[name] ?? 0)),
      mounts: names.flatMap((name) => Object.values(mounts).map((path) => path(name))),
      'service-tokens': [{ token: serviceToken, policies: ['root'] }],
    },
    // Another program on this machine may still use the port of a former service; its requests have no valid token.
    onRequest: (request) => {
      if (request.status !== 401) requests.push(request);
    },
    ...options,
  });
  const tenants = names.map((name) => ({
    ...{ name, url: server.url, ownerToken: ownerToken(name), otherToken: `${name}-other` },
    ...{ serviceToken, requests },
  }));
  return { ...server, tenants };
}

const batch = 80;

/** A new tenant for each case, because starting a service for each of many hundred cases would take too long. */
export class TenantPool {
  #world: Awaited<ReturnType<typeof startWorld>> | undefined;
  #next = 0;
  readonly #free = new Map<number, Tenant[]>();

  /** @param settingsIndex the index in `organizationSettings` */
  async take(settingsIndex: number): Promise<Tenant> {
    const index = settingsIndex % organizationSettings.length;
    if ((this.#free.get(index) ?? []).length === 0) await this.#open();
    const tenant = this.#free.get(index)?.pop();
    if (tenant === undefined)
      throw new Error('a service that was just started has a tenant for all settings');
    return tenant;
  }

  async close(): Promise<void> {
    await this.#world?.close();
  }

  /** Replaces a service whose tenants are all used by a new one. */
  async #open(): Promise<void> {
    await this.close();
    const first = this.#next;
    this.#next += batch;
    this.#world = await startWorld(
      Object.fromEntries(Array.from({ length: batch }, (_, index) => [`t${first + index}`, index])),
    );
    for (let settings = 0; settings < organizationSettings.length; settings += 1)
      this.#free.set(
        settings,
        this.#world.tenants.filter((_, index) => index % organizationSettings.length === settings),
      );
  }
}
