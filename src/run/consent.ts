/** Decides whether a plan may be applied: it has no problems, its blocking guards are acknowledged, and the user has agreed. */
import { idOfKey, isShownIn, policyKeys } from '../approvals/guard-keys.ts';
import {
  acknowledgeableIds,
  blockingIds,
  deniedIds,
  type GuardId,
  guardIds,
  isGuardId,
  openIds,
  policyOf,
} from '../model/guard.ts';
import { nearestWord } from '../model/nearest-word.ts';
import type { Plan } from '../model/plan.ts';
import { counted, quoted } from '../model/quoted.ts';
import { acknowledgement } from '../report/view/plan-summary.ts';
import { CommandStop } from './command-stop.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { printPlan } from './print-plan.ts';
import { exitCodeOfStop } from './stop-signals.ts';
import { printNote, type Terminal } from './terminal.ts';

/** A plan file and the command that applies it, as the user typed both. */
export interface CommandOfFile {
  readonly plan: Plan;
  readonly command: string;
}

interface Consent {
  /** by a flag or an approval: no question is asked */
  readonly agreed: boolean;
  /** guards that were acknowledged for this plan */
  readonly acknowledged: readonly string[];
  /** all that the user acknowledged, for this plan or not */
  readonly named: readonly string[];
  /** guards, and keys of policies, that were passed when an earlier apply of the same approval began; undefined for the first apply */
  readonly passed?: readonly string[] | undefined;
  /** the stack's argument on the command line */
  readonly stack?: string | undefined;
  /** the plan file, and the command that applies it */
  readonly ofFile?: CommandOfFile | undefined;
}

/** @throws CommandStop for a plan with problems, which cannot be applied */
export function refuseProblems(plan: Plan, terminal: Terminal): void {
  const exit = exitCodeOf(plan.problems);
  if (exit === exitCodes.done) return;
  showFullPlan(plan, terminal);
  throw new CommandStop(
    'plan-problems',
    'nothing was written: the plan has problems that must be solved first',
    { exit },
  );
}

/** Asks whether to apply the plan, unless a flag agrees. @throws CommandStop when it must not be applied */
export async function askConsent(
  plan: Plan,
  { agreed, acknowledged, named, passed, stack, ofFile }: Consent,
  { terminal, stop }: { readonly terminal: Terminal; readonly stop: AbortSignal },
): Promise<void> {
  if (plan.changes.length === 0 && blockingIds(plan.guards).length === 0) return;
  const denied = deniedIds(plan.guards);
  if (denied.length > 0) {
    showFullPlan(plan, terminal);
    throw deniedBy(denied);
  }
  const open =
    passed === undefined
      ? unacknowledged(plan, { acknowledged, named }, terminal)
      : newGuards(plan, acknowledged, passed);
  const canAsk = terminal.host.interactive && terminal.format === 'text' && !agreed;
  if (open.length > 0 && !canAsk) {
    showFullPlan(plan, terminal);
    throw blocked(plan, open, { stack, ofFile });
  }
  if (agreed) return;
  if (!canAsk)
    throw new CommandStop(
      'nobody-to-ask',
      'nothing was written: apply asks before it writes; where nobody can answer, pass --yes, --approve or a plan file',
    );
  const isAgreed =
    open.length > 0
      ? isAcknowledgedBy(open, await terminal.host.ask(questionFor(plan, open), stop))
      : await terminal.host.confirm(`Apply ${whatOf(plan)}?`, stop);
  if (isAgreed) return;
  throw open.length > 0 && !stop.aborted
    ? blocked(plan, open, { stack, ofFile })
    : notWritten(terminal, stop);
}

/** Prints that nothing was written, after a "no" or a Ctrl-C. A Ctrl-C gives the exit code of an interrupted run. */
export function notWritten({ host }: Terminal, stop: AbortSignal): CommandStop {
  host.stderr.write('nothing was written\n');
  return CommandStop.reported(stop.aborted ? exitCodeOfStop(stop) : exitCodes.error);
}

/**
 * Guards that did not block when the earlier apply began, but block now, because live has changed. Guards on percentages are left out:
 * the earlier apply checked the percentage of the whole plan.
 */
function newGuards({ guards }: Plan, acknowledged: readonly string[], passed: readonly string[]): GuardId[] {
  const keys = new Set(passed);
  const isKnown = (id: GuardId) =>
    policyOf(id) === undefined ? keys.has(id) || isPercentage(id) : isShownIn(keys, guards, id);
  const open = openIds(guards, acknowledged);
  const denied = deniedIds(guards);
  return open.filter((id) => denied.includes(id) || !isKnown(id));
}

/**
 * The guards that this apply has passed, together with those that earlier applies of the same approval passed. For a policy it is the
 * key of its result, because each apply checks policies again. Guards about commits are left out: a later commit may be applied in
 * between, which cannot be acknowledged beforehand.
 */
export function passedGuards({ guards }: Plan, before: readonly string[] = []): readonly string[] {
  const aboutCommits: readonly string[] = ['older-commit', 'diverged-commit', 'commit-unknown'];
  const ids = acknowledgeableIds(guards);
  const own = [...ids.filter((id) => policyOf(id) === undefined), ...policyKeys(guards, ids)];
  return [...new Set([...before, ...own])].filter((id) => !aboutCommits.includes(id)).sort();
}

