/**
 * The summary of a plan. Only this file may say "No changes", and only for a plan whose look was complete and that has no
 * problems.
 */
import type { Action, Change } from '../../model/plan/change.ts';
import { counted } from '../../model/counted.ts';
import { hasErrors, type ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Plan, TargetCoverage } from '../../model/plan/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { firstFew } from './clip.ts';
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

/**
 * `2 to create, 3 to update, 1 to delete, 211 unchanged, 1 warning`, or why the plan has no changes.
 * @param told problems that are no part of the plan, such as what the lint found in manifests
 */
export function summaryLine(plan: Plan, told: readonly ShownDiagnostic[] = []): string {
  const todo = formatCounts(countActions(plan.changes));
  const warnings = [...plan.problems, ...told].filter(
    ({ severity, code }) => severity === 'warning' && code !== 'note',
  ).length;
  const unchanged = `${plan.unchanged} unchanged${warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`}`;
  if (todo !== '') return `${todo}, ${unchanged}`;
  if (!plan.coverage.complete)
    return `Nothing was found to change, but the look was incomplete; ${unchanged}`;
  if (hasErrors(plan.problems)) return `Nothing can be planned yet, ${unchanged}`;
  return plan.problems.length === 0
    ? `No changes, ${unchanged}`
    : `Nothing to change, ${plan.unchanged} unchanged, and ${counted(warnings, 'warning')} above`;
}

/** How much of each target changes; empty for a plan of one target. A target that could not be read has no count. */
export function targetCounts({
  targets,
  changes,
  coverage,
}: Plan): { readonly target: string; readonly counts: string }[] {
  if (targets.length < 2) return [];
  const unread = new Set(coverage.targets.flatMap(({ target, unread }) => (unread ? [target] : [])));
  return targets.map(({ name }) => {
    const some = changes.filter(({ address }) => address.target === name);
    const counts = formatCounts(countActions(some));
    return { target: name, counts: unread.has(name) ? 'not checked' : counts || 'no changes' };
  });
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
        ? [`target ${quoted(printable(target))} was not looked at`]
        : firstFew(incomplete).map((why) => printable(`${target}: ${why}`)),
    ),
    ...problems
      .filter(({ class: about, code }) => about === 'incomplete' && code !== 'target-unread')
      .map(({ message }) => printable(message)),
  ];
}
