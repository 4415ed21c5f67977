/**
 * Makes calls about one workspace: call id, target, and the path with the workspace's id or a reference to it. Makes their bodies, in
 * the neutral names of wire/workspaces 5.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Call, CallId, CallObject } from '../../model/call.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { CallContext } from '../../model/kind-calls.ts';
import { addressInsteadOfId } from '../../model/named-reference.ts';
import { ownershipTagKey } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import type { Tags } from './tag-bindings.ts';
import { type Right, workspaceOf } from './workspace.ts';

/**
 * The order of calls in one target, lowest first. Consumers come after all workspaces, because any workspace may be one. Deletes come
 * last, after the unlocks that they need.
 */
export const callOrder = {
  project: -10,
  /** calls that the service would refuse once the workspace itself was changed */
  beforeWorkspace: -5,
  unlockToRelease: -5,
  workspace: 0,
  tags: 5,
  consumers: 10,
  lock: 20,
  unlockToDelete: 25,
  remove: 30,
  removeProject: 40,
};

/** `Workspace/acme/app#create`. Other kinds use these ids in `needs` and `sharedCall`. */
export function callId(address: Address, suffix: string): CallId {
  return `${formatAddress(address)}#${suffix}`;
}

export type WorkspaceCallDraft = Pick<Call, 'method' | 'order' | 'success'> &
  Partial<
    Pick<
      Call,
      | 'body'
      | 'needs'
      | 'already'
      | 'writes'
      | 'takesFrom'
      | 'reliesOn'
      | 'sharesRead'
      | 'refusalHints'
      | 'description'
    >
  > & {
    readonly permission: Right;
    /** the name of the call within its change */
    readonly suffix: string;
    /** segments below the workspace */
    readonly below?: readonly string[];
  };

/**
 * A repeatable call on the workspace at `address`, or on the parent of a child at `address`; undefined when there is no such
 * workspace, neither live nor created by this plan.
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

/** The body of a create or an update. Empty parts are left out. */
export function workspaceBody(attributes: JsonObject, relationships: CallObject = {}): CallObject {
  return documentBody('workspaces', attributes, relationships);
}

/** The body of a create or an update of any type of document. */
export function documentBody(type: string, attributes: JsonObject, relationships: CallObject): CallObject {
  return {
    data: {
      type,
      ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
      ...(Object.keys(relationships).length === 0 ? {} : { relationships }),
    },
  };
}

/**
 * The value of `relationships.tag-bindings`, and the body of a call that adds bindings; sorted by key, the ownership tag last.
 * @param ownershipKey of a workspace, unless another one is given
 */
export function tagBindingList(
  tags: Tags,
  ownershipTag?: string,
  ownershipKey: string = ownershipTagKey,
): JsonObject {
  const bindings = Object.keys(tags)
    .sort()
    .map((key) => tagBinding(key, tags[key] ?? ''));
  return {
    data: ownershipTag === undefined ? bindings : [...bindings, tagBinding(ownershipKey, ownershipTag)],
  };
}

/** The value of `relationships.tags` in a create, and the body of a call that adds or removes flat tags. */
export function flatTagList(names: readonly string[]): JsonObject {
  return { data: names.map((name) => ({ type: 'tags', attributes: { name } })) };
}

function tagBinding(key: string, value: string): JsonObject {
  return { type: 'tag-bindings', attributes: { key, value } };
}

/**
 * The attribute that every update must repeat, because a service may reset it to false when it is left out.
 * Empty if the service does not have it in its answers.
 */
export function repeatedAssessments(live: Json | undefined): JsonObject {
  return typeof live === 'boolean' ? { 'assessments-enabled': live } : {};
}

/** Whether the service refuses assessments of a workspace with this mode: some dialects allow them on agents (wire/workspaces 5.4). */
export function refusesAssessments(mode: string, { capabilities }: Dialect): boolean {
  return mode === 'local' || (mode === 'agent' && !capabilities.has('assessments-on-agents'));
}

/**
 * The live value that an update repeats where nothing is declared; undefined if the service would refuse it.
 * @param mode the execution mode that the workspace gets
 */
export function keptAssessments(
  live: Json | undefined,
  { mode, dialect }: { readonly mode: Json | undefined; readonly dialect: Dialect },
): Json | undefined {
  return live === true && typeof mode === 'string' && refusesAssessments(mode, dialect) ? undefined : live;
}

/**
 * Puts a workspace into a project; empty without one, because the service then uses its default project.
 * @param project its id, or the address of one that the same plan creates
 */
export function projectRelationship(
  project: Json | undefined,
  { idOf }: Pick<CallContext, 'idOf'>,
): CallObject {
  if (typeof project !== 'string') return {};
  const created = addressInsteadOfId(project);
  const id = (created && idOf(created)) ?? project;
  return { project: { data: { type: 'projects', id } } };
}
