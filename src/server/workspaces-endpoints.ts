/**
 * Every endpoint below /api/v2, and every file with signed links. If one file handles a resource, the table of its endpoints is in
 * that file. The tables of resources with several files are here.
 */
import { AUDIT_TRAIL_ENDPOINTS } from './workspaces/audit-trail.ts';
import { type Endpoint, type Handler, type Method, NO_CONTENT, on, recordedRead } from './kernel/endpoint.ts';
import type { Services } from './kernel/services.ts';
import type { StoredFile } from './kernel/signed-links.ts';
import { NAMED_RECORD_ENDPOINTS } from './workspaces/agent-pools-and-ssh-keys.ts';
import { ASSESSMENT_RESULT_ENDPOINTS } from './workspaces/assessment-results.ts';
import { ACCESS_TOKEN_ENDPOINTS } from './workspaces/authentication-tokens.ts';
import {
  CONFIGURATION_VERSION_ENDPOINTS,
  UPLOADED_CONFIGURATIONS,
} from './workspaces/configuration-versions.ts';
import { createStateVersion } from './workspaces/create-state-version.ts';
import {
  deleteOrganizationPolicy,
  deleteRetentionPolicy,
  putOrganizationPolicy,
  putRetentionPolicy,
  showOrganizationPolicy,
  showRetentionPolicy,
} from './workspaces/data-retention-policies.ts';
import {
  deleteOrganizationTags,
  deleteTags,
  listOrganizationTags,
  listTags,
  postTags,
  tagWorkspaces,
} from './workspaces/flat-tags.ts';
import {
  createOauthClient,
  deleteOauthClient,
  listOauthClients,
  listOauthTokens,
  listTokensOfClient,
  showOauthClient,
  showOauthToken,
} from './workspaces/oauth-clients.ts';
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  listStacks,
  showEntitlements,
  showOrganization,
  SITE_ADMINISTRATION_ENDPOINTS,
  updateOrganization,
} from './workspaces/organizations.ts';
import { PROJECT_ENDPOINTS } from './workspaces/projects.ts';
import {
  addRemoteStateConsumers,
  listRemoteStateConsumers,
  removeRemoteStateConsumers,
  replaceRemoteStateConsumers,
} from './workspaces/remote-state-consumers.ts';
import { RUN_ENDPOINTS, SERVED_LOGS } from './workspaces/runs.ts';
import { RUN_TRIGGER_ENDPOINTS } from './workspaces/run-triggers.ts';
import { listCurrentOutputs, listOutputs, showOutput } from './workspaces/state-outputs.ts';
import {
  findStateVersions,
  listStateVersions,
  showCurrentStateVersion,
  showStateVersion,
  STORED_STATES,
} from './workspaces/state-versions.ts';
import {
  addTagBindings,
  listEffectiveTagBindings,
  listTagBindings,
  patchTagBindings,
  replaceWorkspaceTagBindings,
} from './workspaces/tag-bindings.ts';
import { TEAM_ACCESS_ENDPOINTS } from './workspaces/team-access-endpoints.ts';
import {
  addTeamMembers,
  createTeam,
  deleteTeam,
  listTeams,
  removeTeamMembers,
  showTeam,
  updateTeam,
} from './workspaces/teams.ts';
import { showAccount, showUser } from './workspaces/users.ts';
import { VARIABLE_SET_ENDPOINTS } from './workspaces/variable-sets.ts';
import { VARIABLE_ENDPOINTS } from './workspaces/variables.ts';
import { listWorkspaces } from './workspaces/workspace-list.ts';
import { forceUnlockWorkspace, lockWorkspace, unlockWorkspace } from './workspaces/workspace-lock.ts';
import {
  assignSshKey,
  createWorkspace,
  forceDeleteWorkspace,
  safeDeleteWorkspace,
  showWorkspace,
  updateWorkspace,
} from './workspaces/workspaces.ts';

const ORGANIZATION = '/organizations/:organization_name';

