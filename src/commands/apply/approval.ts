/**
 * The approval of an apply, by a plan file or by a digest: reads it from the arguments, and checks that the new plan is the
 * approved one, or the rest of it (rule 28).
 */
import { formatAddress } from '../../model/address.ts';
import type { DigestedChange } from '../../model/change.ts';
import type { ApprovedPlan, Ledger } from '../../model/ledger.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { checkApprovedChanges } from '../../plan/approval-coverage.ts';
import { type PlanResult, planTarget, selectionOf } from '../../plan/build-plan.ts';
import { comparePlans, findOtherText, isSamePlan } from '../../plan/compare-plans.ts';
import { digestItemsOf, digestVersion, readDigestItems } from '../../plan/digest.ts';
import { renderPlanDifferenceJson } from '../../report/json/plan-difference.ts';
import { renderPlanJson } from '../../report/json/plan.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { shellWord } from '../../report/view/printable.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { PlanRequest } from '../../run/make-plan.ts';
import {
  isRefusal,
  meansPlanFile,
  openPlanFile,
  type PlanFile,
  type PlanFileRefusal,
  refuseFormerDigest,
} from '../../run/plan-file.ts';
import { printError, printJson, type Terminal, textOutput } from '../../run/terminal.ts';

/** What the command line names: at most one stack, and at most one approval. */
export interface ApplyRequest {
  /** path of the stack */
  readonly path?: string;
  readonly approval?: Approval;
}

interface Approval {
  readonly digest: string;
  /** the plan file, when the approval is one */
  readonly given?: PlanFile;
  /** a digest alone is approved again after an apply of it has ended well */
  readonly again?: boolean | undefined;
}

/**
 * Distinguishes plan file and stack, in any order.
 * @param flags.approve in lower case
 */
export async function readApproval(
  paths: readonly string[],
  { approve: digest, again }: { readonly approve?: string | undefined; readonly again?: boolean | undefined },
  cwd: string,
): Promise<ApplyRequest | PlanFileRefusal> {
  const kinds = await Promise.all(
    paths.map(async (path) => ({ path, isPlan: await meansPlanFile(path, cwd) })),
  );
  const [plan, ...morePlans] = kinds.filter(({ isPlan }) => isPlan);
  const [stack, ...moreStacks] = kinds.filter(({ isPlan }) => !isPlan);
  if (morePlans.length > 0)
    return mistake('apply takes one plan file; to see how two differ, use "trueup diff"');
  if (moreStacks.length > 0) {
    const all = paths.map(quoted).join(' nor ');
    return mistake(`apply takes one stack, and beside it a plan file: neither ${all} is a plan file`);
  }
  const path = stack === undefined ? {} : { path: stack.path };
  if (again === true && (plan !== undefined || digest === undefined))
    return mistake(
      '"--again" goes with "--approve" and a digest alone; a plan file counts again once it is made anew',
    );
  if (plan === undefined)
    return { ...path, ...(digest === undefined ? {} : { approval: { digest, again } }) };
  const given = await openPlanFile(plan.path, cwd);
  if (isRefusal(given)) return given;
  const former = refuseFormerDigest(given);
  if (former !== undefined) return former;
  if (digest !== undefined && digest !== given.plan.digest) {
    return stale(
      `the plan ${quoted(given.file)} has the digest ${quoted(given.plan.digest)}, and ${quoted(digest)} was approved: apply the plan that was approved, or approve this one`,
    );
  }
  return { ...path, approval: { digest: given.plan.digest, given } };
}

function mistake(message: string): PlanFileRefusal {
  return { code: 'usage', exit: exitCodes.error, message };
}

function stale(message: string): PlanFileRefusal {
  return { code: 'approval-mismatch', exit: exitCodes.stale, message };
}

/** Reports why an apply does not begin. */
export function reportRefusal({ code, message, exit }: PlanFileRefusal, terminal: Terminal): ExitCode {
  printError(terminal, code, `nothing was written: ${message}`);
  return exit;
}

// Checks that the plan that `apply` has just made is the approved one, or the rest of it (rule 28). Otherwise the difference is
// printed and nothing is written.

