/**
 * What becomes of resources that no manifest declares any more. Nothing is deleted without witnesses (rules 22-24): a
 * claim alone, a lost ledger, an incomplete look or a content that someone changed never deletes anything.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { Mention } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { sameJson } from '../../model/json/json.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import { ownsName } from '../../model/resource/owned-names.ts';
import type { DesiredResource, LiveResource } from '../../model/resource/resource.ts';
import { contentAfter } from '../../compare/canonical-spec.ts';
import type { PlanContext } from '../context/plan-context.ts';

export type Removal =
  | {
      readonly is: 'delete';
      readonly reason: string;
      readonly remove?: 'safe' | 'force';
      readonly place?: Diagnostic['place'];
    }
  /** the claim goes, or the ledger forgets it; the resource stays */
  | { readonly is: 'release'; readonly reason: string }
  /** a part is brought back to what it was without our document */
  | { readonly is: 'withdraw'; readonly reason: string }
  | { readonly is: 'mention'; readonly mention: Mention }
  | { readonly is: 'problem'; readonly problem: Diagnostic }
  /** the ledger drops its record; nothing else */
  | { readonly is: 'forget'; readonly mention?: Mention };

/**
 * Every undeclared address that is live and ours by some witness, or that the ledger knows; with its verdict. In a
 * selection the tombstones alone are judged: what else it does not hold may well be declared.
 */
export function judgeUndeclared(context: PlanContext): ReadonlyMap<AddressText, Removal> {
  const verdicts = new Map<AddressText, Removal>();
  for (const [text, live] of undeclaredLive(context)) {
    const verdict = judgeLive(context, live);
    if (verdict !== undefined)
      verdicts.set(text, context.isComplete ? verdict : unpruned(live.address, verdict));
  }
  for (const text of context.spent) {
    if (isDeclared(context, text) || verdicts.has(text) || !isKnownGone(context, text)) continue;
    verdicts.set(text, { is: 'forget' });
  }
  for (const removal of keptOutOfView(context)) verdicts.set(formatAddress(removal.mention.address), removal);
  for (const tombstone of seenTombstones(context))
    verdicts.set(formatAddress(tombstone.address), judgeTombstone(context, tombstone));
  return verdicts;
}

function isDeclared({ desired, tombstones }: PlanContext, text: AddressText): boolean {
  return desired.has(text) || tombstones.has(text);
}

function undeclaredLive(context: PlanContext): [AddressText, LiveResource][] {
  return context.isSelection ? [] : [...context.live].filter(([text]) => !isDeclared(context, text));
}

/** What nobody could look at is left alone without a word: why is told once, with its target. */
function seenTombstones(context: PlanContext): DesiredResource[] {
  return [...context.tombstones.values()].filter(({ address }) => context.unseen(address) === undefined);
}

/** A record is evidence: it goes only when somebody looked for its resource and saw all that there is. */
function isKnownGone(context: PlanContext, text: AddressText): boolean {
  const address = parseAddress(text);
  return context.isInView(address) && context.blindSpot(address) === undefined;
}

/** One word for each target that the stack has left: what was applied there is neither looked at nor forgotten. */
function keptOutOfView(context: PlanContext): Extract<Removal, { is: 'mention' }>[] {
  const outside = context.spent.map(parseAddress).filter((address) => !context.isInView(address));
  return [...Map.groupBy(outside, ({ target }) => target)].flatMap(([target, [address, ...more]]) => {
    if (address === undefined) return [];
    const others = more.length === 0 ? 'it is' : `it and ${more.length} more are`;
    const message = `what this stack applied in target "${target}" is not looked at any more: ${others} left alone`;
    return kept(address, message, 'add the target again to manage it, or release it there by hand');
  });
}

/**
 * What is not declared is not removed after an incomplete look, wherever the gap was
 * (architecture: plan sees all or says so).
 */
function unpruned(address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  return kept(address, 'kept: it is no longer declared, but after an incomplete look nothing is removed');
}

/** A tombstone asks for one resource, so that only what hides that very one is in its way. */
function barred(context: PlanContext, address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  const blind = context.blindSpot(address);
  return blind === undefined
    ? verdict
    : kept(address, `kept: ${blind}, and after an incomplete look nothing is removed`);
}

function judgeLive(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  const record = context.record(address);
  if (ownership.by === 'claim') return judgeClaimed(context, live, record);
  if (ownership.by === 'part')
    return record === undefined ? undefined : judgePart(context, address, ownership.of(address));
  if (ownership.undeclared === 'delete') return judgeRecorded(context, live, record);
  if (record === undefined) return undefined;
  return { is: 'release', reason: 'no longer declared; it stays as it is' };
}

