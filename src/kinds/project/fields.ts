/** How each field of a project compares, the form of a live project, and the types that the files of this kind share. */
import {
  type BoundTags,
  isReserved,
  ownershipFromTag,
  type Tags,
} from '../../api/workspaces/tag-bindings.ts';
import { defaultPoolIn } from '../../api/workspaces/organization.ts';
import type { ProjectItem } from '../../api/workspaces/projects.ts';
import { optionalText, scalar, stringMap, text } from '../../compare/comparisons.ts';
import type { Address } from '../../model/address.ts';
import type { FieldsOf, FieldTable } from '../../model/field.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import type { CallContext } from '../../model/kind-calls.ts';
import type { CompareContext } from '../../model/kind-specs.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource, LiveResource } from '../../model/resource.ts';
import type { ProjectFields, ProjectSpec } from './schema.ts';

export const fields: FieldTable = {
  description: { compare: text, default: null },
  defaultExecutionMode: { compare: scalar, default: null },
  defaultAgentPoolId: { compare: optionalText, default: null },
  autoDestroyActivityDuration: { compare: optionalText, default: null },
  tags: { compare: stringMap, default: {} },
} satisfies FieldsOf<ProjectSpec, 'defaultAgentPool'>;

/** A workspace in a project, with the settings that decide whether it inherits from the project. */
export type Member = {
  readonly id: string;
  readonly name: string;
  /** it has no execution mode of its own */
  readonly inheritsMode: boolean;
  /** it has neither a duration nor a time of its own, as far as the service says */
  readonly inheritsDuration: boolean;
  /** its execution mode is local, its own or inherited */
  readonly isLocal: boolean;
  readonly allowsDestroy: boolean;
  /** after this time without activity its resources are destroyed; own or inherited, as the service returns it */
  readonly duration: string | null;
  /** when its resources are destroyed; own or computed, as the service returns it */
  readonly time: string | null;
  /** its ownership tag protects it; absent if the tags were not read, as just before a write */
  readonly isTaggedProtected?: boolean;
  /** the service does not say in which project it is, so it may be in this one */
  readonly isUnplaced?: true;
};

type ProjectFacts = {
  /** all direct tags without the ownership tag, which each write of tags repeats; absent if they were not read */
  readonly direct?: Tags;
  /** number of direct tags, the ownership tag included */
  readonly tagCount?: number;
  /** the workspaces in it that the token sees, and those that may be in it, by name; absent if they were not read */
  readonly members?: readonly Member[];
  /** how many workspaces are in it, as the service counts; absent if it does not */
  readonly count?: number;
  /** absent if unknown */
  readonly isDefault?: boolean;
  /** the mode that its workspaces inherit, own or the organization's */
  readonly effectiveMode?: string;
  /** the mode of the organization, for a project without one of its own; absent if unknown */
  readonly organizationMode?: string;
  /** it was read again just before its deletion: it is kept if anything is in it now */
  readonly mustBeEmpty?: true;
};

type LiveSpec = ProjectFields & { readonly name?: string };

export type LiveProject = LiveResource<LiveSpec, ProjectFacts>;
export type DeclaredProject = DesiredResource<ProjectSpec>;
export type ProjectComparison = CompareContext<ProjectSpec, LiveProject>;
export type ProjectContext = CallContext<ProjectSpec, LiveProject>;

interface ReadProject {
  readonly item: ProjectItem;
  readonly tags: BoundTags | undefined;
  readonly facts: Omit<ProjectFacts, 'direct' | 'tagCount' | 'count' | 'effectiveMode'>;
}

/** A field that the service does not return is left out, never guessed; an inherited setting is `null`. */
export function liveProject(address: Address, { item, tags, facts }: ReadProject): LiveProject {
  const { attributes } = item;
  const count = attributes['workspace-count'];
  const mode = attributes['default-execution-mode'];
  return {
    address,
    id: item.id,
    spec: {
      name: item.name,
      ...settingsOf(item),
      ...(tags === undefined ? {} : { tags: ownTags(tags.direct) }),
    },
    evidence: ownershipFromTag(tags),
    facts: {
      ...facts,
      ...(tags === undefined ? {} : { direct: tags.direct, tagCount: tagCount(tags) }),
      ...(typeof count === 'number' ? { count } : {}),
      ...(typeof mode === 'string' ? { effectiveMode: mode } : {}),
    },
    ...rightsOf(item),
  };
}

function tagCount({ direct, ownershipTag }: BoundTags): number {
  return Object.keys(direct).length + (ownershipTag === undefined ? 0 : 1);
}

/** The tags that a manifest can own: not the service's own ones, nor ownership tags. */
export function ownTags(direct: Tags): Tags {
  return Object.fromEntries(Object.entries(direct).filter(([key]) => !isReserved(key)));
}

/** The settings of a project without its tags, from a document of any answer. */
export function settingsOf({
  attributes,
  relationships,
}: Pick<ProjectItem, 'attributes' | 'relationships'>): ProjectFields {
  const overwrites = attributes['setting-overwrites'];
  const owns = (setting: string) => !isJsonObject(overwrites) || overwrites[setting] !== false;
  const given = attributes['default-execution-mode'];
  const mode = owns('default-execution-mode') ? given : null;
  const pool = defaultPoolIn(relationships) ?? memberOf(attributes, 'default-agent-pool-id') ?? null;
  const plain = (name: string, field: string): Record<string, Json> =>
    attributes[name] === undefined ? {} : { [field]: attributes[name] };
  return {
    ...plain('description', 'description'),
    ...plain('auto-destroy-activity-duration', 'autoDestroyActivityDuration'),
    ...(given === undefined
      ? {}
      : {
          defaultExecutionMode: mode ?? null,
          defaultAgentPoolId: mode === 'agent' && owns('default-agent-pool') ? pool : null,
        }),
  };
}

const textSettings = [
  'description',
  'default-execution-mode',
  'default-agent-pool-id',
  'auto-destroy-activity-duration',
];

/** Why a project cannot be understood: a setting is not text. Such a value is neither stored nor sent back. */
export function whyUnexpected({ name, attributes }: ProjectItem): string | undefined {
  const setting = textSettings.find((one) => typeof (attributes[one] ?? '') !== 'string');
  if (setting === undefined) return undefined;
  return `the project ${quoted(name)} was not understood: its ${quoted(setting)} is not text`;
}

/** Empty if the document has no permissions. */
function rightsOf({ attributes }: ProjectItem): Pick<LiveResource, 'rights' | 'mayWrite'> {
  const { permissions } = attributes;
  if (!isJsonObject(permissions)) return {};
  const rights = Object.entries(permissions).filter(
    (entry): entry is [string, boolean] => typeof entry[1] === 'boolean',
  );
  const isReadOnly = permissions['can-update'] === false && permissions['can-destroy'] === false;
  return { rights: Object.fromEntries(rights), ...(isReadOnly ? { mayWrite: false } : {}) };
}
