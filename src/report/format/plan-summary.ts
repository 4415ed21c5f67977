/**
 * The summary of a plan. Only this file may say "No changes", and only for a plan whose look was complete and that has no
 * errors.
 */
import type { Action, Change } from '../../model/plan/change.ts';
import { counted } from '../../model/counted.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Plan, TargetCoverage } from '../../model/plan/plan.ts';
import { firstFew } from '../terminal/layout.ts';
import { printable } from './printable.ts';

type PlannedAction = Exclude<Action, 'none'>;

/** In the order of the summary. */
const plannedActions: readonly PlannedAction[] = ['create', 'adopt', 'update', 'release', 'delete'];

type ActionCounts = Readonly<Record<PlannedAction, number>>;

export function countActions(changes: readonly Change[]): ActionCounts {
  const counts = { create: 0, adopt: 0, update: 0, release: 0, delete: 0 };
  for (const { action } of changes) if (action !== 'none') counts[action] += 1;
  return counts;
}

/** `2 to create, 3 to update, 1 to delete`; empty when there is nothing to do. */
export function formatCounts(counts: ActionCounts): string {
  return plannedActions
    .filter((action) => counts[action] > 0)
    .map((action) => `${counts[action]} to ${action}`)
    .join(', ');
}

/** `2 to create, 3 to update, 1 to delete, 211 unchanged`, or why the plan has no changes. */
export function summaryLine(plan: Plan): string {
  const todo = formatCounts(countActions(plan.changes));
  const unchanged = `${plan.unchanged} unchanged`;
  if (todo !== '') return `${todo}, ${unchanged}`;
  if (!plan.coverage.complete)
    return `Nothing was found to change, but the look was incomplete; ${unchanged}`;
  return hasErrors(plan.problems) ? `Nothing can be planned yet, ${unchanged}` : `No changes, ${unchanged}`;
}

/** `2 problems forbid applying`; undefined when none does. */
export function blockedLine({ problems }: Plan): string | undefined {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return undefined;
  return `${counted(errors, 'problem')} ${errors === 1 ? 'forbids' : 'forbid'} applying`;
}

/** Why the look was incomplete, as clauses; empty when it was complete. */
export function incompleteReasons({ coverage, problems }: Pick<Plan, 'coverage' | 'problems'>): string[] {
  if (coverage.complete) return [];
  const isWhole = ({ unread, incomplete }: TargetCoverage) => !unread && incomplete.length === 0;
  return [
    ...(coverage.targets.every(isWhole) ? ['not every manifest could be read'] : []),
    // The reason is among the problems already.
    ...coverage.targets.flatMap(({ target, unread, incomplete }) =>
      unread
        ? [`target "${printable(target)}" was not looked at`]
        : firstFew(incomplete).map((why) => printable(`${target}: ${why}`)),
    ),
    ...problems
      .filter(({ class: about, code }) => about === 'incomplete' && code !== 'target-unread')
      .map(({ message }) => printable(message)),
  ];
}