/** Rule 22. */
function judgeClaimed(
  context: PlanContext,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  const { claim } = live.witness;
  if (claim === undefined || claim.inherited || !context.isOurs(claim.stack)) {
    if (record === undefined) return undefined;
    const message = 'no longer declared, and its claim is not ours any more: it is left alone';
    return { is: 'forget', mention: { address, message } };
  }
  if (claim.protect) return kept(address, 'no longer declared, and protected: it is kept');
  const declaredAs = context.recordedAt(address);
  if (declaredAs !== undefined && declaredAs !== formatAddress(address) && context.desired.has(declaredAs)) {
    const message = `it is "${declaredAs}" under a new name, and something else has taken that name: it is kept`;
    return kept(address, message, 'give one of the two its name back, or take the claim off one of them');
  }
  if (claim.release) return { is: 'release', reason: 'no longer declared, and marked for release' };
  if (record === undefined) return judgeWithoutRecord(context, live);
  if (record.origin === 'adopted')
    return { is: 'release', reason: 'no longer declared; it was adopted, so it is released and stays' };
  return unlessRefused(context, live, { is: 'delete', reason: 'no longer declared; this stack created it' });
}

/** A deletion that the service is known to refuse is not planned. */
function unlessRefused(context: PlanContext, live: LiveResource, removal: Removal): Removal {
  const { address } = live;
  const obstacles = context.kind(address.kind).blockers?.(live, 'delete', context.record(address)) ?? [];
  return obstacles.length === 0
    ? removal
    : kept(address, `to be deleted, but the service would refuse it: ${obstacles.join('; ')}`);
}

/** Claim and birth mark are two witnesses; the third is missing, and the guard `no-record` asks for it (rule 22). */
function judgeWithoutRecord(context: PlanContext, live: LiveResource): Removal {
  const { address, witness } = live;
  const { former } = context;
  if (former?.hasLedger === false && witness.claim?.stack === former.name) {
    const message = `not declared; it is claimed by stack "${former.name}", whose ledger is not here: it is kept`;
    return kept(address, message, insist);
  }
  if (context.isOurs(witness.bornOf)) {
    const reason = 'not declared; this stack created it, but the ledger has no record of it';
    return unlessRefused(context, live, { is: 'delete', reason });
  }
  const message =
    'not declared; it bears our claim, but nothing proves that this stack created it: it is kept';
  const fix =
    'to delete it, write a document for it with "metadata.remove: safe"; to keep it, remove its claim';
  return kept(address, message, fix);
}

/** Rule 24: roles and what else bears no mark. */
function judgeRecorded(
  context: PlanContext,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  if (!isOwned(context, address)) {
    if (record === undefined) return undefined;
    const message = 'no longer declared, and not among the names that its target owns: it is left alone';
    return { is: 'forget', mention: { address, message } };
  }
  if (record === undefined) return judgeUnrecorded(context, live);
  if (record.protect) return kept(address, 'no longer declared, and protected: it is kept');
  if (record.onRemove === 'release') return releaseRecorded(context, address);
  const { exclusive = false } = context.target(address.target).target;
  if (record.origin === 'adopted' && record.onRemove !== 'delete' && !exclusive)
    return { is: 'release', reason: adoptedStays };
  // What was adopted as it was declared was never written.
  const since = record.origin === 'adopted' ? 'since it was adopted or last written' : 'since our last write';
  if (!isAsLastWritten(context, live, record))
    return kept(address, `no longer declared, but changed ${since}: it is kept`, insist);
  const reason = `no longer declared, and unchanged ${since}`;
  return unlessRefused(context, live, { is: 'delete', reason });
}

const adoptedStays =
  'no longer declared; it was adopted, so it is released and its access stays: "onRemove: delete" or a tombstone ends it';

/** Once the ledger has forgotten it, it is a stranger, and an exclusive target deletes strangers: there it is remembered. */
function releaseRecorded(context: PlanContext, address: Address): Removal {
  const why = 'no longer declared, and marked for release';
  return context.target(address.target).target.exclusive
    ? kept(address, `${why}: it is kept, and remembered for as long as its target is exclusive to the stack`)
    : { is: 'release', reason: `${why}; it stays as it is` };
}

const insist = 'to delete it all the same, write a document for it with "metadata.remove: safe"';

