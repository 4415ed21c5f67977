/** The coverage of a plan: what it has read, and what it could not read. */
import type { Change } from '../model/change.ts';
import type { Coverage } from '../model/plan.ts';
import { readOnlyNote, readOnlyTargets } from './permission-check.ts';
import type { PlanContext, PlanContextInput } from './plan-context.ts';
import { ledgerNotes } from './take-over-stack.ts';

export function coverageOf(
  input: PlanContextInput & { readonly files: number; readonly documents: number },
  context: PlanContext,
  changes: readonly Change[],
): Coverage {
  const changed = new Set(changes.map(({ address }) => address.target));
  const targets = input.targets.map(({ target, sets, requests, unread, skipped }) => {
    const all = [...sets];
    return {
      target: target.name,
      ...(unread === undefined ? {} : { unread: true as const }),
      ...(skipped && { skipped }),
      requests,
      read: all.map(([kind, { resources, total }]) => ({
        kind,
        count: resources.length,
        ...(total === undefined ? {} : { total }),
      })),
      limits: [...new Set(all.flatMap(([, set]) => set.limits ?? []))],
      incomplete: [...new Set(all.flatMap(([, set]) => set.incomplete))],
      invisible: [...new Set(all.flatMap(([kind, set]) => set.invisible.map((field) => `${kind}.${field}`)))],
      notes: [
        ...new Set(all.flatMap(([, set]) => set.notes)),
        ...(changed.has(target.name) && readOnlyTargets(context).has(target.name) ? [readOnlyNote] : []),
      ],
    };
  });
  return {
    complete:
      input.manifestsComplete &&
      targets.every(({ unread, incomplete }) => unread === undefined && incomplete.length === 0),
    files: input.files,
    documents: input.documents,
    ledger: input.ledger.known ? 'found' : 'none',
    ledgerNotes: ledgerNotes(context),
    targets,
  };
}
