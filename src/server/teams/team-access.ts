/**
 * What teams may do with single projects and workspaces, as records: /team-projects and /team-workspaces.
 * Invariants: a team has one access to a thing; who administers the thing gives it; it is shown to who may see the thing.
 */
import type { Database } from '../data-file/database.ts';
import { stableId } from '../identifiers.ts';
import type { WorkspacesDialect } from '../workspaces-dialects.ts';
import type { Grantable } from '../identity/workspace-permissions.ts';
import type { Resource } from '../json-api/document.ts';
import { inWireNames } from '../workspaces/document/wire-names.ts';
import { accessWords, PROJECT_WORDS, WORKSPACE_WORDS } from './custom-access.ts';

/** The two kinds of things that teams have access to, and what differs between them. */
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
  thing_id: string;
  access: string;
  /** JSON: what a custom access grants. */
  custom_permissions: string | null;
}

export function accessById(database: Database, kind: AccessKind, id: string): AccessRow | undefined {
  const { columns, table } = TEAM_ACCESSES[kind];
  return database.get<AccessRow>(`SELECT ${columns} FROM ${table} a WHERE a.id = :id`, { id });
}

export interface Grant {
  readonly teamId: string;
  readonly thingId: string;
  readonly access: string;
  /** For a custom access. */
  readonly permissions?: readonly Grantable[] | undefined;
}

/** Gives a team this access, in the place of what it had. */
export function grantAccess(database: Database, kind: AccessKind, grant: Grant): void {
  const { table, column, prefix } = TEAM_ACCESSES[kind];
  const custom = grant.access === 'custom' ? JSON.stringify(grant.permissions ?? []) : null;
  database.run(
    `INSERT INTO ${table} (id, team_id, ${column}, access, custom_permissions)
     VALUES (:id, :team, :thing, :access, :custom)
     ON CONFLICT (team_id, ${column}) DO UPDATE SET access = excluded.access,
       custom_permissions = excluded.custom_permissions`,
    {
      // The same for the same two, so that a seed makes the same ids everywhere.
      id: stableId(prefix, grant.teamId, grant.thingId),
      team: grant.teamId,
      thing: grant.thingId,
      access: grant.access,
      custom,
    },
  );
}

export function accessResource(kind: AccessKind, row: AccessRow, dialect: WorkspacesDialect): Resource {
  const { type, related } = TEAM_ACCESSES[kind];
  const words = (of: typeof WORKSPACE_WORDS) =>
    inWireNames(accessWords(of, row.access, row.custom_permissions), dialect);
  return {
    id: row.id,
    type,
    attributes: {
      access: row.access,
      ...(kind === 'workspace'
        ? words(WORKSPACE_WORDS)
        : Object.fromEntries(Object.entries(PROJECT_WORDS).map(([name, of]) => [name, words(of)]))),
    },
    relationships: {
      team: { data: { id: row.team_id, type: 'teams' }, links: { related: `/api/v2/teams/${row.team_id}` } },
      [kind]: {
        data: { id: row.thing_id, type: related },
        links: { related: `/api/v2/${related}/${row.thing_id}` },
      },
    },
    links: { self: `/api/v2/${type}/${row.id}` },
  };
}
