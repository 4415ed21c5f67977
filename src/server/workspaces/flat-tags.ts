/**
 * Flat tags of a workspace: GET, POST and DELETE …/relationships/tags. A tag exists once in an organization, and only while a
 * workspace has it; a workspace's tags keep the order in which they were added.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { invalid, notFound, type PointedProblem, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, queryText } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { asObject, readIdentifiers, readResourceList } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import {
  requireOfOrganization,
  requireOrganization,
  requireOrganizationRight,
  requireWorkspace,
} from './access.ts';
import { type GuardedWorkspace, readableCondition, workspacePermissions } from './permissions.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

interface TagRow {
  id: string;
  organization_id: string;
  name: string;
  created_at: string;
  instance_count: number;
}

export function listTags(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const query = {
    select: 't.*, (SELECT COUNT(*) FROM workspace_tags x WHERE x.tag_id = t.id) AS instance_count',
    from: `workspace_tags wt JOIN tags t ON t.id = wt.tag_id
      WHERE wt.workspace_id = :workspace AND (:name IS NULL OR t.name = LOWER(:name))`,
    order: 'wt.position',
    parameters: { workspace: workspace.id, name: queryText(request.query, 'name') || null },
  };
  return pagedAnswer<TagRow>(request, query, (rows) =>
    rows.map((row) => tagResource(row, workspace.organization_name)),
  );
}

function tagResource(row: TagRow, organizationName: string): Resource {
  return {
    id: row.id,
    type: 'tags',
    attributes: { name: row.name, 'created-at': row.created_at, 'instance-count': row.instance_count },
    relationships: { organization: { data: { id: organizationName, type: 'organizations' } } },
  };
}

export function postTags(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-manage-tags');
  const names = requestedNames(request, workspace, normalTagName);
  const added = addTags(request.services.database, workspace, names, request.services.now());
  recordAddedTags(request, workspace, added);
  return NO_CONTENT;
}

/** An unknown or invalid name is ignored, because there is nothing to remove. */
export function deleteTags(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-manage-tags');
  const names = requestedNames(request, workspace, lowerCase);
  const existing = new Set(tagNamesOf(request.services.database, [workspace.id]).get(workspace.id));
  request.services.database.run(
    `DELETE FROM workspace_tags WHERE workspace_id = :workspace AND tag_id IN (
       SELECT id FROM tags WHERE organization_id = :organization AND name IN (SELECT value FROM json_each(:names)))`,
    { workspace: workspace.id, organization: workspace.organization_id, names: JSON.stringify(names) },
  );
  dropUnusedTags(request.services.database, workspace.organization_id);
  const removed = [...new Set(names)].filter((name) => existing.has(name));
  const meta = { 'tags-removed': removed };
  if (removed.length > 0) recordEvent(request, 'workspace.update', workspace, meta);
  return NO_CONTENT;
}

/** Adds these tags to the workspace, in this order, after its existing ones. Names must be normalized. @returns the new ones */
export function addTags(
  database: Database,
  workspace: Pick<WorkspaceRecord, 'id' | 'organization_id'>,
  names: readonly string[],
  now: Date,
): string[] {
  return names.filter((name) => {
    database.run(
      `INSERT OR IGNORE INTO tags (id, organization_id, name, created_at) VALUES (:id, :organization, :name, :now)`,
      { id: newId('tag'), organization: workspace.organization_id, name, now: now.toISOString() },
    );
    const added = database.run(
      `INSERT OR IGNORE INTO workspace_tags (workspace_id, tag_id)
       SELECT :workspace, id FROM tags WHERE organization_id = :organization AND name = :name`,
      { workspace: workspace.id, organization: workspace.organization_id, name },
    );
    return added > 0;
  });
}

/** Records the tags that were added to a workspace; nothing when there are none. */
function recordAddedTags(
  request: ApiRequest,
  workspace: Pick<WorkspaceRecord, 'id' | 'organization_id'>,
  added: readonly string[],
): void {
  const meta = { 'tags-added': added };
  if (added.length > 0) recordEvent(request, 'workspace.update', workspace, meta);
}

