/**
 * One change before it has calls: what is to become of a resource, compared field by field. The draft keeps what the
 * comparison stood on, so that the same comparison can be made again just before the write.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Action, Change } from '../model/change.ts';
import { formatClaim } from '../model/claim.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { FieldChange } from '../model/field.ts';
import type { Meeting, Prepared } from '../model/kind.ts';
import type { LedgerRecord, Origin } from '../model/ledger.ts';
import type { Claim, DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import { canonicalSpec, contentAfter } from './canonical-spec.ts';
import { diff } from './diff.ts';
import { type ClaimChange, judgeDeclared, judgeUnrecorded, type Verdict } from './ownership.ts';
import type { Removal } from './prune.ts';
import type { Scene } from './scene.ts';

export interface Draft {
  readonly change: Change;
  /** canonical, as declared; for a withdrawn part what shall be left; empty for a removal */
  readonly desired: Spec;
  /** the same after the kind's `prepare`: what calls are made from */
  readonly prepared: Spec;
  readonly live: LiveResource | undefined;
  /** the claim that the resource shall bear, or that the whole shall bear that it is a part of */
  readonly claim?: Claim;
  readonly remove?: 'safe' | 'force';
  /** absent for what is not declared */
  readonly record?: LedgerRecord;
}

interface Drafted {
  /** absent when there is a problem, here or with the whole that this is a part of */
  readonly draft?: Draft;
  readonly problems: readonly Diagnostic[];
}

type Ours = Extract<Verdict, { is: 'ours' }>;

export function draftDeclared(scene: Scene, resource: DesiredResource): Drafted {
  const verdict = judgeDeclared(scene, resource);
  if (verdict.is === 'problem') return { problems: [verdict.problem] };
  if (verdict.is === 'blocked') return { problems: [] };
  const live = scene.live.get(formatAddress(resource.address));
  const desired = canonicalSpec(scene.kind(resource.address.kind).fields, resource.spec);
  const compared = compare(scene, { address: resource.address, resource, desired, live });
  const settled = verdict.is === 'ours' ? verdict : judgeUnrecorded(resource, compared.fields.length > 0);
  if (settled.is === 'problem') return { problems: [settled.problem] };
  if (hasErrors(compared.problems)) return { problems: compared.problems };
  const draft = assemble(scene, { resource, desired, live, verdict: settled, compared });
  return { draft, problems: compared.problems };
}

export interface Compared {
  /** canonical, after the kind's `prepare` */
  readonly prepared: Spec;
  readonly fields: readonly FieldChange[];
  readonly notes: readonly string[];
  readonly problems: readonly Diagnostic[];
}

export interface Side {
  readonly address: Address;
  /** absent for what is withdrawn: then `desired` says all that there is to say, and nothing is reset besides */
  readonly resource?: DesiredResource | undefined;
  readonly desired: Spec;
  readonly live: LiveResource | undefined;
}

/** The comparison of one resource with a live one; used for the plan and again just before the write. */
export function compare(scene: Scene, { address, resource, desired, live }: Side): Compared {
  const kind = scene.kind(address.kind);
  const record = scene.record(address);
  const meeting: Meeting = {
    address,
    desired,
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
    ...(resource === undefined ? {} : { place: resource.place }),
    peer: (other) => peerOf(scene, other),
  };
  const prepared: Prepared = kind.prepare?.(meeting) ?? { desired };
  const difference = diff({
    fields: kind.fields,
    desired: prepared.desired,
    live: live === undefined ? undefined : (prepared.live ?? live.spec),
    recorded: resource === undefined ? undefined : record?.fields,
    absent: kind.absent,
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
  });
  return {
    prepared: canonicalSpec(kind.fields, prepared.desired),
    fields: difference.fields,
    notes: [...(prepared.notes ?? []), ...difference.notes],
    problems: prepared.problems ?? [],
  };
}

function peerOf(scene: Scene, address: Address) {
  const resource = scene.desired.get(formatAddress(address));
  const live = scene.live.get(formatAddress(address));
  const record = scene.record(address);
  return {
    ...(resource === undefined
      ? {}
      : { desired: canonicalSpec(scene.kind(address.kind).fields, resource.spec) }),
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
  };
}

interface Parts {
  readonly resource: DesiredResource;
  readonly desired: Spec;
  readonly live: LiveResource | undefined;
  readonly verdict: Ours;
  readonly compared: Compared;
}

