/**
 * Dangling references: the name is neither declared nor live, or the same plan deletes it, or its id is needed and could not
 * be read (rules 5, 39).
 */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { missingReference } from '../context/missing-reference.ts';

export function findDanglingReferences(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): Diagnostic[] {
  const problems: Diagnostic[] = [];
  for (const [text, resource] of context.desired) {
    const draft = drafts.get(text);
    if (draft === undefined) continue;
    for (const { to, path } of context.kind(resource.address.kind).references?.(resource) ?? []) {
      const problem = dangling(context, drafts.get(formatAddress(to)), { from: draft.change, to });
      if (problem === undefined) continue;
      const place = resource.placeOf(path);
      problems.push({ code: 'unknown-reference', severity: 'error', place, ...problem });
    }
  }
  return problems;
}

function dangling(
  context: PlanContext,
  draft: Draft | undefined,
  { from, to }: { readonly from: Change; readonly to: Address },
): Pick<Diagnostic, 'class' | 'message' | 'fix'> | undefined {
  const refers = `${quoted(formatAddress(from.address))} refers to ${quoted(formatAddress(to))}`;
  if (draft?.change.action === 'delete') {
    return {
      class: 'invalid',
      message: `${refers}, which this plan deletes`,
      fix: 'remove the reference, or keep what it refers to',
    };
  }
  if (context.live.has(formatAddress(to))) return undefined;
  if (!context.desired.has(formatAddress(to))) return missingReference(context, to, refers);
  // A declared resource that is not live will be created, unless it could not be read.
  const blind = from.action === 'none' ? undefined : context.unseen(to);
  if (blind === undefined) return undefined;
  return {
    class: 'incomplete',
    message: `${refers}, and nobody can tell which one that is: ${blind}`,
    fix: `make it possible to read ${quoted(formatAddress(to))}, then plan again`,
  };
}
