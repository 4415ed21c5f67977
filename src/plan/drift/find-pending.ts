/** Finds what the files ask for since the last apply: manifests against the ledger. No live value has a part in it. */
import { canonicalDefault, canonicalSpec } from '../../compare/canonical-spec.ts';
import { changesBetween } from '../../compare/changes-between.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Json } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { PendingResource } from '../../model/plan/drift.ts';
import { type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { DesiredResource, Spec } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { flagChanges } from '../context/recorded-flags.ts';
import { ownershipTagText } from './recorded-context.ts';

/** @param context of the manifests */
export function findPending(context: PlanContext): PendingResource[] {
  return [
    ...[...context.desired.values()].flatMap((resource) => pendingDeclared(context, resource)),
    ...[...context.tombstones.values()].flatMap((resource) => pendingRemoval(context, resource)),
    ...(context.isSelection ? [] : dropped(context)),
  ];
}

/** The record of a declared resource, by its address in the ledger: the former one, if it is to be renamed. */
export function recordOf(
  context: PlanContext,
  { address, metadata }: DesiredResource,
): { readonly text: AddressText; readonly record: LedgerRecord } | undefined {
  const { renamedFrom } = metadata;
  const former = renamedFrom === undefined ? [] : [formatAddress({ ...address, name: renamedFrom })];
  for (const text of [formatAddress(address), context.recordedAt(address), ...former]) {
    const record = text === undefined ? undefined : context.ledger.records.get(text);
    if (text !== undefined && record !== undefined) return { text, record };
  }
  return undefined;
}

function pendingDeclared(context: PlanContext, resource: DesiredResource): PendingResource[] {
  const { address, place } = resource;
  const known = recordOf(context, resource);
  if (known === undefined) return [{ address, is: 'new', fields: [], place }];
  const { name } = parseAddress(known.text);
  const fields: FieldChange[] = [
    ...(name === address.name
      ? []
      : [{ path: ['name'], before: name, after: address.name, shape: 'scalar' as const }]),
    ...pendingOwnershipTag(context, resource, known.record),
    ...flagChanges(context, address, { record: known.record, declared: resource.metadata }),
    ...pendingFields(context.kind(address.kind), resource, known.record),
  ];
  return fields.length === 0 ? [] : [{ address, is: 'changed', fields, place }];
}

function pendingOwnershipTag(
  context: PlanContext,
  { address, metadata }: DesiredResource,
  record: LedgerRecord,
): FieldChange[] {
  const isClaimed = context.kind(address.kind).ownership.by === 'claim' && !context.isLedgerOwned(address);
  if (!isClaimed) return [];
  const { name } = context.stack;
  const [before, after] = [ownershipTagText(name, record), ownershipTagText(name, metadata)];
  return before === after ? [] : [{ path: ['claim'], before, after, shape: 'scalar' }];
}

function pendingFields(kind: Kind, { spec }: DesiredResource, { fields }: LedgerRecord): FieldChange[] {
  const whole = (side: Spec) => ({ ...defaultsOf(kind), ...canonicalSpec(kind.fields, side) });
  return changesBetween(kind.fields, whole(fields), whole(spec));
}

/** What an absent field means in a kind that is owned whole (rule 16). */
function defaultsOf({ absent, fields }: Kind): Readonly<Record<string, Json>> {
  if (absent !== 'default') return {};
  const named = Object.entries(fields).filter(([, field]) => !field.local && !field.writeOnly);
  return Object.fromEntries(named.map(([name, field]) => [name, canonicalDefault(field)]));
}

function pendingRemoval(context: PlanContext, resource: DesiredResource): PendingResource[] {
  const { address, place } = resource;
  return recordOf(context, resource) === undefined ? [] : [{ address, is: 'removed', fields: [], place }];
}

/** Parts of a whole that is dropped, too, go with it. */
function dropped(context: PlanContext): PendingResource[] {
  const declared = new Set(
    [...context.desired.values(), ...context.tombstones.values()].flatMap(
      (resource) => recordOf(context, resource)?.text ?? [],
    ),
  );
  const gone = [...context.ledger.records.keys()].filter((text) => !declared.has(text));
  return gone.flatMap((text) => {
    const address = parseAddress(text);
    if (!context.isInView(address)) return [];
    const { ownership } = context.kind(address.kind);
    const isWithWhole = ownership.by === 'part' && gone.includes(formatAddress(ownership.of(address)));
    return isWithWhole ? [] : [{ address, is: 'dropped' as const, fields: [] }];
  });
}