/** Deletes the organization's tags that no workspace has. */
export function dropUnusedTags(database: Database, organizationId: string): void {
  database.run(
    `DELETE FROM tags WHERE organization_id = :organization
     AND NOT EXISTS (SELECT 1 FROM workspace_tags wt WHERE wt.tag_id = tags.id)`,
    { organization: organizationId },
  );
}

/** The tag names of many workspaces in one query, for each workspace in the order of adding. */
export function tagNamesOf(database: Database, workspaceIds: readonly string[]): Map<string, string[]> {
  const rows = database.all<{ workspace_id: string; name: string }>(
    `SELECT wt.workspace_id, t.name FROM workspace_tags wt JOIN tags t ON t.id = wt.tag_id
     WHERE wt.workspace_id IN (SELECT value FROM json_each(:ids)) ORDER BY wt.position`,
    { ids: JSON.stringify(workspaceIds) },
  );
  const names = new Map(workspaceIds.map((id): [string, string[]] => [id, []]));
  for (const row of rows) names.get(row.workspace_id)?.push(row.name);
  return names;
}

/**
 * The tags that a body names, by id or by name. `readName` returns the name as it is stored, or undefined to refuse the tag.
 * @throws ApiError 404 for an unknown id, 422 for a refused tag
 */
function requestedNames(
  request: ApiRequest,
  workspace: WorkspaceRecord,
  readName: (value: unknown) => string | undefined,
): string[] {
  const problems: PointedProblem[] = [];
  const names = readResourceList(request.body, 'tags').flatMap((item, index) => {
    const name =
      item['id'] === undefined || item['id'] === ''
        ? readName(asObject(item['attributes'])?.['name'])
        : nameOfTag(request.services, workspace, item['id']);
    if (name !== undefined) return [name];
    problems.push({ detail: TAG_NAME_RULE, pointer: `/data/${index}/attributes/name` });
    return [];
  });
  if (problems.length > 0) throw invalid(problems);
  return names;
}

function lowerCase(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toLowerCase() : undefined;
}

function nameOfTag(services: Services, workspace: WorkspaceRecord, id: unknown): string {
  const tag = services.database.get<{ name: string }>(
    'SELECT name FROM tags WHERE id = :id AND organization_id = :organization',
    { id: String(id), organization: workspace.organization_id },
  );
  if (tag === undefined) throw notFound('Tag');
  return tag.name;
}

// Reading flat tags.
// Invariant: names are stored in lower case, so names that differ only in case are the same tag.

const TAG_NAME = /^[a-z0-9]([a-z0-9:_-]*[a-z0-9])?$/;
const MAX_TAG_NAME_LENGTH = 255;

/** The name as it is stored; undefined for an invalid name. */
export function normalTagName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value.toLowerCase();
  return name.length <= MAX_TAG_NAME_LENGTH && TAG_NAME.test(name) ? name : undefined;
}

export const TAG_NAME_RULE =
  'A tag name holds letters, digits, ":", "-" and "_", and begins and ends with a letter or a digit';

/** Reads `relationships.tags` of a create; undefined when there is none. */
export function readTagNames(relationship: unknown, problems: PointedProblem[]): string[] | undefined {
  if (relationship === undefined) return undefined;
  const pointer = '/data/relationships/tags/data';
  const data = asObject(relationship)?.['data'];
  if (!Array.isArray(data)) {
    problems.push({ detail: 'tags must be a list of tags', pointer });
    return undefined;
  }
  return data.flatMap((item: unknown, index) => {
    const name = normalTagName(asObject(asObject(item)?.['attributes'])?.['name']);
    if (name !== undefined) return [name];
    problems.push({ detail: TAG_NAME_RULE, pointer: `${pointer}/${index}/attributes/name` });
    return [];
  });
}

// The flat tags of all workspaces of an organization: GET and DELETE /organizations/:organization_name/tags, and adding a tag
// to workspaces: POST /tags/:tag_id/relationships/workspaces.
// Invariants: a tag is listed as long as a workspace has it; counts include all workspaces, also those that the caller cannot
// read.

/**
 * `q` searches in names; `filter[exclude][taggable][id]` leaves out the tags of that workspace,
 * if the caller can read it.
 */
