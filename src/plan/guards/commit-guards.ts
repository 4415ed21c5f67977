/** Guards about the commit that the manifests come from, for a plan as a whole: would it take a later one back? (rule 43) */
import { type CommitOrder, shortCommit } from '../../model/stack/commit-order.ts';
import type { CountedGuard } from './count-guards.ts';

/** @param changes how many the plan has: one without any takes nothing back */
export function commitGuards(order: CommitOrder | undefined, changes: number): CountedGuard[] {
  if (order === undefined || changes === 0) return [];
  const whole = { counted: changes, concerns: [] };
  if (order.is === 'unknown') {
    const message = `nobody can tell whether commit ${shortCommit(order.applied)}, which was applied last, is later than these manifests: ${order.why}`;
    return [{ id: 'commit-unknown', message, ...whole }];
  }
  if (order.is !== 'behind' || !order.differs) return [];
  const message = `somebody applied commit ${shortCommit(order.applied)} already, which is later than ${shortCommit(order.ours)}: this plan would take it back`;
  return [{ id: 'older-commit', message, ...whole }];
}
