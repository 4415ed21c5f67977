/** The change for something that no manifest declares any more: its deletion, its release, or what is taken back of a part. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Change, Mention } from '../../model/plan/change.ts';
import { formatClaim } from '../../model/resource/claim.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Overridden } from '../../model/kind/kind.ts';
import type { Claim, LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec, contentAfter } from '../../compare/canonical-spec.ts';
import { compare } from './compare-resource.ts';
import { diff } from '../../compare/diff.ts';
import { fingerprintOf } from '../approval/digest.ts';
import { claimField, type Draft } from './draft-declared.ts';
import { judgeDeclared } from '../ownership/judge-declared.ts';
import type { Removal } from '../ownership/judge-undeclared.ts';
import type { Scene } from '../context/plan-context.ts';

export type Deed = Extract<Removal, { is: 'delete' | 'release' | 'withdraw' }>;

export type RemovalDraft =
  | { readonly is: 'draft'; readonly draft: Draft }
  /** nothing of it is ours any more: only the ledger has to learn that */
  | { readonly is: 'forget' }
  | { readonly is: 'mention'; readonly mention: Mention };

export function draftRemoval(scene: Scene, address: Address, deed: Deed): RemovalDraft {
  if (deed.is === 'withdraw') return draftWithdrawal(scene, address, deed.reason);
  if (deed.is === 'release') return { is: 'draft', draft: draftRelease(scene, address, deed.reason) };
  const { reason, remove, place } = deed;
  const overridden = remove === 'force' ? findOverridden(scene, address) : [];
  const fields = remove === 'force' ? [forced, ...overridden.map(({ field }) => field)] : [];
  const notes = overridden.map(({ says }) => says);
  const draft = draftOf(scene, address, { action: 'delete', reason, fields, notes, remove });
  const change = { ...draft.change, ...(place && { place }) };
  return { is: 'draft', draft: { ...draft, change, ...(remove === 'force' ? { overridden } : {}) } };
}

function findOverridden(scene: Scene, address: Address): readonly Overridden[] {
  const live = scene.live.get(formatAddress(address));
  return live === undefined ? [] : (scene.kind(address.kind).overridden?.(live, scene.record(address)) ?? []);
}

/** Everything that a release changes stands among its fields: who approves it has read that. */
function draftRelease(scene: Scene, address: Address, reason: string): Draft {
  const kind = scene.kind(address.kind);
  const live = scene.live.get(formatAddress(address));
  const desired = live === undefined ? {} : (kind.released?.(live, scene.record(address)) ?? {});
  const { fields } = diff({
    fields: kind.fields,
    desired,
    live: live?.spec,
    recorded: undefined,
    absent: 'unmanaged',
  });
  const claim = live?.witness.claim;
  const unclaimed = claim === undefined ? [] : [claimField({ before: formatClaim(claim) })];
  const changes = [...unclaimed, ...fields.map((field) => ({ ...field, origin: 'no longer declared' }))];
  const notes = findRemains(scene, address);
  return { ...draftOf(scene, address, { action: 'release', reason, fields: changes, notes }), desired };
}

/** A part that is declared by itself remains because it is declared, and is no part of what is let go. */
function findRemains(scene: Scene, address: Address): string[] {
  return scene.kinds().flatMap(({ name, ownership, remains }) => {
    const part = { ...address, kind: name };
    const text = formatAddress(part);
    if (ownership.by !== 'part' || remains === undefined || scene.desired.has(text)) return [];
    const record = formatAddress(ownership.of(part)) === formatAddress(address) && scene.record(part);
    return record ? remains(record, scene.live.get(text)) : [];
  });
}

/** Stands among the fields, so that approving a safe delete never approves a forced one: the two have different digests. */
const forced: FieldChange = { path: ['remove'], after: 'force', shape: 'scalar' };

type About = Pick<Change, 'action' | 'reason' | 'fields'> & {
  readonly notes?: readonly string[];
  readonly remove?: 'safe' | 'force' | undefined;
};

function draftOf(scene: Scene, address: Address, { remove, notes = [], ...about }: About): Draft {
  const live = scene.live.get(formatAddress(address));
  const id = live?.id === undefined ? {} : { id: live.id };
  const fingerprint = live === undefined ? {} : fingerprinted(scene, live);
  const change = { address, ...about, ...id, ...fingerprint, notes, calls: [], relies: {} };
  return { change, desired: {}, prepared: {}, live, ...(remove === undefined ? {} : { remove }) };
}

/** What has no id is told from the next one of its name by what it is. A part is known by its whole. */
function fingerprinted(scene: Scene, { address, id, spec }: LiveResource): Pick<Change, 'fingerprint'> {
  const { fields, ownership } = scene.kind(address.kind);
  if (id !== undefined || ownership.by === 'part') return {};
  return { fingerprint: fingerprintOf(contentAfter(fields, spec, [])) };
}

function draftWithdrawal(scene: Scene, address: Address, reason: string): RemovalDraft {
  const kind = scene.kind(address.kind);
  const record = scene.record(address);
  const live = scene.live.get(formatAddress(address));
  if (live === undefined || record === undefined || kind.withdraw === undefined) return { is: 'forget' };
  const desired: Spec = canonicalSpec(kind.fields, kind.withdraw(record, live));
  const { fields, notes, problems, prepared } = compare(scene, { address, desired, live });
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) {
    const message = `no longer declared, but what this stack had set cannot be taken back: ${problem.message}`;
    return { is: 'mention', mention: { address, message, ...(problem.fix && { fix: problem.fix }) } };
  }
  if (fields.length === 0) return { is: 'forget' };
  const draft = draftOf(scene, address, { action: 'delete', reason, fields, notes });
  const claim = claimOfWhole(scene, address);
  return { is: 'draft', draft: { ...draft, desired, prepared, ...(claim === undefined ? {} : { claim }) } };
}

/** The claim that the whole shall bear, which a part's own reading may show before this change is sent. */
function claimOfWhole(scene: Scene, address: Address): Claim | undefined {
  const { ownership } = scene.kind(address.kind);
  const whole = ownership.by === 'part' ? scene.desired.get(formatAddress(ownership.of(address))) : undefined;
  const verdict = whole === undefined ? undefined : judgeDeclared(scene, whole);
  return verdict?.is === 'ours' ? verdict.claim : undefined;
}
