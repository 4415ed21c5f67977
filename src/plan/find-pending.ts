/** Finds what changed in the files since the last apply: manifests against the ledger, without live values. */
import { canonicalDefault, canonicalSpec } from '../compare/comparisons.ts';
import { changesBetween } from '../compare/diff.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { PendingResource } from '../model/drift.ts';
import type { FieldChange } from '../model/field.ts';
import { type Json, withValueAt } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { nameKey } from '../model/named-reference.ts';
import type { DesiredResource, Spec } from '../model/resource.ts';
import { matchesRedacted } from '../redaction/stored-values.ts';
import type { PlanContext } from './plan-context.ts';
import { flagChanges } from './recorded-flags.ts';
import { ownershipTagText } from './compare-recorded.ts';

/** Whether a declared resource is in the planned part of the stack; always true for a plan of the whole stack. */
export function isSelectedIn({ part }: PlanContext): (resource: Pick<DesiredResource, 'address'>) => boolean {
  return ({ address }) => part === undefined || part.selected.has(formatAddress(address));
}

/** @param context of the manifests */
export function findPending(context: PlanContext): PendingResource[] {
  const isSelected = isSelectedIn(context);
  const [declared, removed] = [context.desired, context.removalRequests].map((all) =>
    [...all.values()].filter(isSelected),
  );
  return [
    ...(declared ?? []).flatMap((resource) => pendingDeclared(context, resource)),
    ...(removed ?? []).flatMap((resource) => pendingRemoval(context, resource)),
    ...(context.isSelection || context.part !== undefined ? [] : dropped(context)),
  ];
}

/** The record of a declared resource, with its address in the ledger, which is the former one until a rename is applied. */
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
  const { address } = resource;
  // The drift report has these errors among its problems.
  if (context.unknownNames.has(formatAddress(address))) return [];
  const known = recordOf(context, resource);
  if (known === undefined) return [{ address, is: 'new', fields: [], place: resource.place }];
  const { name } = parseAddress(known.text);
  const fields: FieldChange[] = [
    ...(name === address.name
      ? []
      : [{ path: ['name'], before: name, after: address.name, shape: 'scalar' as const }]),
    ...pendingOwnershipTag(context, resource, known.record),
    ...flagChanges(context, address, { record: known.record, declared: resource.metadata }),
    ...pendingFields(context.kind(address.kind), resource, known.record),
  ];
  return fields.length === 0 ? [] : [{ address, is: 'changed', fields, place: resource.place }];
}

function pendingOwnershipTag(
  context: PlanContext,
  { address, metadata }: DesiredResource,
  record: LedgerRecord,
): FieldChange[] {
  const isOwnedByTag = context.kind(address.kind).ownership.by === 'claim' && !context.isLedgerOwned(address);
  if (!isOwnedByTag) return [];
  const { name } = context.stack;
  const [before, after] = [ownershipTagText(name, record), ownershipTagText(name, metadata)];
  return before === after ? [] : [{ path: ['claim'], before, after, shape: 'scalar' }];
}

function pendingFields(kind: Kind, resource: DesiredResource, record: LedgerRecord): FieldChange[] {
  const complete = (side: Spec) => ({ ...defaultsOf(kind), ...canonicalSpec(kind.fields, side) });
  const applied = complete(record.fields);
  const declared = complete(asApplied(kind, resource, record));
  return changesBetween(kind.fields, applied, declared).filter(
    ({ before, after }) => !matchesRedacted(before, after),
  );
}

/** The spec with the recorded ids of names that the record has, too: if such a name has another id now, only the service changed. */
function asApplied({ named }: Kind, { spec, names = {} }: DesiredResource, record: LedgerRecord): Spec {
  return (named?.references ?? []).reduce((into, { id: path }) => {
    const [now, known] = [names, record.names ?? {}].map((all) => all[nameKey(path)]);
    return known === undefined || known.name !== now?.name ? into : withValueAt(into, path, known.id);
  }, spec);
}

/** The values of absent fields, in a kind whose absent fields are reset to their defaults. */
function defaultsOf({ absent, fields }: Kind): Readonly<Record<string, Json>> {
  if (absent !== 'default') return {};
  const named = Object.entries(fields).filter(([, field]) => !field.local && !field.writeOnly);
  return Object.fromEntries(named.map(([name, field]) => [name, canonicalDefault(field)]));
}

function pendingRemoval(context: PlanContext, resource: DesiredResource): PendingResource[] {
  const { address, place } = resource;
  return recordOf(context, resource) === undefined ? [] : [{ address, is: 'removed', fields: [], place }];
}

/** Records that are no longer declared, without children whose parents are dropped, too. */
function dropped(context: PlanContext): PendingResource[] {
  const declared = new Set(
    [...context.desired.values(), ...context.removalRequests.values(), ...context.movesAway.values()].flatMap(
      (resource) => recordOf(context, resource)?.text ?? [],
    ),
  );
  const gone = [...context.ledger.records.keys()].filter((text) => !declared.has(text));
  return gone.flatMap((text) => {
    const address = parseAddress(text);
    if (!context.isInView(address)) return [];
    const { ownership } = context.kind(address.kind);
    const parent = ownership.by === 'child' ? formatAddress(ownership.of(address)) : undefined;
    const isWithParent = parent !== undefined && (gone.includes(parent) || context.movesAway.has(parent));
    return isWithParent ? [] : [{ address, is: 'dropped' as const, fields: [] }];
  });
}
