/** What one draft opens or closes, by its kind's own words: the whole spec as it is against the whole spec as it will be. */
import type { FieldChange } from '../../model/kind/field.ts';
import type { Spec } from '../../model/resource/resource.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { contentAfter } from '../../compare/canonical-spec.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';

export function withRisks(context: PlanContext, draft: Draft): Draft {
  const risks = risksOf(context, draft);
  return risks.length === 0 ? draft : { ...draft, change: { ...draft.change, risks } };
}

/** Empty for what changes nothing of the resource itself. */
function risksOf(context: PlanContext, { change, live }: Draft): readonly Risk[] {
  const { address, action, fields } = change;
  const { risk, fields: table, ownership } = context.kind(address.kind);
  if (risk === undefined || action === 'release' || action === 'none') return [];
  const goes = action === 'delete' && ownership.by !== 'part';
  const before =
    live === undefined || action === 'create'
      ? undefined
      : withoutUnknown(contentAfter(table, live.spec, fields.map(undone)), fields);
  return risk(before, goes ? undefined : contentAfter(table, live?.spec, fields));
}

/**
 * The change the other way round: what the plan shows as the value before, which may stand under other names than the
 * service answers it.
 */
function undone({ path, before, shape }: FieldChange): FieldChange {
  return { path, shape, ...(before === undefined ? {} : { after: before }) };
}

function withoutUnknown(content: Spec, changes: readonly FieldChange[]): Spec {
  const unknown = new Set(changes.flatMap((change) => (change.unknown === undefined ? [] : change.path[0])));
  return Object.fromEntries(Object.entries(content).filter(([name]) => !unknown.has(name)));
}