function judgeUnrecorded(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { owns, exclusive } = context.target(address.target).target;
  if (exclusive) {
    const reason = 'not declared, and this target is exclusive to the stack';
    return unlessRefused(context, live, { is: 'delete', reason });
  }
  if (owns === undefined) return undefined;
  return kept(address, 'not declared, and never written by this stack: it is kept', insist);
}

function isOwned(context: PlanContext, { kind, target, name }: Address): boolean {
  return ownsName(context.target(target).target, name, context.kind(kind).names);
}

/** Whether nobody changed it since: the witness without which no unmarked resource is deleted (rule 24). */
export function isAsLastWritten(context: PlanContext, live: LiveResource, record: LedgerRecord): boolean {
  const { fields } = context.kind(live.address.kind);
  const { content } = record;
  if (content === undefined) return false;
  // A field that the ledger does not know is newer than the record: then it had its default.
  const written = { ...contentAfter(fields, undefined, []), ...content };
  return sameJson(written, contentAfter(fields, live.spec, []));
}

function judgePart(context: PlanContext, address: Address, whole: Address): Removal | undefined {
  const text = formatAddress(whole);
  const live = context.live.get(text);
  const goes = live !== undefined && !context.desired.has(text);
  const { claim } = live?.witness ?? {};
  if (goes && claim !== undefined && !claim.inherited) {
    // What becomes of the whole becomes of its parts.
    if (context.isOurs(claim.stack)) return isReleased(context, live) ? { is: 'forget' } : undefined;
    const message = `no longer declared, and "${text}" is claimed by stack "${claim.stack}": it is left alone`;
    return { is: 'forget', mention: { address, message } };
  }
  // It was ours and somebody took the claim away: it is left alone whole, or its parts would be written behind its back.
  if (goes && context.record(whole) !== undefined) return { is: 'forget' };
  return {
    is: 'withdraw',
    reason: `no longer declared for "${text}": what this stack had set is taken back`,
  };
}

/** A whole that is let go keeps its parts as they are: once its claim is gone, nobody takes back what they hold. */
function isReleased(context: PlanContext, live: LiveResource): boolean {
  if (context.tombstones.has(formatAddress(live.address))) return false;
  return context.isComplete && judgeLive(context, live)?.is === 'release';
}

/** Rule 23. */
function judgeTombstone(context: PlanContext, tombstone: DesiredResource): Removal {
  const { address, metadata, place } = tombstone;
  const refusal = refuseTombstone(context, address);
  if (refusal !== undefined) {
    const [code, message, fix] = refusal;
    const problem = { code, severity: 'error', class: 'conflict', message, place, fix } as const;
    return { is: 'problem', problem };
  }
  const live = context.live.get(formatAddress(address));
  if (live === undefined) {
    const mention = { address, message: 'it is gone: its tombstone document can be deleted' };
    return barred(context, address, { is: 'forget', mention });
  }
  const remove = metadata.remove ?? 'safe';
  const reason = `a tombstone document asks for it (${remove})`;
  const removal: Removal = { is: 'delete', reason, remove, place };
  return barred(context, address, remove === 'force' ? removal : unlessRefused(context, live, removal));
}

type Refusal = readonly [code: string, message: string, fix: string];

function refuseTombstone(context: PlanContext, address: Address): Refusal | undefined {
  const text = formatAddress(address);
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'part' || (ownership.by === 'ledger' && ownership.undeclared === 'release'))
    return ['not-removable', `"${text}" cannot be removed by itself`, 'delete its document instead'];
  const live = context.live.get(text);
  if (live === undefined) return undefined;
  if (!isOursToRemove(context, live))
    return ['not-ours', `"${text}" is not this stack's to remove`, 'adopt it first, or remove it by hand'];
  const isProtected = live.witness.claim?.protect ?? context.record(address)?.protect ?? false;
  return isProtected
    ? [
        'protected',
        `"${text}" is protected`,
        'declare it with "protect: false", apply, then write the tombstone',
      ]
    : undefined;
}

function isOursToRemove(context: PlanContext, { address, witness: { claim } }: LiveResource): boolean {
  if (context.kind(address.kind).ownership.by === 'claim')
    return claim !== undefined && !claim.inherited && context.isOurs(claim.stack);
  if (context.record(address) !== undefined) return true;
  const { owns, exclusive } = context.target(address.target).target;
  return isOwned(context, address) && (exclusive === true || owns !== undefined);
}

function kept(address: Address, message: string, fix?: string): Extract<Removal, { is: 'mention' }> {
  return { is: 'mention', mention: { address, message, ...(fix === undefined ? {} : { fix }) } };
}