/** Called before anything is read: refuses a plan of another stack, target or selection. */
export function refuseOtherStack(
  { given }: Approval,
  { stack, resources: desired, isSelection }: Pick<PlanRequest, 'stack' | 'resources' | 'isSelection'>,
  terminal: Terminal,
): ExitCode | undefined {
  if (given === undefined) return undefined;
  const { changes, ...approved } = given.plan;
  const selection = selectionOf({ isSelection, desired });
  const here = { stack: stack.name, targets: stack.targets.map(planTarget), ...selection, changes };
  const difference = comparePlans({ ...approved, changes }, here);
  if (isSamePlan(difference)) return undefined;
  printError(
    terminal,
    'plan-elsewhere',
    `nothing was written: the plan ${quoted(given.file)} was made for ${otherContext(difference, given.file)}`,
  );
  showDifference(terminal, difference, {
    one: { name: given.file, digest: approved.digest },
    other: { name: stack.file, digest: '' },
  });
  return exitCodes.stale;
}

/** The first difference of stack, targets and selection, where possible with the command that fits. */
function otherContext({ stack, targets, selection }: PlanDifference, file: string): string {
  if (stack !== undefined) return 'another stack';
  if (targets.length > 0 || selection === undefined) return 'other targets than this stack has';
  if (selection.one === undefined)
    return 'the whole stack, and standard input brings a selection of it, unless "--complete" says otherwise';
  if (selection.other !== undefined) return 'another selection of this stack';
  return `a selection of this stack: pipe that in, with ${quoted(`trueup apply ${shellWord(file)} -`)}`;
}

/**
 * @returns the approved plan, when the new plan is the same or the rest of it; `ended`, when an apply of it has ended well and nothing
 * is left to do; otherwise an exit code, with the difference printed
 */
export function checkApproval(
  planning: PlanResult,
  approval: Approval,
  { ledger, terminal }: { readonly ledger: Ledger; readonly terminal: Terminal },
): ApprovedPlan | 'ended' | ExitCode {
  const { plan } = planning;
  const ended = ledger.endedApprovals?.get(approval.digest);
  if (ended !== undefined && plan.changes.length === 0) return reportEnded(approval, ended, terminal);
  if (ended !== undefined && !countsAgain(approval, ended, ledger)) {
    printJson(terminal, (reported) => renderPlanJson(plan, { told: reported, clean: terminal.host.clean }));
    printError(terminal, 'approval-ended', `nothing was written: ${endedReason(approval, ended)}`);
    return exitCodes.stale;
  }
  const changes = approvedChanges(planning.plan, approval, ledger);
  if (changes === undefined) {
    printJson(terminal, (reported) => renderPlanJson(plan, { told: reported, clean: terminal.host.clean }));
    printError(terminal, 'approval-stale', `nothing was written: ${mismatchReason(plan, approval, ledger)}`);
    return exitCodes.stale;
  }
  const judgement = checkApprovedChanges(planning, { digest: approval.digest, changes });
  switch (judgement.is) {
    case 'equal':
      break;
    case 'subset':
      printProgress(terminal, { approved: changes.length, done: judgement.done.map(formatAddress), plan });
      break;
    case 'elsewhere':
      printError(
        terminal,
        'plan-elsewhere',
        `nothing was written: the plan ${quoted(approval.digest)} was approved when this stack had other targets, or for another selection of it`,
      );
      return exitCodes.stale;
    case 'differs':
      printError(
        terminal,
        'approval-stale',
        'nothing was written: the plan is not the one that was approved, nor what is left of it; review it and approve it anew: "trueup plan" makes it, "--show-plan" shows it here, too',
      );
      showDifference(terminal, judgement.difference, {
        one: { name: 'approved', digest: approval.digest },
        other: { name: 'now', digest: plan.digest },
      });
      return exitCodes.stale;
  }
  const other = approval.given && findOtherText(approval.given.plan, plan, terminal.host.clean);
  if (other !== undefined) {
    printError(
      terminal,
      'plan-shows-other',
      `nothing was written: the plan file ${quoted(approval.given?.file ?? '')} shows something else than this apply finds as ${other}: it was edited, or the stack changed since; plan again, and approve again`,
    );
    return exitCodes.stale;
  }
  return {
    version: digestVersion,
    digest: approval.digest,
    atoms: [...digestItemsOf(changes)].sort(),
    createdAt: new Date(terminal.host.now()).toISOString(),
  };
}

