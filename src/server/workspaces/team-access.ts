/**
 * The access of teams to single projects and workspaces: records, documents and events of /team-projects and /team-workspaces.
 * A team has at most one access to each project or workspace; only admins of the project or workspace can grant it.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { type Resource, related } from '../kernel/documents.ts';
import type { ApiRequest } from '../kernel/endpoint.ts';
import { stableId } from '../kernel/identifiers.ts';
import type { BodyObject, MemberReader } from '../kernel/request-body.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { type Grantable, grantedBy } from './permissions.ts';
import { teamsById } from './teams.ts';
import { inWireNames } from './workspace-request.ts';

/** Access to workspaces and access to projects, with the differences between the two. */
export const TEAM_ACCESSES = {
  workspace: {
    type: 'team-workspaces',
    related: 'workspaces',
    table: 'team_workspace_access',
    column: 'workspace_id',
    prefix: 'tws',
    levels: ['read', 'plan', 'write', 'admin', 'custom'],
    columns: 'a.*, a.workspace_id AS thing_id',
  },
  project: {
    type: 'team-projects',
    related: 'projects',
    table: 'team_project_access',
    column: 'project_id',
    prefix: 'tprj',
    levels: ['read', 'write', 'maintain', 'admin', 'custom'],
    columns: 'a.*, a.project_id AS thing_id',
  },
} as const;

export type AccessKind = keyof typeof TEAM_ACCESSES;

export interface AccessRow {
  id: string;
  team_id: string;
  /** The workspace or project. */
  thing_id: string;
  access: string;
  /** JSON: the permissions of a custom access. */
  custom_permissions: string | null;
}

export function accessById(database: Database, kind: AccessKind, id: string): AccessRow | undefined {
  const { columns, table } = TEAM_ACCESSES[kind];
  return database.get<AccessRow>(`SELECT ${columns} FROM ${table} a WHERE a.id = :id`, { id });
}

export interface Grant {
  readonly teamId: string;
  /** The workspace or project. */
  readonly thingId: string;
  readonly access: string;
  /** Only for a custom access. */
  readonly permissions?: readonly Grantable[] | undefined;
}

/** Grants a team this access, in place of its previous one. */
export function grantAccess(database: Database, kind: AccessKind, grant: Grant): void {
  const { table, column, prefix } = TEAM_ACCESSES[kind];
  const custom = grant.access === 'custom' ? JSON.stringify(grant.permissions ?? []) : null;
  database.run(
    `INSERT INTO ${table} (id, team_id, ${column}, access, custom_permissions)
     VALUES (:id, :team, :thing, :access, :custom)
     ON CONFLICT (team_id, ${column}) DO UPDATE SET access = excluded.access,
       custom_permissions = excluded.custom_permissions`,
    {
      // Derived from both ids, so that a seed creates the same id everywhere.
      id: stableId(prefix, grant.teamId, grant.thingId),
      team: grant.teamId,
      thing: grant.thingId,
      access: grant.access,
      custom,
    },
  );
}

export function accessResource(kind: AccessKind, row: AccessRow, dialect: WorkspacesDialect): Resource {
  const { type, related: thingType } = TEAM_ACCESSES[kind];
  const attributesOf = (group: AccessAttributes) =>
    inWireNames(accessAttributes(group, row.access, row.custom_permissions), dialect);
  return {
    id: row.id,
    type,
    attributes: {
      access: row.access,
      ...(kind === 'workspace'
        ? attributesOf(WORKSPACE_ACCESS)
        : Object.fromEntries(
            Object.entries(PROJECT_ACCESS).map(([name, group]) => [name, attributesOf(group)]),
          )),
    },
    relationships: {
      team: related('teams', row.team_id),
      [kind]: related(thingType, row.thing_id),
    },
    links: { self: `/api/v2/${type}/${row.id}` },
  };
}

// Access to a workspace or a project: the values of the API's attributes, and the permissions that they grant.
// Invariant: a value also grants the permissions of the weaker values before it.

type EnumValues = readonly (readonly [value: string, adds: readonly Grantable[]])[];

/** One group of attributes. */
interface AccessAttributes {
  /** Attributes with their values, from weak to strong, and the permissions that each value adds. */
  readonly enums: Readonly<Record<string, EnumValues>>;
  /** Attributes that are true or false, with the permissions that true grants. */
  readonly booleans: Readonly<Record<string, readonly Grantable[]>>;
}