const ORGANIZATION_ENDPOINTS: readonly Endpoint[] = [
  on('GET', '/organizations', listOrganizations),
  on('POST', '/organizations', createOrganization),
  on('GET', ORGANIZATION, showOrganization),
  on('PATCH', ORGANIZATION, updateOrganization),
  on('DELETE', ORGANIZATION, deleteOrganization),
  on('GET', `${ORGANIZATION}/entitlement-set`, showEntitlements),
  on('GET', `${ORGANIZATION}/stacks`, listStacks),
  organizationRetention('GET', showOrganizationPolicy),
  organizationRetention('POST', putOrganizationPolicy),
  organizationRetention('PATCH', putOrganizationPolicy),
  organizationRetention('DELETE', deleteOrganizationPolicy),
  on('GET', `${ORGANIZATION}/tags`, listOrganizationTags),
  on('DELETE', `${ORGANIZATION}/tags`, deleteOrganizationTags),
  on('POST', '/tags/:tag_id/relationships/workspaces', tagWorkspaces),
];

/** An endpoint of editions that have data retention policies. */
function organizationRetention(method: Endpoint['method'], handler: Endpoint['handler']): Endpoint {
  const endpoint = on(method, `${ORGANIZATION}/relationships/data-retention-policy`, handler);
  return { ...endpoint, needs: 'dataRetentionPolicies' };
}

// The endpoints of teams, their accesses, and users.

const TEAMS = '/organizations/:organization_name/teams';
const TEAM = '/teams/:team_id';

const TEAM_ENDPOINTS: readonly Endpoint[] = [
  on('GET', TEAMS, listTeams),
  on('POST', TEAMS, createTeam),
  on('GET', TEAM, showTeam),
  on('PATCH', TEAM, updateTeam),
  on('DELETE', TEAM, deleteTeam),
  on('POST', `${TEAM}/relationships/users`, addTeamMembers),
  on('DELETE', `${TEAM}/relationships/users`, removeTeamMembers),
  ...TEAM_ACCESS_ENDPOINTS,
  on('GET', '/users/:user_id', showUser),
];

// The endpoints of agent pools, SSH keys, OAuth clients and OAuth tokens.

const OAUTH_CLIENT = '/oauth-clients/:client_id';

const CONNECTION_ENDPOINTS: readonly Endpoint[] = [
  ...NAMED_RECORD_ENDPOINTS,
  on('GET', `${ORGANIZATION}/oauth-clients`, listOauthClients),
  on('POST', `${ORGANIZATION}/oauth-clients`, createOauthClient),
  on('GET', OAUTH_CLIENT, showOauthClient),
  on('DELETE', OAUTH_CLIENT, deleteOauthClient),
  recordedRead(`${OAUTH_CLIENT}/oauth-tokens`, listTokensOfClient),
  recordedRead(`${ORGANIZATION}/oauth-tokens`, listOauthTokens),
  recordedRead('/oauth-tokens/:token_id', showOauthToken),
];

// The endpoints of workspaces in one table: verb, path below /api/v2, handler.
// Invariant: an operation with two paths (by id, by organization and name) has one handler.

const WORKSPACES = '/organizations/:organization_name/workspaces';
const WORKSPACE_BY_NAME = `${WORKSPACES}/:name`;
const WORKSPACE = '/workspaces/:workspace_id';
const RELATED_TO_WORKSPACE = `${WORKSPACE}/relationships`;

