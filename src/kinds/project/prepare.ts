/** Prepares both sides of a comparison, and finds changes that are not allowed, and what prevents a deletion. */
import { unreadTags } from '../../api/workspaces/check-settings.ts';
import { maxTags, asTags } from '../../api/workspaces/tag-bindings.ts';
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import { formatAddress } from '../../model/address.ts';
import type { Action } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { PreparedSpecs } from '../../model/kind-specs.ts';
import type { Content } from '../../model/kind.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { effectsOnWorkspaces } from './effects.ts';
import { type LiveProject, type Member, ownTags, type ProjectComparison } from './fields.ts';
import type { ProjectSpec } from './schema.ts';

export function prepare(context: ProjectComparison): PreparedSpecs<ProjectSpec> {
  const { desired, planned } = context;
  const { risks, problems } = effectsOnWorkspaces(context);
  const left = tagsLeft(context);
  return {
    desired: { ...desired, ...removedPool(desired, planned), ...left },
    ...(left.tags === undefined ? {} : { origins: { tags: 'no longer declared' } }),
    ...(context.live === undefined ? {} : { live: context.live.spec }),
    risks,
    problems: [
      ...poolWithoutMode(context),
      ...renamedDefault(context),
      ...unreadTags(context, 'project'),
      ...tooManyTags(context),
      ...problems,
    ],
  };
}

/** A pool is removed together with the mode `agent`: this declares the removal, so that the plan shows it as a change. */
function removedPool(
  { defaultExecutionMode: mode, defaultAgentPoolId: pool }: ProjectSpec,
  planned: LiveProject | undefined,
): ProjectSpec {
  const leavesAgents = mode !== undefined && mode !== 'agent';
  const hasPool = typeof planned?.spec.defaultAgentPoolId === 'string';
  return leavesAgents && hasPool && pool === undefined ? { defaultAgentPoolId: null } : {};
}

/** Tags that are no longer declared are removed only if they still have the value that this stack last wrote, as for a workspace. */
function tagsLeft({ desired, live, record }: ProjectComparison): Pick<ProjectSpec, 'tags'> {
  const direct = live?.facts.direct;
  if (desired.tags !== undefined || record?.fields.tags === undefined || direct === undefined) return {};
  const written = asTags(record.fields.tags);
  const left = Object.entries(ownTags(direct)).filter(
    ([key, value]) => !Object.hasOwn(written, key) || written[key] !== value,
  );
  return { tags: Object.fromEntries(left) };
}

// Changes that are not allowed, and what prevents a deletion.

/** The service removes a pool only together with the mode, which this manifest does not manage. */
function poolWithoutMode(context: ProjectComparison): Diagnostic[] {
  const { address, desired, live, record } = context;
  const isMode =
    desired.defaultExecutionMode !== undefined || record?.fields.defaultExecutionMode !== undefined;
  if (desired.defaultAgentPoolId !== null || isMode || live?.spec.defaultExecutionMode !== 'agent') return [];
  return [
    {
      code: 'agent-pool-missing',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(formatAddress(address))} has the mode "agent" in the service, which needs an agent pool, and the manifest removes the pool alone`,
      fix: 'declare "defaultExecutionMode", or leave the agent pool out',
    },
  ];
}

function renamedDefault({ address, live }: ProjectComparison): Diagnostic[] {
  const { name } = live?.spec ?? {};
  if (live === undefined || name === undefined || name === address.name || live.facts.isDefault === false)
    return [];
  const text = quoted(formatAddress(address));
  const isKnown = live.facts.isDefault === true;
  return [
    {
      code: 'default-project',
      severity: 'error',
      class: isKnown ? 'conflict' : 'incomplete',
      message: isKnown
        ? `${text} is called ${quoted(name)} in the service and is the default project of the organization, which is never renamed`
        : `${text} is called ${quoted(name)} in the service, and it is not known whether it is the default project of the organization, which is never renamed`,
      fix: isKnown
        ? `write ${quoted(`name: ${name}`)}, or rename it in the service`
        : 'let the token read the organization, or rename it in the service',
    },
  ];
}

function tooManyTags({ address, desired, live }: ProjectComparison): Diagnostic[] {
  const direct = asTags(live?.facts.direct);
  const owned = ownTags(direct);
  const reserved = Object.keys(direct).length - Object.keys(owned).length;
  const own = Object.keys(desired.tags === undefined ? owned : asTags(desired.tags)).length;
  if (own + reserved + 1 <= maxTags) return [];
  return [
    {
      code: 'no-room-for-claim',
      severity: 'error',
      class: 'conflict',
      message: `${quoted(formatAddress(address))} would have ${own + reserved + 1} tag bindings with the ownership tag, and the service allows ${maxTags}`,
      fix: 'declare fewer tags, or remove one in the service first',
    },
  ];
}

/** The default project stays: the service puts workspaces into it that are created without a project. */
export function permanent({ facts }: LiveProject): string | undefined {
  return facts.isDefault === true ? 'it is the default project of the organization' : undefined;
}

export function contents({ address, facts }: LiveProject): readonly Content[] {
  const members = (facts.members ?? []).filter(({ isUnplaced }) => isUnplaced !== true);
  return members.map(({ id, name }) => ({ address: { ...workspaceOf(address), name }, id }));
}

/** Reasons against a deletion that no plan can remove. The planner itself checks the workspaces that were read (`contents`). */
export function blockers({ facts }: LiveProject, action: Action): readonly string[] {
  if (action !== 'delete') return [];
  const { members, count = 0, isDefault, mustBeEmpty } = facts;
  const hidden = count - (members?.length ?? 0);
  const { unplaced = [], inside = [] } = Object.groupBy(members ?? [], ({ isUnplaced }) =>
    isUnplaced === true ? 'unplaced' : 'inside',
  );
  return [
    ...(isDefault === true ? ['it is the default project of the organization'] : []),
    ...(isDefault === undefined
      ? ['it is not known whether it is the default project, because the organization could not be read']
      : []),
    ...(members === undefined ? ['the workspaces in it could not be read'] : []),
    ...(hidden > 0 ? [`${counted(hidden, 'workspace')} in it cannot be seen by this token`] : []),
    ...(unplaced.length > 0
      ? [
          `the service does not say in which project ${membersText(unplaced)} ${unplaced.length === 1 ? 'is' : 'are'}`,
        ]
      : []),
    ...(mustBeEmpty && inside.length > 0 ? [`it has ${membersText(inside)}`] : []),
  ];
}

function membersText(members: readonly Member[]): string {
  return `${counted(members.length, 'workspace')} (${members.map(({ name }) => quoted(name)).join(', ')})`;
}
