/** Decides whether a plan may be applied: it has no problems, its blocking guards are acknowledged, and somebody has agreed. */
import { blockingIds, type GuardId, guardIds } from '../model/guard.ts';
import { nearestWord } from '../model/nearest-word.ts';
import type { Plan } from '../model/plan.ts';
import { counted, quoted } from '../model/quoted.ts';
import { acknowledgement } from '../report/view/plan-summary.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { PlanFileRefusal } from './plan-file.ts';
import { printPlan } from './print-plan.ts';
import { exitCodeOfStop } from './stop-signals.ts';
import { printError, printNote, type Terminal } from './terminal.ts';

interface Consent {
  /** by a flag or an approval: nobody is asked */
  readonly agreed: boolean;
  /** guards that were acknowledged for this plan */
  readonly acknowledged: readonly string[];
  /** guards that were passed when an earlier apply of the same approval began; undefined when there was none */
  readonly passed?: readonly string[] | undefined;
  /** the stack's argument on the command line */
  readonly stack?: string | undefined;
}

/** The exit code for a plan with problems, which cannot be applied; undefined when it has none. */
export function refuseProblems(plan: Plan, terminal: Terminal): ExitCode | undefined {
  const problems = exitCodeOf(plan.problems);
  if (problems === exitCodes.done) return undefined;
  showFullPlan(plan, terminal);
  printError(
    terminal,
    'plan-problems',
    'nothing was written: the plan has problems that must be solved first',
  );
  return problems;
}

/** @returns an exit code when the plan must not be applied, with the reason printed; undefined when it may */
export async function askConsent(
  plan: Plan,
  { agreed, acknowledged, passed, stack }: Consent,
  { terminal, stop }: { readonly terminal: Terminal; readonly stop: AbortSignal },
): Promise<ExitCode | undefined> {
  if (plan.changes.length === 0 && blockingIds(plan.guards).length === 0) return undefined;
  const open =
    passed === undefined
      ? unacknowledged(plan, acknowledged, terminal)
      : newGuards(plan, [...acknowledged, ...passed]);
  const canAsk = terminal.host.interactive && terminal.format === 'text' && !agreed;
  if (open.length > 0 && !canAsk) {
    showFullPlan(plan, terminal);
    return reportBlocked(plan, open, { terminal, stack });
  }
  if (agreed) return undefined;
  if (!canAsk) {
    printError(
      terminal,
      'nobody-to-ask',
      'nothing was written: apply asks before it writes; where nobody can answer, pass --yes, --approve or a plan file',
    );
    return exitCodes.error;
  }
  const isAgreed =
    open.length > 0 ? await askIds(plan, open, { terminal, stop }) : await askYes(plan, { terminal, stop });
  if (isAgreed) return undefined;
  return open.length > 0 && !stop.aborted
    ? reportBlocked(plan, open, { terminal, stack })
    : reportNotWritten(terminal, stop);
}

/** Reports that nothing was written, after a "no" or a Ctrl-C. A Ctrl-C gives the exit code of an interrupted run. */
export function reportNotWritten({ host }: Terminal, stop: AbortSignal): ExitCode {
  host.stderr.write('nothing was written\n');
  return stop.aborted ? exitCodeOfStop(stop, exitCodes.error) : exitCodes.error;
}

/**
 * Guards that did not block when the earlier apply began, because live has changed since. Guards on percentages are left out: the
 * percentage of the whole plan was checked then.
 */
function newGuards({ guards }: Plan, known: readonly string[]): GuardId[] {
  const isPercentage = (id: GuardId) => id === 'delete-percent' || id === 'update-percent';
  return blockingIds(guards).filter((id) => !isPercentage(id) && !known.includes(id));
}

/**
 * The guards that this apply has passed, together with those that earlier applies of the same approval passed. Guards about
 * commits are left out: a later commit may be applied in between, which nobody can acknowledge beforehand.
 */
export function passedGuards({ guards }: Plan, before: readonly string[] = []): readonly string[] {
  const aboutCommits: readonly string[] = ['older-commit', 'diverged-commit', 'commit-unknown'];
  return [...new Set([...before, ...blockingIds(guards)])].filter((id) => !aboutCommits.includes(id)).sort();
}

interface ConsentContext {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
}

/** To type the ids of the guards is an acknowledgement and a "yes" at the same time. */
async function askIds(
  plan: Plan,
  open: readonly GuardId[],
  { terminal, stop }: ConsentContext,
): Promise<boolean> {
  return isAcknowledgedBy(open, await terminal.host.ask(questionFor(plan, open), stop));
}

function askYes({ changes }: Plan, { terminal, stop }: ConsentContext): Promise<boolean> {
  const what = changes.length === 1 ? 'this change' : `these ${counted(changes.length, 'change')}`;
  return terminal.host.confirm(`Apply ${what}?`, stop);
}

/** In JSON the plan is the result of an apply that stops here; as text it has been printed already. */
function showFullPlan(plan: Plan, terminal: Terminal): void {
  if (terminal.format === 'json') printPlan(terminal, plan);
}

// Acknowledgements of guards that block a plan (rule 33). Each is for one digest only: it is given by `--ack` together with
// `--approve` or a plan file, or typed on a terminal below the plan.

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
function unacknowledged(plan: Plan, ids: readonly string[], terminal: Terminal): GuardId[] {
  const fired = new Set<string>(plan.guards.map(({ id }) => id));
  const notTripped = ids.filter((id) => !fired.has(id));
  if (notTripped.length > 0)
    printNote(terminal, `note: this plan does not trip ${notTripped.join(', ')}: nothing to acknowledge`);
  return blockingIds(plan.guards).filter((id) => !ids.includes(id));
}

/** Reports the guards that block, and the command that acknowledges them. @param stack the stack's argument on the command line */
function reportBlocked(
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
function questionFor(plan: Plan, open: readonly GuardId[]): string {
  const count = plan.changes.length;
  const purpose = count === 0 ? 'To go on' : `To apply ${counted(count, 'change')}`;
  const which = open.length === 1 ? 'the guard that blocks' : 'the guards that block';
  return `${purpose}, type ${which}: ${open.join(', ')}`;
}

function isAcknowledgedBy(open: readonly GuardId[], answer: string | undefined): boolean {
  const typed = readIds(answer);
  return open.every((id) => typed.includes(id));
}