/** The acknowledged guards that block a plan. A continued apply leaves out guards on percentages that block only the rest of its plan. */
export function acknowledgedOf(
  { guards }: Plan,
  { acknowledged, passed }: Pick<Consent, 'acknowledged' | 'passed'>,
): GuardId[] {
  const before = passed && new Set(passed.map(idOfKey));
  return acknowledgeableIds(guards).filter(
    (id) => before === undefined || !isPercentage(id) || before.has(id) || acknowledged.includes(id),
  );
}

function isPercentage(id: GuardId): boolean {
  return id === 'delete-percent' || id === 'update-percent';
}

function whatOf({ changes }: Plan): string {
  return changes.length === 1 ? 'this change' : `these ${counted(changes.length, 'change')}`;
}

/** In JSON the plan is the result of an apply that stops here; as text it has been printed already. */
function showFullPlan(plan: Plan, terminal: Terminal): void {
  if (terminal.format === 'json') printPlan(terminal, plan);
}

// Acknowledgements of guards that block a plan. Each is for one digest only: it is given with `--ack` and
// `--approve` or a plan file, or typed on a terminal below the plan.

/** Ids from the command line, separated by commas or spaces. */
export function readIds(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(/[\s,]+/).filter((id) => id !== ''))];
}

/** @throws CommandStop for a guard that does not exist */
export function checkIds(ids: readonly string[]): void {
  const unknown = ids.find((id) => !isGuardId(id));
  if (unknown === undefined) return;
  const near = nearestWord(unknown, guardIds);
  const hint = near === undefined ? `there are ${guardIds.join(', ')}` : `did you mean ${quoted(near)}?`;
  throw new CommandStop('unknown-guard', `there is no guard ${quoted(unknown)} to acknowledge: ${hint}`);
}

/** The blocking guards that are not acknowledged. Prints a note about acknowledged guards that this plan does not trip. */
function unacknowledged(
  plan: Plan,
  { acknowledged, named }: Pick<Consent, 'acknowledged' | 'named'>,
  terminal: Terminal,
): GuardId[] {
  const tripped = new Set<string>(plan.guards.map(({ id }) => id));
  const notTripped = named.filter((id) => !tripped.has(id));
  if (notTripped.length > 0) {
    const near = nearestWord(notTripped[0] ?? '', [...tripped]);
    const hint = near === undefined ? 'nothing to acknowledge' : `did you mean ${quoted(near)}?`;
    printNote(terminal, `note: this plan does not trip ${notTripped.join(', ')}: ${hint}`);
  }
  return openIds(plan.guards, acknowledged);
}

/** The error for a plan that policies deny, which cannot be acknowledged. */
function deniedBy(denied: readonly GuardId[]): CommandStop {
  const names = denied.map((id) => quoted(policyOf(id) ?? id)).join(', ');
  const [what, them] = denied.length === 1 ? ['a policy denies', 'it'] : ['policies deny', 'them'];
  return new CommandStop(
    'policy-denies',
    `nothing was written: ${what} this plan, which cannot be acknowledged: ${names}; change what violates ${them}, or ask the owners of the policies`,
    { exit: exitCodes.blocked },
  );
}

/** The error that names the guards that block, and the command that acknowledges them. */
function blocked(
  plan: Plan,
  open: readonly GuardId[],
  { stack, ofFile }: Pick<Consent, 'stack' | 'ofFile'>,
): CommandStop {
  const command = acknowledgementOfFile(plan, ofFile) ?? acknowledgement(plan, stack) ?? '';
  const isOne = open.length === 1;
  const what = `${counted(open.length, 'guard')} ${isOne ? 'blocks' : 'block'} this plan`;
  return new CommandStop(
    'guards-block',
    `nothing was written: ${what}: ${open.join(', ')}; read the plan, and acknowledge ${isOne ? 'the guard' : 'all of them'} with ${quoted(command)}`,
    { exit: exitCodes.blocked },
  );
}

/** The command with the plan file, which shows the results of policies; a digest does not cover them. Undefined if it lacks a guard. */
function acknowledgementOfFile({ guards }: Plan, ofFile: CommandOfFile | undefined): string | undefined {
  const ids = blockingIds(guards);
  const isShown = ids.every((id) => ofFile?.plan.guards.some((one) => one.id === id));
  return ofFile !== undefined && isShown ? `${ofFile.command} --ack ${ids.join(',')}` : undefined;
}

/** The question below the plan on a terminal. Typing the ids of the guards acknowledges them and agrees to the apply. */
function questionFor(plan: Plan, open: readonly GuardId[]): string {
  const count = plan.changes.length;
  const purpose = count === 0 ? 'To go on' : `To apply ${counted(count, 'change')}`;
  const which =
    open.length === 1
      ? 'the guard that blocks'
      : 'the names of the guards that block, all of them, separated by commas';
  return `${purpose}, type ${which}: ${open.join(', ')}`;
}

function isAcknowledgedBy(open: readonly GuardId[], answer: string | undefined): boolean {
  const typed = readIds(answer);
  return open.every((id) => typed.includes(id));
}