export function listOrganizationTags(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
  const query = {
    select: 't.*, (SELECT COUNT(*) FROM workspace_tags x WHERE x.tag_id = t.id) AS instance_count',
    from: `tags t WHERE t.organization_id = :organization AND INSTR(t.name, LOWER(:part)) > 0
      AND t.id NOT IN (
        SELECT x.tag_id FROM workspace_tags x JOIN workspaces w ON w.id = x.workspace_id
        WHERE w.id = :excluded AND ${readableCondition(request.caller, organization.id)})`,
    order: 't.name',
    parameters: {
      organization: organization.id,
      part: queryText(request.query, 'q') ?? '',
      teams: JSON.stringify(request.caller.teamIds),
      excluded: queryText(request.query, 'filter[exclude][taggable][id]') ?? '',
    },
  };
  return pagedAnswer<TagRow>(request, query, (rows) =>
    rows.map((row) => tagResource(row, organization.name)),
  );
}

/** Deletes tags of the organization. All workspaces that have them lose them. */
export function deleteOrganizationTags(request: ApiRequest): ApiAnswer {
  const organization = requireOrganizationRight(request, 'manageWorkspaces');
  const ids = readIdentifiers(request.body, 'tags').map(({ id }) => id);
  const known = request.services.database.all<{ id: string }>(
    'SELECT id FROM tags WHERE organization_id = :organization AND id IN (SELECT value FROM json_each(:ids))',
    { organization: organization.id, ids: JSON.stringify(ids) },
  );
  if (known.length < new Set(ids).size) throw notFound('Tag');
  const affected = request.services.database.all<{ id: string; names: string }>(
    `SELECT x.workspace_id AS id, json_group_array(t.name ORDER BY x.position) AS names
     FROM workspace_tags x JOIN tags t ON t.id = x.tag_id
     WHERE t.id IN (SELECT value FROM json_each(:ids)) GROUP BY x.workspace_id ORDER BY x.workspace_id`,
    { ids: JSON.stringify(ids) },
  );
  request.services.database.run('DELETE FROM tags WHERE id IN (SELECT value FROM json_each(:ids))', {
    ids: JSON.stringify(ids),
  });
  for (const { id, names } of affected) {
    const meta = { 'tags-removed': JSON.parse(names) as string[] };
    const workspace = { id, organization_id: organization.id };
    recordEvent(request, 'workspace.update', workspace, meta);
  }
  return NO_CONTENT;
}

/** Adds the tag to the workspaces in the body. The caller must have the right to manage the tags of all of them. */
export function tagWorkspaces(request: ApiRequest): ApiAnswer {
  const found = request.services.database.byId<TagRow>('tags', request.params['tag_id'] ?? '');
  const tag = requireOfOrganization(request, found, 'Tag');
  requireTagger(request, tag.organization_id);
  const ids = readIdentifiers(request.body, 'workspaces').map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    const params = { workspace_id: id };
    const { workspace } = requireWorkspace({ ...request, params }, 'can-manage-tags');
    if (workspace.organization_id !== tag.organization_id) {
      throw invalid([
        { detail: 'The workspace belongs to another organization', pointer: `/data/${index}/id` },
      ]);
    }
    const added = addTags(request.services.database, workspace, [tag.name], request.services.now());
    recordAddedTags(request, workspace, added);
  }
  return NO_CONTENT;
}

/**
 * Call it before the body, which names the workspaces, is read.
 * @throws ApiError 404 for a caller who may not manage the tags of any workspace
 */
function requireTagger({ services: { database }, caller }: ApiRequest, organizationId: string): void {
  const rights = caller.organizations.get(organizationId);
  if (rights?.manageWorkspaces || rights?.manageProjects) return;
  const workspaces = database.all<GuardedWorkspace>(
    `SELECT w.id, w.organization_id, 0 AS allow_force_delete_workspaces
     FROM workspaces w WHERE w.organization_id = :organization AND ${readableCondition(caller, organizationId)}`,
    { organization: organizationId, teams: JSON.stringify(caller.teamIds) },
  );
  const permissions = workspacePermissions(database, caller, workspaces);
  if (![...permissions.values()].some((may) => may['can-manage-tags'])) throw notFound('Workspace');
}
