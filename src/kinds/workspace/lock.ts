/**
 * Whose lock it is. Ours is only one that the ledger says that we took, that is held still, and that is the same one by
 * all that the service tells of it, who holds it and why, and by one of the two at least: what tells neither may be
 * anybody's. Somebody may have taken ours off and put on another (rules 18).
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Call } from '../../model/plan/call.ts';
import { isJsonObject, type Json, memberOf, sameJson } from '../../model/json/json.ts';
import type { MarkContext, CallOwner, Session } from '../../model/kind/kind.ts';
import type { Answer } from '../../model/wire.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../services/workspaces/workspace-item.ts';
import type { WorkspaceSpec } from './schema.ts';
import type { LiveWorkspace, LockFacts, PreparedWorkspace, WorkspaceRecord } from './workspace-types.ts';

/** The facts of a live workspace that tell of its lock: what takes one off relies on them. */
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

/** `untold`: nothing says that it is not the one that we took, and nothing says that it is. */
function whoseLock(
  { facts }: LiveWorkspace,
  record: WorkspaceRecord | undefined,
): 'ours' | 'theirs' | 'untold' {
  const { locked, lockedBy } = record?.marks ?? {};
  if (facts.locked !== true || record === undefined || locked !== true) return 'theirs';
  const words = [compareTold(facts.lockedBy, lockedBy), compareTold(facts.lockedReason, reasonOf(record))];
  if (words.includes('another')) return 'theirs';
  return words.includes('same') ? 'ours' : 'untold';
}

/** Who lets a workspace go gives the lock back, if it is ours. */
export function released(live: LiveWorkspace, record: WorkspaceRecord | undefined): PreparedWorkspace {
  return holdsLock(live, record) ? { lock: null } : {};
}

/** A record from before the reason was remembered goes by the one that was declared then. */
function reasonOf({ marks = {}, fields }: WorkspaceRecord): Json | undefined {
  const { lockedReason } = marks;
  if (lockedReason !== undefined) return lockedReason;
  return isJsonObject(fields.lock) ? (memberOf(fields.lock, 'reason') ?? '') : undefined;
}

/** What one of the two does not tell is no difference, and no proof; no more is a lack of reason, which many locks share. */
function compareTold(live: Json | undefined, recorded: Json | undefined): 'same' | 'another' | 'untold' {
  if ((live ?? null) === null || (recorded ?? null) === null) return 'untold';
  if (!sameJson(live, recorded)) return 'another';
  return live === '' ? 'untold' : 'same';
}

/** A sentence about a lock that is not proved to be ours, where somebody asked for none: it stays, and the rest goes on. */
export function foreignLockNotes(
  live: LiveWorkspace,
  record: WorkspaceRecord | undefined,
  asked: boolean,
): string[] {
  if (live.facts.locked !== true || holdsLock(live, record)) return [];
  const { locked } = record?.marks ?? {};
  const isAsked = asked || isJsonObject(record?.fields.lock) || locked === true;
  const whose =
    whoseLock(live, record) === 'untold' ? 'nothing proves that this stack did it' : 'not by this stack';
  return isAsked ? [`it is locked${becauseOf(live)}, and ${whose}: the lock is left alone`] : [];
}

/** ` ("frozen")`; empty where no reason is told. */
export function becauseOf({ facts }: LiveWorkspace): string {
  const reason = facts.lockedReason;
  return typeof reason === 'string' && reason !== '' ? ` ("${reason}")` : '';
}

/** What we know of our lock, as the service told it when we took it; nothing once it is not ours any more. */
export function ledgerMarks({
  change,
  answers,
  live,
  record,
}: MarkContext<WorkspaceSpec, LiveWorkspace>): Readonly<Record<string, Json>> {
  const answerTo = (suffix: string) =>
    change === undefined ? undefined : answers.get(`${formatAddress(change.address)}#${suffix}`);
  const [taken, given] = [answerTo('lock'), answerTo('unlock')];
  if (taken !== undefined) return { locked: true, ...toldBy(taken) };
  if (given !== undefined && toldBy(given).locked === false) return {};
  const whose = live === undefined ? 'theirs' : whoseLock(live, record);
  if (live === undefined || whose === 'theirs') return {};
  // What the service tells now, or told once: a record from before it was remembered learns it here, of a lock that is ours.
  const told: LockFacts = whose === 'ours' ? live.facts : {};
  const known = (name: keyof LockFacts) => told[name] ?? record?.marks?.[name] ?? null;
  return { locked: true, lockedBy: known('lockedBy'), lockedReason: known('lockedReason') };
}

function toldBy(answer: Answer): LockFacts {
  const item = itemIn(answer);
  return item === undefined ? {} : lockOf(item);
}

function itemIn({ body }: Answer): WorkspaceItem | undefined {
  return asWorkspaceItem(memberOf(body, 'data'));
}

/**
 * What our own lock call would have been answered, had its answer not been lost: the workspace, provided that it is our
 * token's user who holds the lock, for the very reason that was sent. Where the service does not say who we are, nobody knows.
 */
export async function lostAnswer(
  { reader }: Session,
  call: Call,
  { address, id }: CallOwner,
): Promise<Answer | undefined> {
  if (id === undefined || call.id !== `${formatAddress(address)}#lock`) return undefined;
  const account = await reader.get('/account/details');
  const user = memberOf(account.body, 'data');
  if (account.status !== 200 || !isJsonObject(user)) return undefined;
  const answer = await reader.get(`/workspaces/${encodeURIComponent(id)}`);
  const { locked, lockedBy, lockedReason } = toldBy(answer);
  const { id: own = null } = user;
  const { reason } = call.body ?? {};
  const isOurs = sameJson(lockedBy, { type: 'users', id: own });
  const isSame = lockedReason === reason;
  return answer.status === 200 && locked === true && isOurs && isSame ? answer : undefined;
}
