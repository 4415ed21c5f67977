// A call of each endpoint of the workspaces API, with the column of the table of rights that allows it, and in `allowed` the
// status of the response in that case. Every endpoint has at least one row.

import { identifiers, workspaceBody } from '../serve-for-test.ts';
import { OTHER_PROJECT, PROJECT } from './principals.ts';

export interface Operation {
  /** such as `PATCH /workspaces/:workspace_id`, as in the service's table of endpoints */
  readonly endpoint: string;
  readonly column: string;
  readonly allowed: number;
  /** a run must hold the workspace's lock */
  readonly needsLock?: true;
  /** the workspace must have a retention policy of its own */
  readonly needsRetention?: true;
  /** @param consumer a workspace that the caller can read if it can read its own */
  readonly body?: (name: string, consumer: string) => unknown;
}

const LIST = '/organizations/:organization_name/workspaces';
const BY_NAME = `${LIST}/:name`;
const BY_ID = '/workspaces/:workspace_id';
const CONSUMERS = `${BY_ID}/relationships/remote-state-consumers`;
const TAGS = `${BY_ID}/relationships/tags`;
const BINDINGS = `${BY_ID}/relationships/tag-bindings`;
const RETENTION = `${BY_ID}/relationships/data-retention-policy`;

const project = (name: string) => ({ project: { data: { type: 'projects', id: `prj-${name}` } } });
const description = () => workspaceBody({ description: 'by somebody else' });
const consumers = (_name: string, consumer: string) => identifiers([consumer]);
const tags = () => ({ data: [{ type: 'tags', attributes: { name: 'by-somebody' } }] });
const binding = () => ({ data: [{ type: 'tag-bindings', attributes: { key: 'by', value: 'somebody' } }] });
const retention = () => ({ data: { type: 'data-retention-policy-dont-deletes' } });
const sshKey = () => ({ data: { type: 'workspaces', attributes: { id: 'sshkey-deploy' } } });

export const OPERATIONS: readonly Operation[] = [
  { endpoint: 'GET /account/details', column: 'account', allowed: 200 },
  { endpoint: 'GET /organizations/:organization_name', column: 'belong', allowed: 200 },
  { endpoint: `GET ${LIST}`, column: 'belong', allowed: 200 },
  {
    endpoint: `POST ${LIST}`,
    column: 'create',
    allowed: 201,
    body: (name) => workspaceBody({ name: `${name}-new` }),
  },
  {
    endpoint: `POST ${LIST}`,
    column: 'create-in',
    allowed: 201,
    body: (name) => workspaceBody({ name: `${name}-new` }, project(PROJECT)),
  },
  { endpoint: `GET ${BY_ID}`, column: 'view', allowed: 200 },
  { endpoint: `GET ${BY_NAME}`, column: 'view', allowed: 200 },
  { endpoint: `PATCH ${BY_ID}`, column: 'change', allowed: 200, body: description },
  { endpoint: `PATCH ${BY_NAME}`, column: 'change', allowed: 200, body: description },
  {
    endpoint: `PATCH ${BY_ID}`,
    column: 'move',
    allowed: 200,
    body: () => workspaceBody({}, project(OTHER_PROJECT)),
  },
  { endpoint: `DELETE ${BY_ID}`, column: 'force-delete', allowed: 204 },
  { endpoint: `DELETE ${BY_NAME}`, column: 'force-delete', allowed: 204 },
  { endpoint: `POST ${BY_ID}/actions/safe-delete`, column: 'safe-delete', allowed: 204 },
  { endpoint: `POST ${BY_NAME}/actions/safe-delete`, column: 'safe-delete', allowed: 204 },
  { endpoint: `POST ${BY_ID}/actions/lock`, column: 'lock', allowed: 200, body: () => ({ reason: 'why' }) },
  // Principals with the right to unlock get 409 with the holder of the lock.
  { endpoint: `POST ${BY_ID}/actions/unlock`, column: 'unlock', allowed: 409, needsLock: true },
  { endpoint: `POST ${BY_ID}/actions/force-unlock`, column: 'force-unlock', allowed: 200, needsLock: true },
  { endpoint: `PATCH ${BY_ID}/relationships/ssh-key`, column: 'change', allowed: 200, body: sshKey },
  { endpoint: `GET ${CONSUMERS}`, column: 'view', allowed: 200 },
  { endpoint: `PATCH ${CONSUMERS}`, column: 'replace', allowed: 204, body: consumers },
  { endpoint: `POST ${CONSUMERS}`, column: 'change', allowed: 204, body: consumers },
  { endpoint: `DELETE ${CONSUMERS}`, column: 'change', allowed: 204, body: consumers },
  { endpoint: `GET ${TAGS}`, column: 'view', allowed: 200 },
  { endpoint: `POST ${TAGS}`, column: 'tags', allowed: 204, body: tags },
  { endpoint: `DELETE ${TAGS}`, column: 'tags', allowed: 204, body: tags },
  { endpoint: `GET ${BY_ID}/tag-bindings`, column: 'view', allowed: 200 },
  { endpoint: `PATCH ${BY_ID}/tag-bindings`, column: 'tags', allowed: 200, body: binding },
  { endpoint: `GET ${BINDINGS}`, column: 'view', allowed: 200 },
  { endpoint: `POST ${BINDINGS}`, column: 'tags', allowed: 204, body: binding },
  { endpoint: `PATCH ${BINDINGS}`, column: 'tags', allowed: 204, body: binding },
  { endpoint: `GET ${BY_ID}/effective-tag-bindings`, column: 'view', allowed: 200 },
  { endpoint: `GET ${RETENTION}`, column: 'view', allowed: 200 },
  { endpoint: `POST ${RETENTION}`, column: 'change', allowed: 200, body: retention },
  { endpoint: `PATCH ${RETENTION}`, column: 'change', allowed: 200, body: retention },
  { endpoint: `DELETE ${RETENTION}`, column: 'change', allowed: 204, needsRetention: true },
];

/** The path below /api/v2 for the workspace with this name. */
export function pathOf({ endpoint }: Operation, name: string): string {
  const [, pattern = ''] = endpoint.split(' ');
  return pattern
    .replace(':organization_name', 'acme')
    .replace(':name', name)
    .replace(':workspace_id', `ws-${name}`);
}

export const RETENTION_POLICY = retention();
