/**
 * Finds fields of our resources that no manifest mentions and that somebody changed since the last apply: live against what the
 * ledger has seen (rule 49). A plan does nothing about them.
 */
import { canonicalDefault, canonicalSpec } from '../../compare/canonical-spec.ts';
import { changesBetween } from '../../compare/changes-between.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Json } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { DriftedResource, Unmanaged, UnmanagedResource } from '../../model/plan/drift.ts';
import { formatAddress } from '../../model/resource/address.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { DesiredResource, LiveResource, Spec } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { seenValues, undeclaredIn } from '../draft/seen-values.ts';

/**
 * @param context with the ledger in the place of the manifests
 * @param looked the records to look at
 * @param drifted what counts as drift already, such as an undeclared field that conflicts with a declared one
 */
export function findUnmanaged(
  context: PlanContext,
  looked: readonly DesiredResource[],
  drifted: readonly DriftedResource[],
): Unmanaged {
  const known = new Map(drifted.map(({ address, fields }) => [formatAddress(address), fields] as const));
  const found = looked.flatMap(({ address }): (UnmanagedResource | 'unseen')[] => {
    const kind = context.kind(address.kind);
    const record = context.record(address);
    const live = context.live.get(formatAddress(address));
    if (record === undefined || live === undefined || !hasUndeclared(kind)) return [];
    if (record.id !== undefined && live.id !== undefined && record.id !== live.id) return [];
    const changed = changedFields(kind, record, live);
    if (changed === undefined) return ['unseen'];
    const shown = known.get(formatAddress(address)) ?? [];
    const fields = changed.filter(({ path }) => !shown.some((one) => one.path[0] === path[0]));
    return fields.length === 0
      ? []
      : [{ address, ...(live.id === undefined ? {} : { id: live.id }), fields }];
  });
  return {
    resources: found.filter((one) => one !== 'unseen'),
    unseen: found.filter((one) => one === 'unseen').length,
  };
}

/** Kinds that are owned whole have no field that nobody declares. */
function hasUndeclared({ absent, ownership }: Kind): boolean {
  return absent === 'unmanaged' && ownership.by !== 'part';
}

/** Undefined where the ledger has seen nothing: a record of an older version, or made without a look. */
function changedFields(kind: Kind, record: LedgerRecord, live: LiveResource): FieldChange[] | undefined {
  const declared = canonicalSpec(kind.fields, record.fields);
  const before = seenIn(kind, record, declared);
  if (before === undefined) return undefined;
  const now =
    record.content === undefined || record.seen !== undefined
      ? seenValues(kind, live, { declared, changes: [] })
      : undeclaredIn(kind.fields, canonicalSpec(kind.fields, live.spec), declared);
  const defaults = defaultsOf(kind, [before, now]);
  return changesBetween(kind.fields, { ...defaults, ...before }, { ...defaults, ...now });
}

/** What the ledger has seen: without it, a record of the whole content holds it already. */
function seenIn({ fields }: Kind, { content, seen }: LedgerRecord, declared: Spec): Spec | undefined {
  return seen !== undefined || content === undefined
    ? seen
    : undeclaredIn(fields, canonicalSpec(fields, content), declared);
}

/** Of the fields that one side lacks because they have their default there. */
function defaultsOf({ fields }: Kind, sides: readonly Spec[]): Readonly<Record<string, Json>> {
  const named = Object.entries(fields).filter(
    ([name, field]) => field.default !== undefined && sides.some((side) => side[name] !== undefined),
  );
  return Object.fromEntries(named.map(([name, field]) => [name, canonicalDefault(field)]));
}
