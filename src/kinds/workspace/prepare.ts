/**
 * Prepares both sides for comparison if the declared and the returned values cannot be compared directly: any lock fulfils a
 * declared one, and a new connection of a repository replaces the other one.
 */
import { unreadTags } from '../../api/workspaces/check-settings.ts';
import { formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, textsOf } from '../../model/json.ts';
import type { PreparedSpecs } from '../../model/kind-specs.ts';
import { quoted } from '../../model/quoted.ts';
import { spelledAs } from './fields.ts';
import { maxTags } from '../../api/workspaces/tag-bindings.ts';
import { foreignLockNotes, holdsLock } from './lock.ts';
import { prepareDerivedTriggers, prepareTriggers } from './triggers.ts';
import { prepareOwnMode } from './limited-services.ts';
import { prepareAssessments } from './predict.ts';
import { expiredTime, inheritedAfter, prepareAutoDestroy } from './auto-destroy.ts';
import { scheduledDestroys } from './scheduled-destroys.ts';
import type {
  LiveSpec,
  PreparedWorkspace,
  RepositoryFields,
  WorkspaceFields,
  WorkspaceComparison,
} from './workspace-types.ts';

export function prepare(context: WorkspaceComparison): PreparedSpecs<PreparedWorkspace> {
  const { desired, live, planned = live } = context;
  const lock = prepareLock(context);
  const triggers = prepareTriggers(context);
  const autoDestroy = prepareAutoDestroy(context);
  const adjusted = [
    prepareAssessments(context),
    autoDestroy,
    prepareOwnMode(context),
    prepareDerivedTriggers(context, triggers.desired),
  ];
  const wanted = withMembers<PreparedWorkspace>(desired, lock.desired, triggers.desired, autoDestroy.desired);
  return {
    desired: withMembers(
      wanted,
      replacedConnection(wanted.vcsRepo, live?.spec.vcsRepo),
      removedPool(wanted, planned?.spec),
    ),
    ...(live === undefined
      ? {}
      : {
          live: withMembers<LiveSpec>(
            live.spec,
            lock.live,
            respelledTags(context),
            ...adjusted.map((part) => part.live),
          ),
        }),
    ...inheritedAfter(context),
    ...expiredTime(context),
    risks: scheduledDestroys(context),
    notes: [...lock.notes, ...triggers.notes, ...adjusted.flatMap(({ notes }) => notes)],
    problems: [
      ...unreadTags(context, 'workspace'),
      ...noRoomForOwnershipTag(context),
      ...incompleteRepository(context),
      ...triggers.problems,
    ],
  };
}

/** The spec itself if no part has a member: in most workspaces nothing is replaced. */
function withMembers<S extends object>(spec: S, ...parts: readonly object[]): S {
  const filled = parts.filter((part) => Object.keys(part).length > 0);
  return filled.length === 0 ? spec : Object.assign({}, spec, ...filled);
}

interface PreparedLock {
  readonly desired: PreparedWorkspace;
  readonly live: WorkspaceFields;
  readonly notes: readonly string[];
}

/** A declared lock is fulfilled by anyone's; `lock: null` removes only our own. */
function prepareLock({ desired, live, record }: WorkspaceComparison): PreparedLock {
  const asIs = { desired: {}, live: {}, notes: [] };
  const held = live?.spec.lock;
  if (live === undefined || !isJsonObject(held)) return asIs;
  if (isJsonObject(desired.lock)) return { ...asIs, desired: { lock: held } };
  if (holdsLock(live, record)) return asIs;
  const notes = foreignLockNotes(live, record, desired.lock === null);
  return { ...asIs, live: { lock: null }, notes };
}

/** If the service stores flat tags in lower case, shows them in the declared spelling. */
function respelledTags({ desired, live, planned }: WorkspaceComparison): WorkspaceFields {
  const { tagNames } = live?.spec ?? {};
  const keepsCase = [live, planned].some((seen) => seen?.facts.keepsTagCase === true);
  const declared = textsOf(desired.tagNames);
  return keepsCase || tagNames === undefined || declared.length === 0
    ? {}
    : { tagNames: spelledAs(declared, tagNames) };
}

/** Shows the removed connection as a change, too: setting one connection removes the other. */
function replacedConnection(
  declared: RepositoryFields | null | undefined,
  live: LiveSpec['vcsRepo'],
): PreparedWorkspace {
  if (!isJsonObject(declared) || !isJsonObject(live)) return {};
  const [mine, other] =
    declared.vcsAppInstallationId === undefined
      ? (['oauthTokenId', 'vcsAppInstallationId'] as const)
      : (['vcsAppInstallationId', 'oauthTokenId'] as const);
  const replaces = declared[mine] !== undefined && declared[other] === undefined && isSet(live[other]);
  return replaces ? { vcsRepo: { ...declared, [other]: null } } : {};
}

/**
 * If the mode `agent` ends, the pool is removed with it. The plan shows this as a change, too, because restoring the live mode needs
 * both. @param live the spec when the plan was made
 */
function removedPool({ executionMode, agentPoolId }: PreparedWorkspace, live?: LiveSpec): PreparedWorkspace {
  const leavesAgents = executionMode !== undefined && executionMode !== 'agent';
  const hasPool = live?.executionMode === 'agent' && isSet(live.agentPoolId);
  return leavesAgents && hasPool && agentPoolId === undefined ? { agentPoolId: null } : {};
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** A workspace with the maximum number of tags cannot get an ownership tag. */
function noRoomForOwnershipTag({ address, live }: WorkspaceComparison): Diagnostic[] {
  const count = live?.facts.tagCount;
  const tagged = live?.evidence.ownershipTag !== undefined && !live.evidence.ownershipTag.inherited;
  if (tagged || typeof count !== 'number' || count < maxTags) return [];
  return [
    {
      code: 'no-room-for-claim',
      severity: 'error',
      class: 'conflict',
      message: `${quoted(formatAddress(address))} has ${count} tag bindings, as many as the service allows, so there is no room for the ownership tag`,
      fix: 'remove one of its tag bindings in the service first',
    },
  ];
}

/** Adding a repository requires its identifier and a connection (wire/workspaces 5.4). */
function incompleteRepository({ address, desired, live }: WorkspaceComparison): Diagnostic[] {
  const repository = desired.vcsRepo;
  if (!isJsonObject(repository) || isJsonObject(live?.spec.vcsRepo)) return [];
  const connected = isSet(repository.oauthTokenId) || isSet(repository.vcsAppInstallationId);
  if (isSet(repository.identifier) && connected) return [];
  return [
    {
      code: 'vcs-repo-incomplete',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(formatAddress(address))} has no repository yet, and its vcsRepo is incomplete, so none can be added`,
      found: `vcsRepo with ${Object.keys(repository).join(', ')}`,
      fix: 'give vcsRepo.identifier and vcsRepo.connection (or vcsRepo.oauthTokenId, or vcsRepo.vcsAppInstallationId)',
    },
  ];
}
