/** The risks that a kind finds by comparing the whole spec before and after: of a draft, and of values that manifests take in. */
import type { FieldChange } from '../../model/kind/field.ts';
import type { Spec } from '../../model/resource/resource.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { Risk } from '../../model/plan/risk.ts';
import type { Dialect } from '../../model/stack/target.ts';
import { contentAfter } from '../../compare/canonical-spec.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';

export function withRisks(context: PlanContext, draft: Draft): Draft {
  const { action } = draft.change;
  const found = action === 'none' || action === 'release' ? [] : (draft.risks ?? []);
  const risks = [...risksOf(context, draft), ...found];
  return risks.length === 0 ? draft : { ...draft, change: { ...draft.change, risks } };
}

/** The complete content of the resource once the draft is carried out. */
export function contentOf(context: PlanContext, { change: { address, fields }, live }: Draft): Spec {
  return contentAfter(context.kind(address.kind).fields, live?.spec, fields);
}

/** What widens access if the second content is declared in place of the first. */
export function wideningBetween(
  { risk }: Pick<Kind, 'risk'>,
  [before, after]: readonly [Spec, Spec],
  dialect: Dialect,
): Risk[] {
  return (risk?.(before, after, dialect) ?? []).filter(({ effect }) => effect === 'widens');
}

/** Empty for a draft that does not change the resource itself. */
function risksOf(context: PlanContext, draft: Draft): readonly Risk[] {
  const { change, live } = draft;
  const { address, action, fields } = change;
  const { risk, fields: table, ownership } = context.kind(address.kind);
  if (risk === undefined || action === 'release' || action === 'none') return [];
  const isRemoved = action === 'delete' && ownership.by !== 'part';
  const before =
    live === undefined || action === 'create'
      ? undefined
      : withoutUnknown(contentAfter(table, live.spec, fields.map(reversed)), fields);
  const after = isRemoved ? undefined : contentOf(context, draft);
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
