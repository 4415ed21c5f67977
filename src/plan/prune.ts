/**
 * What becomes of resources that no manifest declares any more. Nothing is deleted without witnesses (RULES 22-24): a
 * claim alone, a lost ledger, an incomplete look or a content that someone changed never deletes anything.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Mention } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { sameJson } from '../model/json.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import type { DesiredResource, LiveResource } from '../model/resource.ts';
import { contentAfter } from './canonical-spec.ts';
import type { Scene } from './scene.ts';

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

/** Every undeclared address that is live and ours by some witness, or that the ledger knows; with its verdict. */
export function judgeUndeclared(scene: Scene): ReadonlyMap<AddressText, Removal> {
  const verdicts = new Map<AddressText, Removal>();
  const declared = (text: AddressText) => scene.desired.has(text) || scene.tombstones.has(text);
  for (const [text, live] of scene.live) {
    if (declared(text)) continue;
    const verdict = judgeLive(scene, live);
    if (verdict !== undefined) verdicts.set(text, barred(scene, live.address, verdict));
  }
  for (const text of scene.ledger.records.keys()) {
    if (!declared(text) && !verdicts.has(text) && !scene.live.has(text)) verdicts.set(text, { is: 'forget' });
  }
  for (const [text, tombstone] of scene.tombstones) verdicts.set(text, judgeTombstone(scene, tombstone));
  return verdicts;
}

function barred(scene: Scene, address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  const bar = scene.pruneBar(address);
  return bar === undefined
    ? verdict
    : kept(address, `kept: ${bar}, and after an incomplete look nothing is removed`);
}

function judgeLive(scene: Scene, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = scene.kind(address.kind);
  const record = scene.record(address);
  if (ownership.by === 'claim') return judgeClaimed(scene, live, record);
  if (ownership.by === 'part')
    return record === undefined ? undefined : judgePart(scene, ownership.of(address));
  if (ownership.undeclared === 'release') {
    return record === undefined
      ? undefined
      : { is: 'release', reason: 'no longer declared; it stays as it is' };
  }
  return judgeRecorded(scene, live, record);
}

/** RULES 22. */
function judgeClaimed(
  scene: Scene,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address, witness } = live;
  const { claim } = witness;
  if (claim === undefined || claim.inherited || claim.stack !== scene.stack.name) {
    if (record === undefined) return undefined;
    const message = 'no longer declared, and its claim is not ours any more: it is left alone';
    return { is: 'forget', mention: { address, message } };
  }
  if (claim.protect) return kept(address, 'no longer declared, and protected: it is kept');
  if (claim.release) return { is: 'release', reason: 'no longer declared, and marked for release' };
  if (record === undefined) return judgeWithoutRecord(scene, live);
  if (record.origin === 'adopted')
    return { is: 'release', reason: 'no longer declared; it was adopted, so it is released and stays' };
  const obstacles = scene.kind(address.kind).obstacles?.(live, 'delete', scene.record(address)) ?? [];
  if (obstacles.length > 0)
    return kept(address, `no longer declared, but cannot be deleted: ${obstacles.join('; ')}`);
  return { is: 'delete', reason: 'no longer declared; this stack created it' };
}

function judgeWithoutRecord(scene: Scene, { address, witness }: LiveResource): Removal {
  const fix =
    'to delete it, write a document for it with "metadata.remove: safe"; to keep it, remove its claim';
  const message =
    witness.bornOf === scene.stack.name
      ? 'not declared; it bears our claim and our birth mark, but the ledger has no record of it: it is kept'
      : 'not declared; it bears our claim, but nothing proves that this stack created it: it is kept';
  return { is: 'mention', mention: { address, message, fix } };
}

/** RULES 24: roles and what else bears no mark. */
function judgeRecorded(
  scene: Scene,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  const { target } = scene.target(address.target);
  if (!ownsName(target.owns, address.name)) return record === undefined ? undefined : { is: 'forget' };
  if (record === undefined) {
    if (target.exclusive && scene.ledger.known)
      return { is: 'delete', reason: 'not declared, and this target is exclusive to the stack' };
    if (target.owns === undefined) return undefined;
    return kept(address, 'not declared, and never written by this stack: it is kept');
  }
  if (isAsLastWritten(scene, live, record))
    return { is: 'delete', reason: 'no longer declared, and unchanged since our last write' };
  return {
    is: 'mention',
    mention: {
      address,
      message: 'no longer declared, but changed since our last write: it is kept',
      fix: 'to delete it all the same, write a document for it with "metadata.remove: safe"',
    },
  };
}

/** The names that a target says are this stack's; without `owns`, every name that the stack declares. */
function ownsName(owns: readonly string[] | undefined, name: string): boolean {
  return owns === undefined || owns.some((pattern) => matchesPattern(name, pattern));
}

export function isAsLastWritten(scene: Scene, live: LiveResource, record: LedgerRecord): boolean {
  const { fields } = scene.kind(live.address.kind);
  return record.content !== undefined && sameJson(record.content, contentAfter(fields, {}, live.spec));
}

function judgePart(scene: Scene, whole: Address): Removal | undefined {
  const declared = scene.desired.has(formatAddress(whole));
  const owner = scene.live.get(formatAddress(whole))?.witness.claim?.stack;
  if (!declared && owner !== undefined && owner !== scene.stack.name) return { is: 'forget' };
  if (!declared && owner === scene.stack.name) return undefined;
  return {
    is: 'withdraw',
    reason: `no longer declared for ${formatAddress(whole)}: what this stack had set is taken back`,
  };
}

/** RULES 23. */
function judgeTombstone(scene: Scene, tombstone: DesiredResource): Removal {
  const { address, metadata, place } = tombstone;
  const kind = scene.kind(address.kind);
  const live = scene.live.get(formatAddress(address));
  const refuse = (code: string, message: string, fix: string): Removal => ({
    is: 'problem',
    problem: { code, severity: 'error', class: 'conflict', message, place, fix },
  });
  const { ownership } = kind;
  if (ownership.by === 'part' || (ownership.by === 'ledger' && ownership.undeclared === 'release')) {
    return refuse(
      'not-removable',
      `"${formatAddress(address)}" cannot be removed by itself`,
      'delete its document instead',
    );
  }
  if (live === undefined) return kept(address, 'removed: its tombstone document can be deleted');
  const ours =
    ownership.by === 'claim'
      ? live.witness.claim?.stack === scene.stack.name && !live.witness.claim.inherited
      : scene.record(address) !== undefined || scene.target(address.target).target.owns !== undefined;
  if (!ours)
    return refuse(
      'not-ours',
      `"${formatAddress(address)}" is not this stack's to remove`,
      'adopt it first, or remove it by hand',
    );
  if (live.witness.claim?.protect) {
    return refuse(
      'protected',
      `"${formatAddress(address)}" is protected`,
      'declare it with "protect: false", apply, then write the tombstone',
    );
  }
  const remove = metadata.remove ?? 'safe';
  const obstacles = remove === 'force' ? [] : (kind.obstacles?.(live, 'delete', scene.record(address)) ?? []);
  if (obstacles.length > 0)
    return kept(address, `to be removed, but cannot be deleted: ${obstacles.join('; ')}`);
  return { is: 'delete', reason: `a tombstone document asks for it (${remove})`, remove, place };
}

function kept(address: Address, message: string): Removal {
  return { is: 'mention', mention: { address, message } };
}
