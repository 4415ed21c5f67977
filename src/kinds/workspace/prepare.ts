/**
 * What is to be compared where that is not simply what was declared and what was answered: a lock is a lock whoever
 * holds it, a new connection of a repository takes the place of the other one.
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { PreparedSpecs } from '../../model/kind/kind.ts';
import { mostTags } from '../../services/workspaces/tag-rules.ts';
import { foreignLockNotes, holdsLock } from './lock.ts';
import { prepareAssessments } from './prepare/prepare-assessments.ts';
import { prepareAutoDestroy } from './prepare/prepare-auto-destroy.ts';
import { prepareTriggers } from './prepare/prepare-triggers.ts';
import type {
  LiveSpec,
  PreparedWorkspace,
  RepositoryFields,
  WorkspaceFields,
  WorkspaceMeeting,
} from './workspace-types.ts';

export function prepare(meeting: WorkspaceMeeting): PreparedSpecs<PreparedWorkspace> {
  const { desired, live } = meeting;
  const lock = prepareLock(meeting);
  const triggers = prepareTriggers(meeting);
  const hidden = [prepareAssessments(meeting), prepareAutoDestroy(meeting)];
  const wanted: PreparedWorkspace = { ...desired, ...lock.desired, ...triggers.desired };
  return {
    desired: { ...wanted, ...replacedConnection(wanted.vcsRepo, live?.spec.vcsRepo) },
    ...(live === undefined
      ? {}
      : { live: Object.assign({ ...live.spec, ...lock.live }, ...hidden.map((part) => part.live)) }),
    notes: [...lock.notes, ...triggers.notes, ...hidden.flatMap(({ notes }) => notes)],
    problems: [
      ...unreadTags(meeting),
      ...noRoomForClaim(meeting),
      ...incompleteRepository(meeting),
      ...triggers.problems,
    ],
  };
}

interface PreparedLock {
  readonly desired: PreparedWorkspace;
  readonly live: WorkspaceFields;
  readonly notes: readonly string[];
}

/** Rule 18: who asks for a lock is content with anyone's; who asks for none gives up only a lock of ours. */
function prepareLock({ desired, live, record }: WorkspaceMeeting): PreparedLock {
  const asIs = { desired: {}, live: {}, notes: [] };
  const held = live?.spec.lock;
  if (live === undefined || !isJsonObject(held)) return asIs;
  if (isJsonObject(desired.lock)) return { ...asIs, desired: { lock: held } };
  if (holdsLock(live, record)) return asIs;
  const notes = foreignLockNotes(live, record, desired.lock === null);
  return { ...asIs, live: { lock: null }, notes };
}

/** Shown as a change of both: naming the one connection removes the other. */
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

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** A claim may have to be written beside the other tags; unread ones would be wiped. */
function unreadTags({ address, live, place }: WorkspaceMeeting): Diagnostic[] {
  if (live === undefined || live.facts.direct !== undefined) return [];
  return [
    {
      code: 'tags-unread',
      severity: 'error',
      class: 'incomplete',
      message: `the tag bindings of "${formatAddress(address)}" could not be read, so nothing about it can be decided`,
      ...(place === undefined ? {} : { place }),
      fix: 'let the token read the tag bindings of the workspace',
    },
  ];
}

/** Rule 21: a workspace that has all the tags it can have cannot be claimed. */
function noRoomForClaim({ address, live, place }: WorkspaceMeeting): Diagnostic[] {
  const count = live?.facts.tagCount;
  const claimed = live?.witness.claim !== undefined && !live.witness.claim.inherited;
  if (claimed || typeof count !== 'number' || count < mostTags) return [];
  return [
    {
      code: 'no-room-for-claim',
      severity: 'error',
      class: 'conflict',
      message: `"${formatAddress(address)}" has ${count} tag bindings, as many as the service allows, so there is no room for the claim`,
      ...(place === undefined ? {} : { place }),
      fix: 'remove one of its tag bindings in the service first',
    },
  ];
}

/** Specs, "Create a workspace": adding a repository requires its identifier and a connection. */
function incompleteRepository({ address, desired, live, place }: WorkspaceMeeting): Diagnostic[] {
  const repository = desired.vcsRepo;
  if (!isJsonObject(repository) || isJsonObject(live?.spec.vcsRepo)) return [];
  const connected = isSet(repository.oauthTokenId) || isSet(repository.vcsAppInstallationId);
  if (isSet(repository.identifier) && connected) return [];
  return [
    {
      code: 'vcs-repo-incomplete',
      severity: 'error',
      class: 'invalid',
      message: `"${formatAddress(address)}" has no repository yet, and its vcsRepo does not say enough to add one`,
      ...(place === undefined ? {} : { place }),
      found: `vcsRepo with ${Object.keys(repository).join(', ')}`,
      fix: 'give vcsRepo.identifier and vcsRepo.oauthTokenId (or vcsRepo.vcsAppInstallationId)',
    },
  ];
}