export const WORKSPACE_ENDPOINTS: readonly Endpoint[] = [
  on('GET', WORKSPACES, listWorkspaces),
  on('POST', WORKSPACES, createWorkspace),
  on('GET', WORKSPACE, showWorkspace),
  on('GET', WORKSPACE_BY_NAME, showWorkspace),
  on('PATCH', WORKSPACE, updateWorkspace),
  on('PATCH', WORKSPACE_BY_NAME, updateWorkspace),
  on('DELETE', WORKSPACE, forceDeleteWorkspace),
  on('DELETE', WORKSPACE_BY_NAME, forceDeleteWorkspace),
  on('POST', `${WORKSPACE}/actions/safe-delete`, safeDeleteWorkspace),
  on('POST', `${WORKSPACE_BY_NAME}/actions/safe-delete`, safeDeleteWorkspace),
  on('POST', `${WORKSPACE}/actions/lock`, lockWorkspace),
  on('POST', `${WORKSPACE}/actions/unlock`, unlockWorkspace),
  on('POST', `${WORKSPACE}/actions/force-unlock`, forceUnlockWorkspace),
  on('PATCH', `${RELATED_TO_WORKSPACE}/ssh-key`, assignSshKey),
  on('GET', `${RELATED_TO_WORKSPACE}/remote-state-consumers`, listRemoteStateConsumers),
  on('PATCH', `${RELATED_TO_WORKSPACE}/remote-state-consumers`, replaceRemoteStateConsumers),
  on('POST', `${RELATED_TO_WORKSPACE}/remote-state-consumers`, addRemoteStateConsumers),
  on('DELETE', `${RELATED_TO_WORKSPACE}/remote-state-consumers`, removeRemoteStateConsumers),
  on('GET', `${RELATED_TO_WORKSPACE}/tags`, listTags),
  on('POST', `${RELATED_TO_WORKSPACE}/tags`, postTags),
  on('DELETE', `${RELATED_TO_WORKSPACE}/tags`, deleteTags),
  on('GET', `${WORKSPACE}/tag-bindings`, listTagBindings),
  on('PATCH', `${WORKSPACE}/tag-bindings`, patchTagBindings),
  on('GET', `${RELATED_TO_WORKSPACE}/tag-bindings`, listTagBindings),
  on('POST', `${RELATED_TO_WORKSPACE}/tag-bindings`, addTagBindings),
  on('PATCH', `${RELATED_TO_WORKSPACE}/tag-bindings`, replaceWorkspaceTagBindings),
  on('GET', `${WORKSPACE}/effective-tag-bindings`, listEffectiveTagBindings),
  workspaceRetention('GET', showRetentionPolicy),
  workspaceRetention('POST', putRetentionPolicy),
  workspaceRetention('PATCH', putRetentionPolicy),
  workspaceRetention('DELETE', deleteRetentionPolicy),
  // Not in the specification.
  on('GET', '/account/details', showAccount),
];

function workspaceRetention(method: Method, handler: Handler): Endpoint {
  return {
    ...on(method, `${RELATED_TO_WORKSPACE}/data-retention-policy`, handler),
    needs: 'dataRetentionPolicies',
  };
}

// The endpoints of state versions and their outputs.

const STATE_VERSION = '/state-versions/:state_version_id';

const STATE_VERSION_ENDPOINTS: readonly Endpoint[] = [
  recordedRead(`${WORKSPACE}/state-versions`, listStateVersions),
  { ...on('POST', `${WORKSPACE}/state-versions`, createStateVersion), takesLongBodies: true },
  recordedRead(`${WORKSPACE}/current-state-version`, showCurrentStateVersion),
  on('GET', `${WORKSPACE}/current-state-version-outputs`, listCurrentOutputs),
  recordedRead('/state-versions', findStateVersions),
  recordedRead(STATE_VERSION, showStateVersion),
  on('GET', `${STATE_VERSION}/outputs`, listOutputs),
  on('GET', '/state-version-outputs/:output_id', showOutput),
];

// Everything that is served below /api/v2, and the files with signed links: all tables, joined.
// Invariant: each table is listed here once.

export const API_ENDPOINTS: readonly Endpoint[] = [
  // Shows that the service runs and the token is valid. Clients send it first.
  { ...on('GET', '/ping', () => NO_CONTENT), isForAuditTrails: true },
  ...ORGANIZATION_ENDPOINTS,
  ...SITE_ADMINISTRATION_ENDPOINTS,
  ...PROJECT_ENDPOINTS,
  ...TEAM_ENDPOINTS,
  ...ACCESS_TOKEN_ENDPOINTS,
  ...CONNECTION_ENDPOINTS,
  ...WORKSPACE_ENDPOINTS,
  ...STATE_VERSION_ENDPOINTS,
  ...CONFIGURATION_VERSION_ENDPOINTS,
  ...RUN_ENDPOINTS,
  ...ASSESSMENT_RESULT_ENDPOINTS,
  ...VARIABLE_ENDPOINTS,
  ...VARIABLE_SET_ENDPOINTS,
  ...RUN_TRIGGER_ENDPOINTS,
  ...AUDIT_TRAIL_ENDPOINTS,
];

export const STORED_FILES: readonly StoredFile[] = [
  ...STORED_STATES,
  ...UPLOADED_CONFIGURATIONS,
  ...SERVED_LOGS,
];

/** The endpoints that the edition and the dialect have. */
export function endpointsOf({ edition, dialects }: Pick<Services, 'edition' | 'dialects'>): Endpoint[] {
  return API_ENDPOINTS.filter(
    ({ needs, needsOfDialect }) =>
      (needs === undefined || edition[needs]) &&
      (needsOfDialect === undefined || dialects.workspaces[needsOfDialect]),
  );
}