function reportEnded({ digest }: Approval, ended: string, terminal: Terminal): 'ended' {
  const output = textOutput(terminal) ?? terminal.host.stderr;
  output.write(`The approval of the plan ${quoted(digest)} ended at ${ended}; nothing is left to do\n\n`);
  return 'ended';
}

/** Whether an approval is newer than the apply that ended it. One in the ledger is: an apply of it has begun since, and has not ended. */
function countsAgain({ digest, given, again }: Approval, ended: string, { approved }: Ledger): boolean {
  if (approved?.digest === digest) return true;
  if (given === undefined) return again === true;
  const { made } = given.plan;
  if (made === undefined) return false;
  // Times of two machines tell nothing certain, so they count only for a plan file that does not name the end it comes after.
  return made.lastEnded === undefined ? Date.parse(made.at) > Date.parse(ended) : made.lastEnded === ended;
}

function endedReason({ digest, given }: Approval, ended: string): string {
  const applied = `the approval of the plan ${quoted(digest)} ended at ${ended}, and there is something to do again`;
  return given === undefined
    ? `${applied}: review what "trueup plan" shows now, and approve it with ${quoted(`--approve ${digest} --again`)}`
    : `${applied}; the plan file ${quoted(given.file)} is not newer: plan again, and approve again`;
}

function mismatchReason({ digest, changes }: Plan, approval: Approval, { approved }: Ledger): string {
  if (approved?.digest === approval.digest && approved.version !== digestVersion)
    return `${quoted(approval.digest)} was approved under an earlier trueup, whose digests meant less: plan again, and approve again ${quoted(digest)}`;
  const both = `this plan has the digest ${quoted(digest)}, and ${quoted(approval.digest)} was approved`;
  return changes.length === 0
    ? `${both}: nothing is left to do, and whether that is what was approved cannot be told from a digest`
    : `${both}: live or the manifests changed since, or an earlier trueup made that digest; review the plan that "trueup plan" makes and approve again, or apply the plan file that was approved to see how they differ`;
}

/** The approved changes; undefined when only their digest is known, which then must be that of the new plan. */
function approvedChanges(
  plan: Plan,
  { digest, given }: Approval,
  { approved }: Ledger,
): readonly DigestedChange[] | undefined {
  if (given !== undefined) return given.plan.changes;
  if (plan.digest === digest) return plan.changes;
  if (approved?.digest !== digest || approved.version !== digestVersion) return undefined;
  return readDigestItems(approved.atoms);
}

function printProgress(
  terminal: Terminal,
  about: { readonly approved: number; readonly done: readonly string[]; readonly plan: Plan },
): void {
  const { approved, done, plan } = about;
  const output = textOutput(terminal) ?? terminal.host.stderr;
  const areDone = `${done.length} ${done.length === 1 ? 'is' : 'are'} true already`;
  const areLeft = `${plan.changes.length} ${plan.changes.length === 1 ? 'is' : 'are'} left to apply`;
  output.write(
    `Of ${approved} approved ${approved === 1 ? 'change' : 'changes'}, ${areDone}; ${areLeft}\n\n`,
  );
}

interface Names {
  readonly one: { readonly name: string; readonly digest: string };
  readonly other: { readonly name: string; readonly digest: string };
}

/** Who has more than these to look at, looks at the whole plan. */
const maxDifferences = 20;

function showDifference(terminal: Terminal, difference: PlanDifference, { one, other }: Names): void {
  const { paint, width } = terminal;
  printJson(terminal, (reported) => renderPlanDifferenceJson(difference, { one, other }, reported));
  const names = { one: one.name, other: other.name };
  const layout = { paint, names, most: maxDifferences, ...(width === undefined ? {} : { width }) };
  textOutput(terminal)?.write(`\n${renderPlanDifference(difference, layout)}\n`);
}
