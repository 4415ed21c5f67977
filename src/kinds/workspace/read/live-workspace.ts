/**
 * Converts a workspace document to a live workspace, in the shape of a manifest. A field that the service does not answer is
 * left out, never guessed (rule 12); an inherited setting is `null`, whatever its effective value.
 */
import type { Address } from '../../../model/resource/address.ts';
import { parseClaim, stackOfBirthMark } from '../../../model/resource/claim.ts';
import { kebabCase } from '../../../model/kind/field-names.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json/json.ts';
import type { Witness } from '../../../model/resource/resource.ts';
import type { Target } from '../../../model/stack/target.ts';
import type { BoundTags } from '../../../services/workspaces/bound-tags.ts';
import { rightsOf } from '../../../services/workspaces/rights.ts';
import { relatedId, type WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';
import { plainAttributes, sourceAttributes, triggerLists } from '../attributes.ts';
import { lockOf } from '../lock.ts';
import type {
  LiveSpec,
  LiveWorkspace,
  RepositoryFields,
  RetentionPolicy,
  WorkspaceFacts,
} from '../workspace-types.ts';

interface ReadWorkspace {
  readonly item: WorkspaceItem;
  /** undefined: not read, or not readable */
  readonly tags?: BoundTags | undefined;
  /** null: none; undefined: not read */
  readonly retention?: RetentionPolicy | null | undefined;
  /** what the target says of deletes */
  readonly deletes?: Target['deletes'];
  /** undefined: not looked at */
  readonly stateAtRisk?: string | null | undefined;
}

export function liveWorkspace(
  address: Address,
  { item, tags, retention, deletes, stateAtRisk }: ReadWorkspace,
): LiveWorkspace {
  return {
    address,
    id: item.id,
    spec: { ...liveSpec(item), ...(retention === undefined ? {} : { dataRetentionPolicy: retention }) },
    witness: witnessOf(item, tags),
    facts: {
      ...liveFacts(item),
      ...(tags === undefined ? {} : tagFacts(tags)),
      ...(lacksSafeDelete(item) ? { hasSafeDelete: false, plainDeletes: deletes === 'plain' } : {}),
      ...(stateAtRisk === undefined ? {} : { stateAtRisk }),
    },
    ...rightsOf(item),
  };
}

/** Clients tell it by this right, which a service with a safe delete names to everyone (wire/workspaces 4). */
export function lacksSafeDelete({ attributes: { permissions } }: WorkspaceItem): boolean {
  return isJsonObject(permissions) && permissions['can-force-delete'] === undefined;
}

function witnessOf({ attributes }: WorkspaceItem, tags: BoundTags | undefined): Witness {
  const claim = tags?.claim;
  const source = attributes['source-name'];
  const bornOf = typeof source === 'string' ? stackOfBirthMark(source) : undefined;
  return {
    ...(claim === undefined ? {} : { claim: parseClaim(claim.text, claim.inherited) }),
    ...(bornOf === undefined ? {} : { bornOf }),
  };
}

function liveFacts(item: WorkspaceItem): WorkspaceFacts {
  const { attributes } = item;
  const mode = attributes['execution-mode'];
  const pool = poolOf(item);
  return {
    ...lockOf(item),
    resourceCount: attributes['resource-count'] ?? null,
    globalRemoteState: attributes['global-remote-state'] === true,
    inheritsAutoDestroy: attributes['inherits-project-auto-destroy'] === true,
    ...(typeof mode === 'string' ? { modeAfter: mode, effectiveMode: mode } : {}),
    ...(pool === null ? {} : { agentPool: pool }),
  };
}

function tagFacts({ direct, claim }: BoundTags): WorkspaceFacts {
  const claims = claim !== undefined && !claim.inherited ? 1 : 0;
  return { direct, tagCount: Object.keys(direct).length + claims };
}

/** Fields that are attributes, each with its wire name. */
const answered = [...plainAttributes, ...triggerLists, ...sourceAttributes].map(
  (field) => [field, kebabCase(field)] as const,
);

/** The spec from the document alone, without fields that have endpoints of their own. */
export function liveSpec(
  item: WorkspaceItem,
  tells: { readonly ownMode: boolean } = { ownMode: true },
): LiveSpec {
  const { attributes, name } = item;
  const { locked } = attributes;
  const plain = answered.flatMap(([field, wireName]) => {
    const value = attributes[wireName];
    return value === undefined ? [] : [[field, value] as const];
  });
  const project = relatedId(item, 'project');
  const tagNames = attributes['tag-names'];
  return {
    name,
    ...Object.fromEntries(plain),
    ...liveExecution(item, tells),
    ...liveRepository(attributes['vcs-repo']),
    ...(project === null ? {} : { projectId: project }),
    sshKeyId: relatedId(item, 'ssh-key'),
    ...(tagNames === undefined ? {} : { tagNames }),
    lock: locked === true ? { reason: attributes['locked-reason'] ?? '' } : null,
  };
}

/** `setting-overwrites` true means "own value" (wire/workspaces 1.5.1); in services without it nothing is inherited. */
function liveExecution(item: WorkspaceItem, { ownMode }: { readonly ownMode: boolean }): LiveSpec {
  const mode = item.attributes['execution-mode'];
  const overwrites = ownMode ? item.attributes['setting-overwrites'] : undefined;
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

/** A relationship, or with some services an attribute (wire/workspaces 4). */
export function poolOf(item: WorkspaceItem): string | null {
  const { 'agent-pool-id': attribute } = item.attributes;
  return (
    relatedId(item, 'agent-pool') ?? (typeof attribute === 'string' && attribute !== '' ? attribute : null)
  );
}

function liveRepository(repository: Json | undefined): LiveSpec {
  if (repository === undefined) return {};
  return { vcsRepo: isJsonObject(repository) ? repositoryFields(repository) : null };
}

/** A repository has one connection: with an OAuth token there is no app installation, even if the service does not answer that. */
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
