/**
 * Converts a workspace document, of a read or of the response to a write, to a live workspace in the shape of a manifest. A field
 * that the service does not return is left out, never guessed; an inherited setting is `null`, not its effective value.
 */
import type { Inherited } from '../../api/workspaces/projects.ts';
import { type BoundTags, ownershipFromTag } from '../../api/workspaces/tag-bindings.ts';
import {
  asWorkspaceItem,
  poolOf,
  relatedId,
  rightsOf,
  type WorkspaceItem,
} from '../../api/workspaces/workspace.ts';
import type { Address } from '../../model/address.ts';
import { type Call, type CallValue, isCallObject } from '../../model/call.ts';
import { kebabCase } from '../../model/field.ts';
import type { Answer } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, textsOf } from '../../model/json.ts';
import type { ReturnedFields } from '../../model/kind-calls.ts';
import { type OwnershipEvidence, stackOfCreatorMark } from '../../model/resource.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import {
  fields,
  fieldsOutside,
  plainAttributes,
  sourceAttributes,
  spelledAs,
  triggerLists,
} from './fields.ts';
import { hidesOwnMode, keepsOldMode, ownModeOf } from './limited-services.ts';
import { lockOf } from './lock.ts';
import { showsDerived } from './triggers.ts';
import type {
  LiveSpec,
  LiveWorkspace,
  RepositoryFields,
  RetentionPolicy,
  WorkspaceFacts,
} from './workspace-types.ts';

interface ReadWorkspace {
  readonly item: WorkspaceItem;
  readonly dialect: Dialect;
  /** undefined: not read, or not readable */
  readonly tags?: BoundTags | undefined;
  /** null: none; undefined: not read */
  readonly retention?: RetentionPolicy | null | undefined;
  /** `plain`: the target allows deletes that the service does not check */
  readonly deletes?: Target['deletes'];
  /** why a plain delete may lose a state, as a clause; null: there is none to lose; undefined: not checked */
  readonly stateAtRisk?: string | null | undefined;
  /** another workspace shows that the service keeps the case of flat tags */
  readonly keepsTagCase?: boolean;
  /** whether the service derives file triggers from the lists of triggers, as all workspaces and the ledger show */
  readonly fileTriggersDerived?: WorkspaceFacts['fileTriggersDerived'] | undefined;
  /** what it would inherit, which shows whether its mode is its own; absent if the service reports that reliably */
  readonly inherited?: Inherited | undefined;
}

export function liveWorkspace(address: Address, read: ReadWorkspace): LiveWorkspace {
  const { item, tags, retention, deletes, stateAtRisk, inherited, keepsTagCase, fileTriggersDerived } = read;
  const ownMode = inherited === undefined ? undefined : ownModeOf(item, inherited);
  const without = fieldsOutside(read.dialect);
  const spec = liveSpec(item, { trustsOverwrites: ownMode !== 'proved', without, retention });
  const facts = liveFacts(item);
  return {
    address,
    id: item.id,
    ...(item.listIndex === undefined ? {} : { listIndex: item.listIndex }),
    spec,
    evidence: ownershipOf(item, tags),
    inherited: inheritedValues(spec, facts),
    facts: {
      ...facts,
      ...(item.unlisted === true ? { unlisted: true } : {}),
      ...(ownMode === undefined ? {} : { ownMode }),
      ...(keepsTagCase || hasUpperCaseTag(item) ? { keepsTagCase: true } : {}),
      ...(fileTriggersDerived === undefined ? {} : { fileTriggersDerived }),
      ...(inherited === undefined || inherited === 'unknown' ? {} : { inheritedMode: inherited.mode }),
      ...(tags === undefined ? {} : tagFacts(tags)),
      ...(lacksSafeDelete(item) ? { hasSafeDelete: false, plainDeletes: deletes === 'plain' } : {}),
      ...(stateAtRisk === undefined ? {} : { stateAtRisk }),
    },
    ...rightsOf(item),
  };
}

/** A flat tag with an upper case letter shows that the service keeps the case; other services store all in lower case. */
export function hasUpperCaseTag({ attributes }: WorkspaceItem): boolean {
  return textsOf(attributes['tag-names']).some((name) => name !== name.toLowerCase());
}

/** A service with a safe delete reports this right to every token (wire/workspaces 4). */
export function lacksSafeDelete({ attributes: { permissions } }: WorkspaceItem): boolean {
  return isJsonObject(permissions) && permissions['can-force-delete'] === undefined;
}

function ownershipOf({ attributes }: WorkspaceItem, tags: BoundTags | undefined): OwnershipEvidence {
  const source = attributes['source-name'];
  const creatorStack = typeof source === 'string' ? stackOfCreatorMark(source) : undefined;
  return {
    ...ownershipFromTag(tags),
    ...(creatorStack === undefined ? {} : { creatorStack }),
  };
}

