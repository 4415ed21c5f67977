/**
 * The last look before a write (RULES 29): the fields that the plan relied on, compared once more. Already true: nothing
 * to do. As they were: send. Anything else moved under the plan: stale, and nothing is sent.
 */
import { formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { formatClaim } from '../model/claim.ts';
import type { FieldChange } from '../model/field.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { LiveResource } from '../model/resource.ts';
import { compare, type Draft } from './draft.ts';
import { isAsLastWritten } from './prune.ts';
import type { Scene } from './scene.ts';

export type Recheck =
  | { readonly is: 'send' }
  | { readonly is: 'done' }
  | { readonly is: 'stale'; readonly why: string };

export function recheckDraft(
  scene: Scene,
  draft: Draft,
  change: Change,
  now: LiveResource | undefined,
): Recheck {
  if (change.action === 'create') return recheckCreate(scene, draft, now);
  const gone = change.action === 'delete' && scene.kind(change.address.kind).ownership.by !== 'part';
  if (now === undefined) {
    return gone ? { is: 'done' } : stale('it is gone from the service');
  }
  const moved = movedFact(change, now) ?? movedOwner(draft, change, now);
  if (moved !== undefined) return stale(moved);
  return gone ? recheckDelete(scene, draft, change, now) : recheckFields(scene, draft, change, now);
}

function stale(why: string): Recheck {
  return { is: 'stale', why };
}

/** Only for creates that would overwrite: whatever is there now was not there when the plan was made. */
function recheckCreate(scene: Scene, draft: Draft, now: LiveResource | undefined): Recheck {
  if (now === undefined) return { is: 'send' };
  const { fields } = compareNow(scene, draft, now);
  return fields.length === 0
    ? { is: 'done' }
    : stale('something of that name appeared since the plan was made');
}

function recheckDelete(scene: Scene, draft: Draft, change: Change, now: LiveResource): Recheck {
  const kind = scene.kind(change.address.kind);
  const record = scene.record(change.address);
  const obstacles = draft.remove === 'force' ? [] : (kind.obstacles?.(now, 'delete', record) ?? []);
  if (obstacles.length > 0) return stale(obstacles.join('; '));
  const insisted = draft.remove !== undefined;
  if (
    kind.ownership.by === 'ledger' &&
    !insisted &&
    record !== undefined &&
    !isAsLastWritten(scene, now, record)
  ) {
    return stale('it changed since our last write');
  }
  return { is: 'send' };
}

function recheckFields(scene: Scene, draft: Draft, change: Change, now: LiveResource): Recheck {
  const left = new Map(
    compareNow(scene, draft, now).fields.map((field) => [field.path.join('\0'), field] as const),
  );
  let done = true;
  for (const planned of change.fields) {
    const verdict = isOwnField(planned)
      ? fieldOfOwner(planned, now)
      : fieldNow(planned, left.get(planned.path.join('\0')));
    if (verdict === 'moved') return stale(`${planned.path.join('.')} moved since the plan was made`);
    if (verdict === 'before') done = false;
  }
  return done ? { is: 'done' } : { is: 'send' };
}

function compareNow(scene: Scene, draft: Draft, now: LiveResource) {
  const resource = scene.desired.get(formatAddress(draft.change.address));
  return compare(scene, {
    ...(resource === undefined ? {} : { resource }),
    desired: draft.desired,
    live: now,
  });
}

/** The claim and the name are the planner's own fields: no table of a kind knows them. */
function isOwnField({ path }: FieldChange): boolean {
  return path.length === 1 && (path[0] === 'claim' || path[0] === 'name');
}

type Stand = 'before' | 'after' | 'moved';

function fieldOfOwner({ path, before, after }: FieldChange, now: LiveResource): Stand {
  const { claim } = now.witness;
  const value: Json | undefined =
    path[0] === 'name'
      ? now.spec['name']
      : claim === undefined || claim.inherited
        ? undefined
        : formatClaim(claim);
  return sameJson(value, after) ? 'after' : sameJson(value, before) ? 'before' : 'moved';
}

function fieldNow(planned: FieldChange, found: FieldChange | undefined): Stand {
  if (found === undefined) return 'after';
  const same = sameJson(found.before, planned.before) && found.unknown === planned.unknown;
  return same && sameJson(found.after, planned.after) ? 'before' : 'moved';
}

function movedFact(change: Change, now: LiveResource): string | undefined {
  const moved = Object.entries(change.relies).find(
    ([name, value]) => !sameJson(now.facts[name] ?? null, value),
  );
  return moved === undefined ? undefined : `${moved[0]} moved since the plan was made`;
}

/** A claim that the plan does not change must still be the one that it saw. */
function movedOwner(draft: Draft, change: Change, now: LiveResource): string | undefined {
  if (change.fields.some(({ path }) => path[0] === 'claim' && path.length === 1)) return undefined;
  const [then, current] = [draft.live?.witness.claim, now.witness.claim];
  const same = then?.stack === current?.stack && then?.inherited === current?.inherited;
  return same ? undefined : 'its claim moved since the plan was made';
}
