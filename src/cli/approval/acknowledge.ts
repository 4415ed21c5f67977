/**
 * Acknowledgements: what lets the blocking guards of a plan pass (rule 33). One is given for one digest only, by
 * `--ack` beside `--approve` or a plan file, or typed on a terminal below the very plan that it is about.
 */
import { nearestWord } from '../../manifest/explain/nearest-word.ts';
import { counted } from '../../model/counted.ts';
import { blockingIds, type GuardId, guardIds } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { acknowledgement } from '../../report/terminal/guard-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { PlanFileRefusal } from './plan-file.ts';
import { printError, printNote, type Terminal } from '../terminal/terminal.ts';

/** Ids from the command line: parted by commas or spaces, empty when there are none. */
export function readIds(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(/[\s,]+/).filter((id) => id !== ''))];
}

/** What is wrong with acknowledgements whatever the plan will be; undefined when nothing is. */
export function refuseIds(ids: readonly string[], isApproved: boolean): PlanFileRefusal | undefined {
  const unknown = ids.find((id) => !guardIds.includes(id));
  if (unknown !== undefined) {
    const near = nearestWord(unknown, guardIds);
    const hint = near === undefined ? `there are ${guardIds.join(', ')}` : `did you mean "${near}"?`;
    return {
      code: 'unknown-guard',
      exit: exitCodes.error,
      message: `there is no guard "${unknown}" to acknowledge: ${hint}`,
    };
  }
  if (ids.length === 0 || isApproved) return undefined;
  return {
    code: 'ack-without-plan',
    exit: exitCodes.error,
    message:
      '--ack is for one plan only: give its digest with --approve, or its plan file, as "trueup plan" shows them',
  };
}

/** The guards of the plan that nobody has acknowledged; those that were acknowledged for nothing are noted. */
export function unacknowledged(plan: Plan, ids: readonly string[], terminal: Terminal): GuardId[] {
  const fired = new Set<string>(plan.guards.map(({ id }) => id));
  const idle = ids.filter((id) => !fired.has(id));
  if (idle.length > 0)
    printNote(terminal, `note: this plan does not trip ${idle.join(', ')}: nothing to acknowledge`);
  return blockingIds(plan.guards).filter((id) => !ids.includes(id));
}

/** Tells what blocks, and how somebody who has read the plan lets it pass. @param stack what names it on the command line */
export function tellBlocked(
  plan: Plan,
  open: readonly GuardId[],
  { terminal, stack }: { readonly terminal: Terminal; readonly stack?: string | undefined },
): ExitCode {
  const way = acknowledgement(plan, stack) ?? '';
  const [guards, them] = [counted(open.length, 'guard'), open.length === 1 ? 'it' : 'them'];
  const verb = open.length === 1 ? 'blocks' : 'block';
  printError(
    terminal,
    'guards-block',
    `nothing was written: ${guards} ${verb} this plan: ${open.join(', ')}; who has read it lets ${them} pass with "${way}"`,
  );
  return exitCodes.blocked;
}

/** What to type on a terminal, for the question below the plan. */
export function questionFor(plan: Plan, open: readonly GuardId[]): string {
  const count = plan.changes.length;
  const purpose = count === 0 ? 'To go on' : `To apply ${counted(count, 'change')}`;
  const which = open.length === 1 ? 'the guard that blocks' : 'the guards that block';
  return `${purpose}, type ${which}: ${open.join(', ')}`;
}

export function isAcknowledgedBy(open: readonly GuardId[], answer: string | undefined): boolean {
  const typed = readIds(answer);
  return open.every((id) => typed.includes(id));
}
