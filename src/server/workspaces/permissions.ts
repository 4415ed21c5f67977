/**
 * What a caller may do with single workspaces: the `permissions` object of a workspace document.
 * Invariant: the permissions in documents and the checks of requests come from the same function.
 */
import type { Database } from '../kernel/database.ts';
import type { Caller } from '../kernel/caller.ts';

const READ = [
  'can-read-run',
  'can-read-variable',
  'can-read-state-versions',
  'can-read-state-outputs',
  'can-read-settings',
  'can-read-assessment-results',
] as const;
const PLAN = [...READ, 'can-queue-run'] as const;
const WRITE = [
  ...PLAN,
  'can-update-variable',
  'can-create-state-versions',
  'can-queue-apply',
  'can-queue-destroy',
  'can-lock',
  'can-unlock',
] as const;
const ADMIN = [
  ...WRITE,
  'can-update',
  'can-destroy',
  'can-force-unlock',
  'can-manage-tags',
  'can-manage-run-tasks',
  'can-manage-assessments',
  'can-manage-ephemeral-workspaces',
] as const;
const ALL = [...ADMIN, 'can-force-delete'] as const;

export type Permission = (typeof ALL)[number];
export type WorkspacePermissions = Readonly<Record<Permission, boolean>>;

/**
 * The permissions that custom access of a team may list. Every access includes reading runs. No access includes force delete,
 * which depends on owning the organization or on its settings.
 */
export const GRANTABLE_PERMISSIONS: readonly Permission[] = ADMIN;

/** What a team can do with the project itself, through its access to the project. */
export type ProjectRight = 'update-project' | 'delete-project' | 'create-workspaces' | 'move-workspaces';

/** Rights that are stored and returned but have no effect here. */
type KeptRight =
  | 'policy-mocks'
  | 'policy-overrides'
  | 'read-teams'
  | 'manage-teams'
  | 'read-variable-sets'
  | 'write-variable-sets';

/** What a team's access to a workspace or a project can grant. */
export type Grantable = Permission | ProjectRight | KeptRight;

const LEVELS: Readonly<Record<string, readonly Grantable[]>> = {
  read: [...READ, 'read-variable-sets'],
  plan: [...PLAN, 'read-variable-sets'],
  write: [...WRITE, 'policy-mocks', 'read-variable-sets'],
  maintain: [...ADMIN, 'policy-mocks', 'read-variable-sets', 'create-workspaces'],
  admin: [
    ...ADMIN,
    ...(['policy-mocks', 'policy-overrides', 'read-variable-sets', 'write-variable-sets'] as const),
    ...(['read-teams', 'manage-teams'] as const),
    ...(['update-project', 'delete-project', 'create-workspaces', 'move-workspaces'] as const),
  ],
  custom: ['can-read-run'],
};

/** The columns of a workspace that decide what a caller may do with it. */
export interface GuardedWorkspace {
  readonly id: string;
  readonly organization_id: string;
  readonly allow_force_delete_workspaces: number;
}

interface GrantRow {
  workspace_id: string;
  access: string;
  custom_permissions: string | null;
}

/** The caller's permissions on each of the workspaces, by workspace id, in one query. */
export function workspacePermissions(
  database: Database,
  caller: Caller,
  workspaces: readonly GuardedWorkspace[],
): Map<string, WorkspacePermissions> {
  const grants = teamGrants(database, caller, workspaces);
  return new Map(
    workspaces.map((workspace) => {
      const rights = caller.organizations.get(workspace.organization_id);
      const granted = new Set<Grantable>(grants.get(workspace.id));
      if (rights?.readWorkspaces) for (const permission of READ) granted.add(permission);
      if (rights?.manageWorkspaces || rights?.manageProjects)
        for (const permission of ADMIN) granted.add(permission);
      const administers = granted.has('can-update') && workspace.allow_force_delete_workspaces === 1;
      if (rights?.owner || administers) granted.add('can-force-delete');
      return [workspace.id, permissionsObject(granted)];
    }),
  );
}

/**
 * An SQL condition over the workspaces table `w`: those of one organization that the caller can read.
 * It takes the parameter `:teams`, a JSON list of the caller's team ids.
 */
export function readableCondition(caller: Caller, organizationId: string): string {
  if (caller.organizations.get(organizationId)?.readWorkspaces) return ':teams IS NOT NULL';
  return `(w.id IN (SELECT workspace_id FROM team_workspace_access
                    WHERE team_id IN (SELECT value FROM json_each(:teams)))
        OR w.project_id IN (SELECT project_id FROM team_project_access
                            WHERE team_id IN (SELECT value FROM json_each(:teams))))`;
}

function teamGrants(
  database: Database,
  caller: Caller,
  workspaces: readonly GuardedWorkspace[],
): Map<string, Grantable[]> {
  const grants = new Map<string, Grantable[]>();
  if (caller.teamIds.length === 0) return grants;
  const rows = database.all<GrantRow>(
    `WITH wanted AS (SELECT value AS id FROM json_each(:workspaces)),
          mine AS (SELECT value AS id FROM json_each(:teams))
     SELECT workspace_id, access, custom_permissions FROM team_workspace_access
     WHERE workspace_id IN (SELECT id FROM wanted) AND team_id IN (SELECT id FROM mine)
     UNION ALL
     SELECT w.id, a.access, a.custom_permissions FROM workspaces w JOIN team_project_access a ON a.project_id = w.project_id
     WHERE w.id IN (SELECT id FROM wanted) AND a.team_id IN (SELECT id FROM mine)`,
    {
      workspaces: JSON.stringify(workspaces.map((workspace) => workspace.id)),
      teams: JSON.stringify(caller.teamIds),
    },
  );
  for (const row of rows) {
    grants.set(row.workspace_id, [
      ...(grants.get(row.workspace_id) ?? []),
      ...grantedBy(row.access, row.custom_permissions),
    ]);
  }
  return grants;
}

/** The permissions of one team access: those of its level, and those of the JSON list of a custom access. */
export function grantedBy(access: string, customPermissions: string | null): readonly Grantable[] {
  const custom = customPermissions === null ? [] : (JSON.parse(customPermissions) as Grantable[]);
  return [...(LEVELS[access] ?? []), ...custom];
}

function permissionsObject(granted: ReadonlySet<Grantable>): WorkspacePermissions {
  return Object.fromEntries(
    ALL.map((permission) => [permission, granted.has(permission)]),
  ) as WorkspacePermissions;
}