function liveFacts(item: WorkspaceItem): WorkspaceFacts {
  const { attributes } = item;
  const mode = attributes['execution-mode'];
  const inherits = attributes['inherits-project-auto-destroy'];
  const status = attributes['auto-destroy-status'];
  const pool = poolOf(item);
  return {
    ...lockOf(item),
    resourceCount: attributes['resource-count'] ?? null,
    globalRemoteState: attributes['global-remote-state'] === true,
    assessmentsEnabled: attributes['assessments-enabled'] ?? null,
    inheritsAutoDestroy: typeof inherits === 'boolean' ? inherits : null,
    ...(typeof status === 'string' ? { autoDestroyStatus: status } : {}),
    // `modeAfter` is the current mode unless `predictAssessments` replaces it.
    ...(typeof mode === 'string' ? { modeAfter: mode, effectiveMode: mode } : {}),
    ...(pool === null ? {} : { agentPool: pool }),
  };
}

/** The effective values of the fields that a workspace inherits from its project, or through it from the organization. */
function inheritedValues(
  { executionMode, autoDestroyActivityDuration: duration }: LiveSpec,
  { effectiveMode, inheritsAutoDestroy }: WorkspaceFacts,
): Readonly<Record<string, Json>> {
  return {
    ...(executionMode === null && effectiveMode !== undefined ? { executionMode: effectiveMode } : {}),
    ...(inheritsAutoDestroy === true && typeof duration === 'string'
      ? { autoDestroyActivityDuration: duration }
      : {}),
  };
}

function tagFacts({ direct, inherited, ownershipTag }: BoundTags): WorkspaceFacts {
  const ownershipTags = ownershipTag !== undefined && !ownershipTag.inherited ? 1 : 0;
  return {
    direct,
    ...(inherited === undefined ? {} : { inheritedTags: inherited }),
    tagCount: Object.keys(direct).length + ownershipTags,
  };
}

/** Fields that are attributes, each with its wire name. */
export const answeredAttributes = [...plainAttributes, ...triggerLists, ...sourceAttributes].map((field) => ({
  field,
  wireName: kebabCase(field),
}));

/** The spec from the document, and the retention policy, if it was read. Other fields with endpoints of their own are left out. */
function liveSpec(
  item: WorkspaceItem,
  {
    trustsOverwrites = true,
    without = [],
    retention,
  }: Pick<ReadWorkspace, 'retention'> & {
    /** false if its mode is its own, although `setting-overwrites` says that it is inherited */
    readonly trustsOverwrites?: boolean;
    /** fields that the dialect does not have */
    readonly without?: readonly string[];
  } = {},
): LiveSpec {
  const { attributes, name } = item;
  const { locked } = attributes;
  const plain: Record<string, Json> = {};
  for (const { field, wireName } of answeredAttributes) {
    const value = attributes[wireName];
    if (value !== undefined && !without.includes(field)) plain[field] = value;
  }
  const project = relatedId(item, 'project');
  const tagNames = attributes['tag-names'];
  return {
    name,
    ...plain,
    ...liveExecution(item, trustsOverwrites),
    ...liveRepository(attributes['vcs-repo']),
    ...(project === null ? {} : { projectId: project }),
    sshKeyId: relatedId(item, 'ssh-key'),
    ...(tagNames === undefined ? {} : { tagNames }),
    lock: locked === true ? { reason: attributes['locked-reason'] ?? '' } : null,
    ...(retention === undefined ? {} : { dataRetentionPolicy: retention }),
  };
}

/** `setting-overwrites` true means "own value" (wire/workspaces 1.5.1); in services without it nothing is inherited. */
function liveExecution(item: WorkspaceItem, trustsOverwrites: boolean): LiveSpec {
  const mode = item.attributes['execution-mode'];
  const overwrites = trustsOverwrites ? item.attributes['setting-overwrites'] : undefined;
  const owns = (setting: string) => !isJsonObject(overwrites) || overwrites[setting] !== false;
  const executionMode = owns('execution-mode') ? mode : null;
  const ownPool = executionMode === 'agent' && owns('agent-pool');
  return {
    ...(executionMode === undefined ? {} : { executionMode }),
    agentPoolId: ownPool ? poolOf(item) : null,
    ...(isJsonObject(overwrites)
      ? { settingOverwrites: { executionMode: owns('execution-mode'), agentPool: owns('agent-pool') } }
      : {}),
  };
}

function liveRepository(repository: Json | undefined): LiveSpec {
  if (repository === undefined) return {};
  return { vcsRepo: isJsonObject(repository) ? repositoryFields(repository) : null };
}

