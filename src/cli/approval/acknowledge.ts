/**
 * Acknowledgements of guards that block a plan (rule 33). Each is for one digest only: it is given by `--ack` together with
 * `--approve` or a plan file, or typed on a terminal below the plan.
 */
import { nearestWord } from '../../manifest/explain/nearest-word.ts';
import { counted } from '../../model/counted.ts';
import { blockingIds, type GuardId, guardIds } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { acknowledgement } from '../../report/format/plan-risks.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { PlanFileRefusal } from './plan-file.ts';
import { printError, printNote, type Terminal } from '../terminal/terminal.ts';

/** Ids from the command line, separated by commas or spaces. */
export function readIds(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(/[\s,]+/).filter((id) => id !== ''))];
}

/** Errors in acknowledgements that do not depend on the plan; undefined when there are none. */
export function refuseIds(ids: readonly string[], isApproved: boolean): PlanFileRefusal | undefined {
  const unknown = ids.find((id) => !guardIds.includes(id));
  if (unknown !== undefined) {
    const near = nearestWord(unknown, guardIds);
    const hint = near === undefined ? `there are ${guardIds.join(', ')}` : `did you mean ${quoted(near)}?`;
    return {
      code: 'unknown-guard',
      exit: exitCodes.error,
      message: `there is no guard ${quoted(unknown)} to acknowledge: ${hint}`,
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

/** The blocking guards that are not acknowledged. Prints a note about acknowledged guards that this plan does not trip. */
export function unacknowledged(plan: Plan, ids: readonly string[], terminal: Terminal): GuardId[] {
  const fired = new Set<string>(plan.guards.map(({ id }) => id));
  const notTripped = ids.filter((id) => !fired.has(id));
  if (notTripped.length > 0)
    printNote(terminal, `note: this plan does not trip ${notTripped.join(', ')}: nothing to acknowledge`);
  return blockingIds(plan.guards).filter((id) => !ids.includes(id));
}

/** Reports the guards that block, and the command that acknowledges them. @param stack the stack's argument on the command line */
export function reportBlocked(
  plan: Plan,
  open: readonly GuardId[],
  { terminal, stack }: { readonly terminal: Terminal; readonly stack?: string | undefined },
): ExitCode {
  const command = acknowledgement(plan, stack) ?? '';
  const [guards, them] = [counted(open.length, 'guard'), open.length === 1 ? 'it' : 'them'];
  const verb = open.length === 1 ? 'blocks' : 'block';
  printError(
    terminal,
    'guards-block',
    `nothing was written: ${guards} ${verb} this plan: ${open.join(', ')}; read it, and acknowledge ${them} with ${quoted(command)}`,
  );
  return exitCodes.blocked;
}

/** The question below the plan on a terminal. */
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
