/** The shape that calls about one workspace share: id, target, path below the workspace, and its own id or a reference to it. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Call, CallId } from '../../model/plan/call.ts';
import type { CallContext } from '../../model/kind/kind.ts';
import type { Right } from './rights.ts';
import { workspaceOf } from './workspace-address.ts';

/**
 * When calls of one target are sent, lowest first: workspaces before their tags, both before consumers, which may be
 * any workspace; then locks; deletes last, with what has to be undone for them just before (rules 18, 32).
 */
export const callOrder = {
  /** what the service refuses once the workspace is as it shall be */
  beforeWorkspace: -5,
  unlockToRelease: -5,
  workspace: 0,
  tags: 5,
  consumers: 10,
  lock: 20,
  unlockToDelete: 25,
  remove: 30,
};

/** `Workspace/acme/app#create`, which other kinds may need or share. */
export function callId(address: Address, suffix: string): CallId {
  return `${formatAddress(address)}#${suffix}`;
}

export type WorkspaceCallDraft = Pick<Call, 'method' | 'order' | 'success'> &
  Partial<Pick<Call, 'body' | 'needs' | 'already' | 'writes' | 'takesFrom' | 'description'>> & {
    readonly permission: Right;
    /** what the call is called within its change */
    readonly suffix: string;
    /** segments below the workspace */
    readonly below?: readonly string[];
  };

/**
 * A repeatable call on the workspace that `address` is or is a part of; undefined when there is no such workspace,
 * neither live nor created by this plan.
 */
export function workspaceCall(
  address: Address,
  context: CallContext,
  request: WorkspaceCallDraft,
): Call | undefined {
  const workspace = workspaceOf(address);
  const id = context.idOf(workspace);
  if (id === undefined) return undefined;
  const { suffix, below = [], needs = [], ...rest } = request;
  const created = typeof id === 'string' ? [] : [callId(workspace, 'create')];
  return {
    ...rest,
    id: callId(address, suffix),
    target: address.target,
    path: ['workspaces', id, ...below],
    needs: [...created, ...needs],
    repeatable: true,
  };
}
