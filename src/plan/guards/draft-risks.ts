/** Adds to a draft the risks that its kind finds, by comparing the whole spec before and after. */
import type { FieldChange } from '../../model/kind/field.ts';
import type { Spec } from '../../model/resource/resource.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { contentAfter } from '../../compare/canonical-spec.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';

export function withRisks(context: PlanContext, draft: Draft): Draft {
  const { action } = draft.change;
  const found = action === 'none' || action === 'release' ? [] : (draft.risks ?? []);
  const risks = [...risksOf(context, draft), ...found];
  return risks.length === 0 ? draft : { ...draft, change: { ...draft.change, risks } };
}

/** Empty for a draft that does not change the resource itself. */
function risksOf(context: PlanContext, { change, live }: Draft): readonly Risk[] {
  const { address, action, fields } = change;
  const { risk, fields: table, ownership } = context.kind(address.kind);
  if (risk === undefined || action === 'release' || action === 'none') return [];
  const isRemoved = action === 'delete' && ownership.by !== 'part';
  const before =
    live === undefined || action === 'create'
      ? undefined
      : withoutUnknown(contentAfter(table, live.spec, fields.map(reversed)), fields);
  const after = isRemoved ? undefined : contentAfter(table, live?.spec, fields);
  return risk(before, after, context.target(address.target).dialect);
}

/**
 * The reversed change. It restores the values before as the plan shows them, because the live spec may have them under other
 * field names.
 */
function reversed({ path, before, shape }: FieldChange): FieldChange {
  return { path, shape, ...(before === undefined ? {} : { after: before }) };
}

function withoutUnknown(content: Spec, changes: readonly FieldChange[]): Spec {
  const unknown = new Set(changes.flatMap((change) => (change.unknown === undefined ? [] : change.path[0])));
  return Object.fromEntries(Object.entries(content).filter(([name]) => !unknown.has(name)));
}
