/**
 * What stands in every organization and mount before a case begins, and what trueup refers to without managing it. Ids
 * are unique in a whole service, so each tenant has the same neighbours under ids of its own.
 */
import type { OrganizationSeed } from '../../../src/server/seed/seed.ts';

export const neighbours = {
  pools: ['apool-1', 'apool-2'],
  sshKeys: ['sshkey-1', 'sshkey-2'],
  oauthTokens: ['ot-1', 'ot-2'],
  appInstallations: ['ghain-1'],
  projects: ['prj-plain', 'prj-tagged', 'prj-agents'],
} as const;

const ids: ReadonlySet<string> = new Set(Object.values(neighbours).flat());

/** A workspace that nobody declares, claims or may ever touch; manifests can name it as a consumer. */
export const bystander = 'bystander';
/** A workspace that exists without a claim, for manifests to adopt. */
export const legacy = 'legacy';
/** A workspace of others, who let this stack keep its tags and its consumers. */
export const annex = 'annex';

/** The value with every neighbour's id made that of one tenant. */
export function inTenant<T extends object>(value: T, tenant: string): T {
  return JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === 'string' && ids.has(member) ? `${member}-${tenant}` : member,
  );
}

/** What organizations differ in; workspaces that say nothing about it inherit it. */
export const habits: readonly Partial<OrganizationSeed>[] = [
  {},
  { 'default-execution-mode': 'agent' },
  { 'default-execution-mode': 'local', 'data-retention-policy': { 'delete-older-than-n-days': 90 } },
  { 'global-remote-state-default': true },
];

export function organizationOf(tenant: string, habit: number): OrganizationSeed {
  const id = (name: string) => `${name}-${tenant}`;
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
      { name: 'agents', id: id('prj-agents'), 'default-execution-mode': 'agent' },
    ],
    workspaces: [
      { name: bystander, id: id('ws-bystander'), 'tag-bindings': { env: 'theirs' }, 'resource-count': 3 },
      {
        name: legacy,
        id: id('ws-legacy'),
        'tag-bindings': { env: 'old', 'cost-owner': 'finance' },
        tags: ['one', 'old'],
        'source-name': 'by hand',
      },
      { name: annex, id: id('ws-annex'), 'tag-bindings': { env: 'theirs' }, 'global-remote-state': false },
    ],
    teams: [{ name: 'owners', members: [tenant] }],
    ...habits[habit % habits.length],
  };
}
