// All principals: each has one token, and its own workspaces, to which only it and principals with wider rights have access.
// The name of a principal is also the text of its token, unless it has no valid one.

import type { OrganizationSeed, Seed, TeamSeed, UserSeed } from '../../../../src/server/seed/seed-schema.ts';

type WorkspaceAccess = NonNullable<TeamSeed['workspace-access']>[string];

/** Users whose team has this access to each of their own workspaces. */
const LEVELS = ['read', 'plan', 'write', 'admin'] as const;

/** Tokens of teams that have only this right, and the right to read, in each of their own workspaces. */
const CUSTOM_RIGHTS = [
  'can-lock',
  'can-unlock',
  'can-force-unlock',
  'can-manage-tags',
  'can-update',
  'can-destroy',
  'can-read-settings',
] as const;

/** Users whose team has this access to the project of all workspaces. */
const PROJECT_LEVELS = ['read', 'write', 'maintain', 'admin'] as const;

export const PROJECT = 'platform';
export const OTHER_PROJECT = 'sandbox';

/** The seed with the organization `acme`. @param workspacesOf the workspaces of a principal */
export function principalsSeed(
  names: readonly string[],
  workspacesOf: (principal: string) => readonly NonNullable<OrganizationSeed['workspaces']>[number][],
  organization: Partial<OrganizationSeed>,
): Seed {
  const accessOf = (principal: string, access: WorkspaceAccess) =>
    Object.fromEntries(workspacesOf(principal).map(({ name }) => [name, access]));
  const user = (username: string): UserSeed => ({ username, token: username });
  const teamOf = (name: string, more: Omit<TeamSeed, 'name'>): TeamSeed => ({
    name: `team-${name}`,
    members: [name],
    ...more,
  });
  const levelUsers = LEVELS.map((level) => `workspace-${level}`);
  const projectUsers = PROJECT_LEVELS.map((level) => `project-${level}`);
  const others = ['stranger', 'rival-owner', 'member', 'team-member', 'two-teams', 'both-projects', 'owner'];
  return {
    users: [
      ...[...others, ...levelUsers, ...projectUsers].map(user),
      {
        username: 'expired-token',
        tokens: [{ token: 'expired-token', 'expires-at': '2020-01-01T00:00:00Z' }],
      },
    ],
    organizations: [
      {
        name: 'acme',
        token: 'organization',
        ...organization,
        members: ['member'],
        projects: [
          { name: PROJECT, id: `prj-${PROJECT}` },
          { name: OTHER_PROJECT, id: `prj-${OTHER_PROJECT}` },
        ],
        'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }],
        workspaces: names.flatMap(workspacesOf),
        teams: [
          { name: 'owners', token: 'owners-team', members: ['owner', 'expired-token'] },
          teamOf('team-member', {}),
          ...LEVELS.map((level) =>
            teamOf(`workspace-${level}`, { 'workspace-access': accessOf(`workspace-${level}`, level) }),
          ),
          ...CUSTOM_RIGHTS.map((right) => ({
            name: right,
            token: right,
            'workspace-access': accessOf(right, [right]),
          })),
          ...PROJECT_LEVELS.map((level) =>
            teamOf(`project-${level}`, { 'project-access': { [PROJECT]: level } }),
          ),
          teamOf('both-projects', { 'project-access': { [PROJECT]: 'admin', [OTHER_PROJECT]: 'admin' } }),
          teamOf('two-teams', { 'workspace-access': accessOf('two-teams', ['can-lock']) }),
          {
            name: 'second-of-two-teams',
            members: ['two-teams'],
            'workspace-access': accessOf('two-teams', ['can-manage-tags']),
          },
          { name: 'read-workspaces', token: 'read-workspaces', 'read-workspaces': true },
          { name: 'manage-workspaces', token: 'manage-workspaces', 'manage-workspaces': true },
          { name: 'manage-projects', token: 'manage-projects', 'manage-projects': true },
        ],
      },
      { name: 'rival', teams: [{ name: 'owners', members: ['rival-owner'] }] },
    ],
  };
}

/** The token that a principal sends; undefined for none. */
export function tokenOf(principal: string): string | undefined {
  return principal === 'no-token' ? undefined : principal;
}