/** A repository has one connection: with an OAuth token there is no app installation, even if the service does not return that field. */
function repositoryFields(repository: JsonObject): RepositoryFields {
  const orNull = (name: string) => repository[name] ?? null;
  const isKnown = 'vcs-app-installation-id' in repository || orNull('oauth-token-id') !== null;
  return {
    identifier: orNull('identifier'),
    branch: orNull('branch'),
    ingressSubmodules: repository['ingress-submodules'] === true,
    oauthTokenId: orNull('oauth-token-id'),
    ...(isKnown ? { vcsAppInstallationId: orNull('vcs-app-installation-id') } : {}),
    tagsRegex: orNull('tags-regex'),
  };
}

/**
 * The workspace in the response to a write. Only the fields count that the call may have written, because an earlier
 * response does not show what a later call does. Locks and retention policies are verified elsewhere.
 */
export function fieldsFromResponse(call: Call, { body }: Answer): ReturnedFields | undefined {
  const item = asWorkspaceItem(memberOf(body, 'data'));
  if (item === undefined) return undefined;
  const isOwnMode = hidesOwnMode(item, sentIn(call)) || keepsOldMode(item, call);
  const returned = liveSpec(item, { trustsOverwrites: !isOwnMode });
  const { tagNames } = returned;
  const spec =
    tagNames === undefined ? returned : { ...returned, tagNames: spelledAs(sentTags(call), tagNames) };
  const isDerived = showsDerived(item, call);
  const about = writtenBy(call).filter(
    (name) => isOwnValue(name, spec, item) && !(isDerived && name === 'fileTriggersEnabled'),
  );
  return about.length === 0 ? undefined : { about, spec };
}

/** The execution mode and the agent pool in the body of a call. */
function sentIn({ body }: Call): Parameters<typeof hidesOwnMode>[1] {
  const { data } = body ?? {};
  const { attributes } = isCallObject(data) ? data : {};
  if (!isCallObject(attributes)) return {};
  const text = (name: string) => (typeof attributes[name] === 'string' ? attributes[name] : undefined);
  return { mode: text('execution-mode'), pool: text('agent-pool-id') };
}

/** The flat tags in the body of a create. */
function sentTags({ body }: Call): string[] {
  const { data } = body ?? {};
  const { relationships } = isCallObject(data) ? data : {};
  const { tags } = isCallObject(relationships) ? relationships : {};
  const { data: list } = isCallObject(tags) ? tags : {};
  const names = Array.isArray(list) ? (list as readonly CallValue[]) : [];
  return names.flatMap((tag) => {
    const { attributes } = isCallObject(tag) ? tag : {};
    const { name } = isCallObject(attributes) ? attributes : {};
    return typeof name === 'string' ? name : [];
  });
}

/** Fields that the response to the update does not verify: they have separate endpoints, or are not attributes. */
const notInUpdate = new Set(['sshKeyId', 'tagNames', 'lock', 'dataRetentionPolicy', 'operations']);
const documentFields = Object.keys(fields).filter((name) => !notInUpdate.has(name));

function writtenBy({ id, body, writes = [] }: Call): readonly string[] {
  switch (id.slice(id.lastIndexOf('#') + 1)) {
    case 'create':
      return createdFields(body);
    case 'update':
      return documentFields;
    case 'vcs-repo':
    case 'ssh-key':
      return writes;
    case 'clear-patterns':
    case 'clear-triggers':
      return ['triggerPatterns', 'triggerPrefixes', 'vcsRepo', 'fileTriggersEnabled'];
    default:
      return [];
  }
}

/** Of a create, only fields that were sent, or that have no default, can be verified. */
function createdFields(body: Call['body']): readonly string[] {
  const { data } = body ?? {};
  const { attributes, relationships } = isCallObject(data) ? data : {};
  const sent = isCallObject(attributes) ? attributes : {};
  const written = documentFields.filter(
    (name) => fields[name]?.default === undefined || sent[kebabCase(name)] !== undefined,
  );
  const { tags } = isCallObject(relationships) ? relationships : {};
  return tags !== undefined ? [...written, 'tagNames'] : written;
}

/** Whether the returned value is the workspace's own. A time may be computed from a duration, and a duration may be inherited. */
function isOwnValue(name: string, spec: LiveSpec, { attributes }: WorkspaceItem): boolean {
  const hasDuration = (spec.autoDestroyActivityDuration ?? null) !== null;
  if (name === 'autoDestroyAt') return !hasDuration;
  if (name !== 'autoDestroyActivityDuration') return true;
  return !(hasDuration && attributes['inherits-project-auto-destroy'] === true);
}
