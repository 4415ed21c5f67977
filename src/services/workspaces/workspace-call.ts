/** Makes calls about one workspace: call id, target, and the path with the workspace's id or a reference to it. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Call, CallId } from '../../model/plan/call.ts';
import type { CallContext } from '../../model/kind/kind.ts';
import type { Right } from './rights.ts';
import { workspaceOf } from './workspace-address.ts';

/**
 * The order of calls in one target, lowest first: workspaces before their tags, both before consumers, which may be any
 * workspace; then locks; then deletes, with the unlocks that they need just before them (rules 18, 32).
 */
export const callOrder = {
  /** calls that the service would refuse after the workspace itself was changed */
  beforeWorkspace: -5,
  unlockToRelease: -5,
  workspace: 0,
  tags: 5,
  consumers: 10,
  lock: 20,
  unlockToDelete: 25,
  remove: 30,
};

/** `Workspace/acme/app#create`. Other kinds use these ids in `needs` and `sharedCall`. */
export function callId(address: Address, suffix: string): CallId {
  return `${formatAddress(address)}#${suffix}`;
}

export type WorkspaceCallDraft = Pick<Call, 'method' | 'order' | 'success'> &
  Partial<
    Pick<
      Call,
      'body' | 'needs' | 'already' | 'writes' | 'takesFrom' | 'reliesOn' | 'refusalHints' | 'description'
    >
  > & {
    readonly permission: Right;
    /** the name of the call within its change */
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