function assemble(scene: Scene, parts: Parts): Draft {
  const { resource, desired, live, verdict, compared } = parts;
  const fields = [
    ...renameChange(resource, live),
    ...(verdict.claimChange === undefined ? [] : [claimField(verdict.claimChange)]),
    ...compared.fields,
  ];
  const action: Action = verdict.action === 'update' && fields.length === 0 ? 'none' : verdict.action;
  const obstacles =
    live === undefined
      ? []
      : (scene.kind(resource.address.kind).obstacles?.(live, action, scene.record(resource.address)) ?? []);
  return {
    change: {
      address: resource.address,
      action,
      reason: verdict.reason,
      fields,
      notes: [...compared.notes, ...obstacles.map((obstacle) => `the service will refuse this: ${obstacle}`)],
      place: resource.place,
      ...(live?.id === undefined ? {} : { id: live.id }),
      calls: [],
      relies: {},
    },
    desired,
    live,
    ...(verdict.claim === undefined ? {} : { claim: verdict.claim }),
    record: recordDraft(scene, parts, verdict.origin),
  };
}

function renameChange(resource: DesiredResource, live: LiveResource | undefined): FieldChange[] {
  const before = live?.spec['name'];
  const after = resource.address.name;
  return before === undefined || before === after ? [] : [{ path: ['name'], before, after, shape: 'scalar' }];
}

function claimField({ before, after }: ClaimChange): FieldChange {
  return {
    path: ['claim'],
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape: 'scalar',
  };
}

function recordDraft(
  scene: Scene,
  { resource, desired, live, compared }: Parts,
  origin: Origin,
): LedgerRecord {
  const { fields, ownership } = scene.kind(resource.address.kind);
  const { onRemove, protect } = resource.metadata;
  const managed = Object.entries(desired).filter(([name]) => fields[name]?.local !== true);
  return {
    ...(live?.id === undefined ? {} : { id: live.id }),
    origin,
    ...(onRemove === undefined ? {} : { onRemove }),
    ...(protect === undefined ? {} : { protect }),
    fields: Object.fromEntries(managed),
    ...(ownership.by === 'ledger'
      ? { content: contentAfter(fields, { ...desired, ...resets(compared.fields) }, live?.spec) }
      : {}),
  };
}

/** Fields that the manifest does not mention and that the change sets all the same: back to their defaults. */
function resets(changes: readonly FieldChange[]): Spec {
  const whole = changes.filter(({ path }) => path.length === 1);
  return Object.fromEntries(
    whole.flatMap(({ path: [name = ''], after }) => (after === undefined ? [] : [[name, after]])),
  );
}

type Act = Extract<Removal, { is: 'delete' | 'release' | 'withdraw' }>;

/** The change for something that is not declared any more; undefined when nothing would change. */
export function draftRemoval(scene: Scene, text: AddressText, removal: Act): Draft | undefined {
  const address = parseAddress(text);
  const live = scene.live.get(text);
  const base = {
    address,
    reason: removal.reason,
    notes: [],
    ...(live?.id === undefined ? {} : { id: live.id }),
    calls: [],
    relies: {},
  };
  if (removal.is === 'withdraw') return draftWithdrawal(scene, base, live);
  const claim = live?.witness.claim;
  const released = removal.is === 'release' && claim !== undefined;
  return {
    change: {
      ...base,
      action: removal.is,
      fields: released ? [claimField({ before: formatClaim(claim) })] : [],
      ...(removal.is === 'delete' && removal.place !== undefined ? { place: removal.place } : {}),
    },
    desired: {},
    live,
    ...(removal.is === 'delete' && removal.remove !== undefined ? { remove: removal.remove } : {}),
  };
}

function draftWithdrawal(
  scene: Scene,
  base: Omit<Change, 'action' | 'fields'>,
  live: LiveResource | undefined,
): Draft | undefined {
  const kind = scene.kind(base.address.kind);
  const record = scene.record(base.address);
  if (live === undefined || record === undefined || kind.withdraw === undefined) return undefined;
  const desired = canonicalSpec(kind.fields, kind.withdraw(record, live));
  const { fields, notes } = compare(scene, { desired, live });
  return {
    change: { ...base, notes, action: fields.length === 0 ? 'none' : 'delete', fields },
    desired,
    live,
  };
}
