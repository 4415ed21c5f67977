/**
 * The flat tags of all workspaces of an organization: GET and DELETE /organizations/:organization_name/tags, and giving
 * one to workspaces: POST /tags/:tag_id/relationships/workspaces.
 * Invariants: a tag is listed as long as a workspace has it; counts include all workspaces, also those that the caller cannot
 * read.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { type GuardedWorkspace, readableCondition, workspacePermissions } from './permissions.ts';
import { readIdentifiers } from '../kernel/request-body.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, queryText } from '../kernel/endpoint.ts';
import { invalid, notFound } from '../kernel/documents.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import {
  requireOfOrganization,
  requireOrganization,
  requireOrganizationRight,
  requireWorkspace,
} from './access.ts';
import { addTags, recordAddedTags, type TagRow, tagResource } from './flat-tags.ts';

/**
 * `q` is a part of the name; `filter[exclude][taggable][id]` leaves out what that workspace carries,
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

/** Takes tags away from all workspaces that carry them. */
export function deleteOrganizationTags(request: ApiRequest): ApiAnswer {
  const organization = requireOrganizationRight(request, 'manageWorkspaces');
  const ids = readIdentifiers(request.body, 'tags').map(({ id }) => id);
  const known = request.services.database.all<{ id: string }>(
    'SELECT id FROM tags WHERE organization_id = :organization AND id IN (SELECT value FROM json_each(:ids))',
    { organization: organization.id, ids: JSON.stringify(ids) },
  );
  if (known.length < new Set(ids).size) throw notFound('Tag');
  const losing = request.services.database.all<{ id: string; names: string }>(
    `SELECT x.workspace_id AS id, json_group_array(t.name ORDER BY x.position) AS names
     FROM workspace_tags x JOIN tags t ON t.id = x.tag_id
     WHERE t.id IN (SELECT value FROM json_each(:ids)) GROUP BY x.workspace_id ORDER BY x.workspace_id`,
    { ids: JSON.stringify(ids) },
  );
  request.services.database.run('DELETE FROM tags WHERE id IN (SELECT value FROM json_each(:ids))', {
    ids: JSON.stringify(ids),
  });
  for (const { id, names } of losing) {
    const meta = { 'tags-removed': JSON.parse(names) as string[] };
    const workspace = { id, organization_id: organization.id };
    recordEvent(request, 'workspace.update', workspace, meta);
  }
  return NO_CONTENT;
}

/** Needs the right to manage the tags of all these workspaces. */
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
        { detail: 'The workspace is one of another organization', pointer: `/data/${index}/id` },
      ]);
    }
    const added = addTags(request.services.database, workspace, [tag.name], request.services.now());
    recordAddedTags(request, workspace, added);
  }
  return NO_CONTENT;
}

/**
 * The body names the workspaces. A caller who may tag none gets its 404 before the body is read.
 * @throws ApiError 404
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
