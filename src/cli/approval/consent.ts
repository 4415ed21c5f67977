/** Whether a plan may be written: problems forbid it, guards block it until they are acknowledged, and somebody has to agree. */
import { counted } from '../../model/counted.ts';
import { blockingIds, type GuardId } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { isAcknowledgedBy, questionFor, tellBlocked, unacknowledged } from './acknowledge.ts';
import { printPlan } from '../commands/plan.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { codeOfStop } from '../stop/stop-signals.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';

export interface Consent {
  /** given beforehand, by a flag or an approval: nobody is asked */
  readonly agreed: boolean;
  /** guards that were acknowledged for this very plan */
  readonly acknowledged: readonly string[];
  /** guards that were let pass when an apply of this very approval began; undefined when nobody knows of one */
  readonly passed?: readonly string[] | undefined;
  /** what names the stack on the command line */
  readonly stack?: string | undefined;
}

/** The exit code of a plan that nobody may apply as it is; undefined when it has no problems. */
export function refuseProblems(plan: Plan, terminal: Terminal): ExitCode | undefined {
  const problems = exitCodeOf(plan.problems);
  if (problems === exitCodes.done) return undefined;
  showWhole(plan, terminal);
  printError(
    terminal,
    'plan-problems',
    'nothing was written: the plan has problems that must be solved first',
  );
  return problems;
}

/** Why nothing is going to be written; undefined when it may be. */
export async function askConsent(
  plan: Plan,
  { agreed, acknowledged, passed, stack }: Consent,
  { terminal, stop }: { readonly terminal: Terminal; readonly stop: AbortSignal },
): Promise<ExitCode | undefined> {
  if (plan.changes.length === 0 && blockingIds(plan.guards).length === 0) return undefined;
  const open =
    passed === undefined
      ? unacknowledged(plan, acknowledged, terminal)
      : sinceThen(plan, [...acknowledged, ...passed]);
  const canAsk = terminal.host.interactive && terminal.format === 'text' && !agreed;
  if (open.length > 0 && !canAsk) {
    showWhole(plan, terminal);
    return tellBlocked(plan, open, { terminal, stack });
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
    ? tellBlocked(plan, open, { terminal, stack })
    : tellUnwritten(terminal, stop);
}

/** After a no. A Ctrl-C is no answer, and ends the run as it does anywhere else. */
export function tellUnwritten({ host }: Terminal, stop: AbortSignal): ExitCode {
  host.stderr.write('nothing was written\n');
  return stop.aborted ? codeOfStop(stop, exitCodes.error) : exitCodes.error;
}

/**
 * What nobody was shown when that apply began: live may have changed since. A percentage of what is left is no news, for
 * the whole of it was weighed then.
 */
function sinceThen({ guards }: Plan, known: readonly string[]): GuardId[] {
  const isWeighed = (id: GuardId) => id === 'delete-percent' || id === 'update-percent';
  return blockingIds(guards).filter((id) => !isWeighed(id) && !known.includes(id));
}

/**
 * The guards that an apply which goes on has passed: those of this plan, and those of the applies that began before.
 * Without what nobody can acknowledge beforehand: that somebody applies a later commit meanwhile.
 */
export function passedGuards({ guards }: Plan, before: readonly string[] = []): readonly string[] {
  const isNew = (id: string) => id === 'older-commit' || id === 'commit-unknown';
  return [...new Set([...before, ...blockingIds(guards)])].filter((id) => !isNew(id)).sort();
}

interface ConsentContext {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
}

/** Whoever types the guards of the plan above has read them: that is the answer to both questions. */
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

/** As JSON the plan is the result of an apply that goes no further; as text it has been shown already. */
function showWhole(plan: Plan, terminal: Terminal): void {
  if (terminal.format === 'json') printPlan(terminal, plan);
}