const WORKSPACE_ENUMS: AccessAttributes['enums'] = {
  runs: [
    ['read', ['can-read-run']],
    ['plan', ['can-queue-run']],
    ['apply', ['can-queue-apply', 'can-queue-destroy']],
  ],
  variables: [
    ['none', []],
    ['read', ['can-read-variable']],
    ['write', ['can-update-variable']],
  ],
  'state-versions': [
    ['none', []],
    ['read-outputs', ['can-read-state-outputs']],
    ['read', ['can-read-state-versions']],
    ['write', ['can-create-state-versions']],
  ],
  'policy-mocks': [
    ['none', []],
    ['read', ['policy-mocks']],
  ],
};

export const WORKSPACE_ACCESS: AccessAttributes = {
  enums: WORKSPACE_ENUMS,
  booleans: {
    'workspace-locking': ['can-lock', 'can-unlock'],
    'run-tasks': ['can-manage-run-tasks'],
    'policy-overrides': ['policy-overrides'],
  },
};

/** The attributes of a project access: for the workspaces of the project, and for the project itself. */
export const PROJECT_ACCESS: Readonly<Record<'workspace-access' | 'project-access', AccessAttributes>> = {
  'workspace-access': {
    enums: WORKSPACE_ENUMS,
    booleans: {
      create: ['create-workspaces'],
      locking: ['can-lock', 'can-unlock'],
      move: ['move-workspaces'],
      delete: ['can-destroy'],
      'run-tasks': ['can-manage-run-tasks'],
      'policy-overrides': ['policy-overrides'],
    },
  },
  'project-access': {
    enums: {
      settings: [
        ['read', []],
        ['update', ['update-project']],
        ['delete', ['delete-project']],
      ],
      teams: [
        ['none', []],
        ['read', ['read-teams']],
        ['manage', ['manage-teams']],
      ],
      'variable-sets': [
        ['none', []],
        ['read', ['read-variable-sets']],
        ['write', ['write-variable-sets']],
      ],
    },
    booleans: {},
  },
};

/** The attributes of an access, computed from the permissions that it grants. */
function accessAttributes(
  { enums, booleans }: AccessAttributes,
  access: string,
  custom: string | null,
): Record<string, unknown> {
  const granted = new Set(grantedBy(access, custom));
  return Object.fromEntries([
    ...Object.entries(enums).map(([name, values]) => {
      const reached = values.filter(([, adds]) => adds.every((one) => granted.has(one)));
      return [name, reached.at(-1)?.[0] ?? values[0]?.[0]];
    }),
    ...Object.entries(booleans).map(([name, adds]) => [name, adds.every((one) => granted.has(one))]),
  ]);
}

/** The permissions of a custom access after the request; permissions without an attribute stay as they are. */
export function readAccessAttributes(
  { enums, booleans }: AccessAttributes,
  read: MemberReader,
  attributes: BodyObject,
  before: readonly Grantable[],
): Grantable[] {
  const granted = new Set(before);
  for (const [name, values] of Object.entries(enums)) {
    const allowed = values.map(([value]) => value);
    const value = read.nullableWord(name, allowed);
    if (value === undefined || value === null) continue;
    for (const [index, [, adds]] of values.entries()) {
      for (const one of adds) toggle(granted, one, index <= allowed.indexOf(value));
    }
  }
  for (const [name, adds] of Object.entries(booleans)) {
    if (attributes[name] === undefined) continue;
    const on = read.boolean(name) === true;
    for (const one of adds) toggle(granted, one, on);
  }
  return [...granted];
}

function toggle(granted: Set<Grantable>, one: Grantable, on: boolean): void {
  if (on) granted.add(one);
  else granted.delete(one);
}

// What the audit trail records when a team's access to a workspace or a project changes (wire/audit-trails 3.2).

interface AccessChange {
  readonly kind: AccessKind;
  /** The row after the change; for a removal, the removed row. */
  readonly row: AccessRow;
  readonly organizationId: string;
  readonly action: 'add_team' | 'update_team_permissions' | 'remove_team';
}

/** Records an event of the workspace or the project. Call it in the transaction of the change. */
export function recordAccessEvent(request: ApiRequest, change: AccessChange): void {
  const { kind, row, organizationId, action } = change;
  const [team] = teamsById(request.services.database, [row.team_id]);
  const about = { id: row.thing_id, organization_id: organizationId };
  recordEvent(request, `${kind}.${action}`, about, {
    team: team?.name ?? row.team_id,
    permissions: action === 'remove_team' ? undefined : grantedText(row),
  });
}

/** The name of the level; for a custom access, the names of the permissions that it grants. */
export function grantedText({ access, custom_permissions: custom }: AccessRow): string {
  return access === 'custom' ? [...new Set(grantedBy(access, custom))].toSorted().join(', ') : access;
}
