/** Gets the calls of one change from its kind, and translates them to the wire names of the target. */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type Call, IdReference } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { renameMembers } from '../../model/json/rename-members.ts';
import type { Dialect } from '../../model/stack/target.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** The change with its calls, and with the facts that they rely on. */
export function withCalls(
  context: PlanContext,
  draft: Draft,
  drafts: ReadonlyMap<AddressText, Draft>,
): Change {
  const { change, prepared, live, claim, remove } = draft;
  const { target, dialect } = context.target(change.address.target);
  const record = context.record(change.address);
  const planned = context.kind(change.address.kind).calls(change, {
    target,
    dialect,
    stack: context.stack.name,
    desired: prepared,
    ...(live === undefined ? {} : { live }),
    ...(record === undefined ? {} : { record }),
    ...(claim === undefined ? {} : { claim }),
    ...(remove === undefined ? {} : { remove }),
    idOf: (address) => idOf(context, drafts, address),
    peer: (address) => peer(context, drafts, address),
  });
  const relied = (planned.preconditions ?? []).map((name) => [name, live?.facts[name] ?? null] as const);
  return {
    ...change,
    notes: [...change.notes, ...(planned.notes ?? [])],
    calls: planned.calls.map((call) => inWireNames(call, dialect)),
    ...(planned.sharedCall === undefined ? {} : { sharedCall: planned.sharedCall }),
    preconditions: Object.fromEntries(relied),
  };
}

function idOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  address: Address,
): string | IdReference | undefined {
  const text = formatAddress(address);
  const live = context.live.get(text);
  if (live !== undefined) return live.id;
  return drafts.get(text)?.change.action === 'create' ? new IdReference(text) : undefined;
}

function peer(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>, address: Address) {
  const text = formatAddress(address);
  const draft = drafts.get(text);
  const live = context.live.get(text);
  return {
    action: draft?.change.action ?? ('none' as const),
    fields: draft?.change.fields ?? [],
    ...(draft === undefined ? {} : { desired: draft.prepared }),
    ...(live === undefined ? {} : { live }),
  };
}

function inWireNames(call: Call, dialect: Dialect): Call {
  return call.body === undefined ? call : { ...call, body: renameMembers(call.body, dialect.rename) };
}
