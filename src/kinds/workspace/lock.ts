/**
 * Decides whether a lock is ours. It is ours only if the ledger says that we took it, it is still held, and holder and reason are
 * unchanged, as far as the service shows them. Otherwise another lock may have replaced ours.
 */
import { formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import { isJsonObject, type Json, memberOf, sameJson } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import type { MarkContext, CallOwner } from '../../model/kind-calls.ts';
import type { Answer } from '../../model/http.ts';
import { otherLockNote } from '../../model/transient-notes.ts';
import { quoted } from '../../model/quoted.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../api/workspaces/workspace.ts';
import type { WorkspaceSpec } from './schema.ts';
import type { LiveWorkspace, LockFacts, PreparedWorkspace, WorkspaceRecord } from './workspace-types.ts';

/** The facts about a lock, which every unlock relies on. */
export const lockFacts: readonly (keyof LockFacts)[] = ['locked', 'lockedBy', 'lockedReason'];

export function lockOf({ attributes, relationships }: WorkspaceItem): LockFacts {
  const link = relationships['locked-by'];
  const holder = memberOf(link, 'data');
  const { type = null, id = null } = isJsonObject(holder) ? holder : {};
  const { locked } = attributes;
  return {
    locked: locked === true,
    lockedBy: id === null ? null : { type, id },
    lockedReason: attributes['locked-reason'] ?? null,
  };
}

export function holdsLock(live: LiveWorkspace, record: WorkspaceRecord | undefined): boolean {
  return whoseLock(live, record) === 'ours';
}

/** `unknown`: nothing proves that the lock is ours, and nothing proves that it is not. */
function whoseLock(
  { facts }: LiveWorkspace,
  record: WorkspaceRecord | undefined,
): 'ours' | 'theirs' | 'unknown' {
  const { locked, lockedBy, lockedReason } = record?.marks ?? {};
  if (facts.locked !== true || record === undefined || locked !== true) return 'theirs';
  const evidence = [
    compareEvidence(facts.lockedBy, lockedBy),
    compareEvidence(facts.lockedReason, reasonOf(record)),
  ];
  if (evidence.includes('another')) return 'theirs';
  if (evidence.includes('same')) return 'ours';
  // If the service showed neither holder nor reason when we locked, nor does now, the ledger is the only evidence.
  const isHidden = [facts.lockedBy, lockedBy].every((holder) => (holder ?? null) === null);
  return isHidden && isUnchanged(facts.lockedReason, lockedReason) ? 'ours' : 'unknown';
}

/** Whether the service shows the same reason as when the lock was taken, or none both times; some services omit an empty one. */
function isUnchanged(live: Json | undefined, recorded: Json | undefined): boolean {
  return recorded !== undefined && (live ?? '') === (recorded ?? '');
}

/** A release removes the lock if it is ours. */
export function released(live: LiveWorkspace, record: WorkspaceRecord | undefined): PreparedWorkspace {
  return holdsLock(live, record) ? { lock: null } : {};
}

/** The recorded reason; records of older versions hold only the declared one. */
function reasonOf({ marks = {}, fields }: WorkspaceRecord): Json | undefined {
  const { lockedReason } = marks;
  if (lockedReason !== undefined) return lockedReason;
  return isJsonObject(fields.lock) ? (memberOf(fields.lock, 'reason') ?? '') : undefined;
}

/** A value that is missing on one side proves nothing, and neither does an empty reason, which many locks have. */
function compareEvidence(live: Json | undefined, recorded: Json | undefined): 'same' | 'another' | 'unknown' {
  if ((live ?? null) === null || (recorded ?? null) === null) return 'unknown';
  if (!sameJson(live, recorded)) return 'another';
  return live === '' ? 'unknown' : 'same';
}

/** A note about a lock that should be removed but is not proved to be ours: it stays, and the change continues. */
export function foreignLockNotes(
  live: LiveWorkspace,
  record: WorkspaceRecord | undefined,
  isRemoval: boolean,
): string[] {
  if (live.facts.locked !== true || holdsLock(live, record)) return [];
  const { locked } = record?.marks ?? {};
  const wasWanted = isRemoval || isJsonObject(record?.fields.lock) || locked === true;
  const owner =
    whoseLock(live, record) === 'unknown' ? 'nothing proves that this stack locked it' : 'not by this stack';
  return wasWanted ? [otherLockNote(`it is locked${reasonSuffix(live)}, and ${owner}`)] : [];
}

/** ` ("frozen")`; empty if no reason is known. */
export function reasonSuffix({ facts }: LiveWorkspace): string {
  const reason = facts.lockedReason;
  return typeof reason === 'string' && reason !== '' ? ` (${quoted(reason)})` : '';
}

/** The ledger marks of our lock, as the service returned it; empty once the lock is no longer ours. */
export function lockMarks({
  change,
  answers,
  live,
  record,
}: MarkContext<WorkspaceSpec, LiveWorkspace>): Readonly<Record<string, Json>> {
  const answerTo = (suffix: string) =>
    change === undefined ? undefined : answers.get(`${formatAddress(change.address)}#${suffix}`);
  const [lockAnswer, unlockAnswer] = [answerTo('lock'), answerTo('unlock')];
  if (lockAnswer !== undefined) return { locked: true, ...lockIn(lockAnswer) };
  if (unlockAnswer !== undefined && lockIn(unlockAnswer).locked === false) return {};
  const owner = live === undefined ? 'theirs' : whoseLock(live, record);
  if (live === undefined || owner === 'theirs') return {};
  // For our own lock, the current facts complete records of older versions.
  const current: LockFacts = owner === 'ours' ? live.facts : {};
  const known = (name: keyof LockFacts) => current[name] ?? record?.marks?.[name] ?? null;
  return { locked: true, lockedBy: known('lockedBy'), lockedReason: known('lockedReason') };
}

function lockIn(answer: Answer): LockFacts {
  const item = itemIn(answer);
  return item === undefined ? {} : lockOf(item);
}

function itemIn({ body }: Answer): WorkspaceItem | undefined {
  return asWorkspaceItem(memberOf(body, 'data'));
}

/**
 * Recovers the lost response to our lock call: the workspace, if our token's user holds the lock with exactly the reason that
 * was sent. Undefined also if the service does not report who our token's user is.
 */
export async function recoverAnswer(
  { reader }: Session,
  call: Call,
  { address, id }: CallOwner,
): Promise<Answer | undefined> {
  if (id === undefined || call.id !== `${formatAddress(address)}#lock`) return undefined;
  const account = await reader.get('/account/details');
  const user = memberOf(account.body, 'data');
  if (account.status !== 200 || !isJsonObject(user)) return undefined;
  const answer = await reader.get(`/workspaces/${encodeURIComponent(id)}`);
  const { locked, lockedBy, lockedReason } = lockIn(answer);
  const { id: own = null } = user;
  const { reason } = call.body ?? {};
  const isOurs = sameJson(lockedBy, { type: 'users', id: own });
  const isSame = lockedReason === reason;
  return answer.status === 200 && locked === true && isOurs && isSame ? answer : undefined;
}
