/** Gets the calls of one change from its kind, and translates them to the wire names of the target. */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type Call, IdReference } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { renameMembers } from '../../model/json/rename-members.ts';
import type { Dialect } from '../../model/stack/target.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { sentFields } from '../context/recorded-flags.ts';

/** The change with its calls, and with the facts that they rely on. */
export function withCalls(
  context: PlanContext,
  draft: Draft,
  drafts: ReadonlyMap<AddressText, Draft>,
): Change {
  const { change, prepared, live, claim, remove } = draft;
  const { target, dialect } = context.target(change.address.target);
  const record = context.record(change.address);
  const fields = sentFields(change.fields);
  // What only the ledger keeps needs no call.
  if (change.action === 'update' && fields.length === 0) return change;
  const planned = context.kind(change.address.kind).calls(
    { ...change, fields },
    {
      target,
      dialect,
      stack: context.stack.name,
      ...(context.stackId === undefined ? {} : { stackId: context.stackId }),
      desired: prepared,
      ...(live === undefined ? {} : { live }),
      ...(record === undefined ? {} : { record }),
      ...(claim === undefined ? {} : { claim }),
      ...(remove === undefined ? {} : { remove }),
      idOf: (address) => idOf(context, drafts, address),
      peer: (address) => peer(context, drafts, address),
    },
  );
  const references = referencesOf(context, drafts, change.address);
  const relied = (planned.preconditions ?? []).map((name) => [name, live?.facts[name] ?? null] as const);
  return {
    ...change,
    notes: [...change.notes, ...(planned.notes ?? [])],
    calls: planned.calls.map((call) => inWireNames(call, dialect)),
    ...(planned.sharedCall === undefined ? {} : { sharedCall: planned.sharedCall }),
    preconditions: Object.fromEntries(relied),
    ...(Object.keys(references).length === 0 ? {} : { references }),
  };
}

/** What the ids of the resources are that a manifest names, but for the parent of a part. */
function referencesOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  address: Address,
): NonNullable<Change['references']> {
  const resource = context.desired.get(formatAddress(address));
  const { ownership, references } = context.kind(address.kind);
  const parent = ownership.by === 'part' ? formatAddress(ownership.of(address)) : undefined;
  const named = resource === undefined ? [] : (references?.(resource) ?? []);
  return Object.fromEntries(
    named.flatMap(({ to }) => {
      const id = formatAddress(to) === parent ? undefined : idOf(context, drafts, to);
      return id === undefined ? [] : [[formatAddress(to), typeof id === 'string' ? id : id.$id] as const];
    }),
  );
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
