/**
 * The endpoints of workspaces in one table: verb, path below /api/v2, handler.
 * Invariant: an operation that has two paths (by id, by organization and name) has one handler.
 */
import { type Endpoint, type Handler, type Method, on } from '../json-api/endpoint.ts';
import { createWorkspace } from './create.ts';
import {
  deleteRetentionPolicy,
  putRetentionPolicy,
  showRetentionPolicy,
} from './related/data-retention-policy.ts';
import { forceDeleteWorkspace, safeDeleteWorkspace } from './delete.ts';
import { listWorkspaces } from './list/list.ts';
import { forceUnlockWorkspace, lockWorkspace, unlockWorkspace } from './lock.ts';
import {
  addRemoteStateConsumers,
  listRemoteStateConsumers,
  removeRemoteStateConsumers,
  replaceRemoteStateConsumers,
} from './related/remote-state-consumers.ts';
import { showWorkspace } from './show.ts';
import { assignSshKey } from './related/ssh-key.ts';
import { addTagBindings, patchTagBindings, replaceWorkspaceTagBindings } from './tags/bind-tags.ts';
import { listEffectiveTagBindings, listTagBindings } from './tags/tag-bindings.ts';
import { deleteTags, listTags, postTags } from './tags/tags.ts';
import { updateWorkspace } from './update.ts';
import { showAccount } from './related/user.ts';

const COLLECTION = '/organizations/:organization_name/workspaces';
const BY_NAME = `${COLLECTION}/:name`;
const BY_ID = '/workspaces/:workspace_id';
const RELATED = `${BY_ID}/relationships`;

export const WORKSPACE_ENDPOINTS: readonly Endpoint[] = [
  on('GET', COLLECTION, listWorkspaces),
  on('POST', COLLECTION, createWorkspace),
  on('GET', BY_ID, showWorkspace),
  on('GET', BY_NAME, showWorkspace),
  on('PATCH', BY_ID, updateWorkspace),
  on('PATCH', BY_NAME, updateWorkspace),
  on('DELETE', BY_ID, forceDeleteWorkspace),
  on('DELETE', BY_NAME, forceDeleteWorkspace),
  on('POST', `${BY_ID}/actions/safe-delete`, safeDeleteWorkspace),
  on('POST', `${BY_NAME}/actions/safe-delete`, safeDeleteWorkspace),
  on('POST', `${BY_ID}/actions/lock`, lockWorkspace),
  on('POST', `${BY_ID}/actions/unlock`, unlockWorkspace),
  on('POST', `${BY_ID}/actions/force-unlock`, forceUnlockWorkspace),
  on('PATCH', `${RELATED}/ssh-key`, assignSshKey),
  on('GET', `${RELATED}/remote-state-consumers`, listRemoteStateConsumers),
  on('PATCH', `${RELATED}/remote-state-consumers`, replaceRemoteStateConsumers),
  on('POST', `${RELATED}/remote-state-consumers`, addRemoteStateConsumers),
  on('DELETE', `${RELATED}/remote-state-consumers`, removeRemoteStateConsumers),
  on('GET', `${RELATED}/tags`, listTags),
  on('POST', `${RELATED}/tags`, postTags),
  on('DELETE', `${RELATED}/tags`, deleteTags),
  on('GET', `${BY_ID}/tag-bindings`, listTagBindings),
  on('PATCH', `${BY_ID}/tag-bindings`, patchTagBindings),
  on('GET', `${RELATED}/tag-bindings`, listTagBindings),
  on('POST', `${RELATED}/tag-bindings`, addTagBindings),
  on('PATCH', `${RELATED}/tag-bindings`, replaceWorkspaceTagBindings),
  on('GET', `${BY_ID}/effective-tag-bindings`, listEffectiveTagBindings),
  onRetentionPolicy('GET', showRetentionPolicy),
  onRetentionPolicy('POST', putRetentionPolicy),
  onRetentionPolicy('PATCH', putRetentionPolicy),
  onRetentionPolicy('DELETE', deleteRetentionPolicy),
  // Not in the spec.
  on('GET', '/account/details', showAccount),
];

function onRetentionPolicy(method: Method, handler: Handler): Endpoint {
  return { ...on(method, `${RELATED}/data-retention-policy`, handler), needs: 'dataRetentionPolicies' };
}
