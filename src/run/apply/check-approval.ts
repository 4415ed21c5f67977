/**
 * The approval of an apply: reads it from the command line, and checks that the plan that the apply has made is the approved one, or the
 * rest of it. Otherwise the difference is printed and nothing is written.
 */
import { formatAddress } from '../../model/address.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import type { ApprovedPlan } from '../../model/approval.ts';
import type { Ledger } from '../../model/ledger.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { checkApprovedChanges } from '../../plan/approval-coverage.ts';
import { type PlanResult, planTarget } from '../../plan/build-plan.ts';
import { comparePlans, findOtherText, isSamePlan } from '../../plan/compare-plans.ts';
import { type ApprovedWork, digestItemsOf, digestVersion, readDigestItems } from '../../plan/digest.ts';
import { partOf, selectionOf } from '../../plan/restrict-to-part.ts';
import { renderPlanDifferenceJson } from '../../report/json/plan-difference.ts';
import { renderPlanJson } from '../../report/json/plan.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { shellWord } from '../../report/view/printable.ts';
import { CommandStop } from '../command-stop.ts';
import { checkIds, type CommandOfFile, readIds } from '../consent.ts';
import { exitCodes } from '../exit-codes.ts';
import { stackArgument } from '../load-manifests.ts';
import type { PlanRequest } from '../make-plan.ts';
import { meansPlanFile, openApprovedPlan, type PlanFile } from '../plan-file.ts';
import { printJson, type Terminal, textOutput } from '../terminal.ts';

export interface Approval {
  readonly digest: string;
  /** the plan file, when the approval is one */
  readonly given?: PlanFile;
  /** `--again`: the digest is approved once more, although an apply of it has succeeded */
  readonly again?: boolean | undefined;
}

/** What the command line names: at most one stack, and at most one approval. */
export interface ApplyRequest {
  /** path of the stack */
  readonly path?: string;
  readonly approval?: Approval;
}

interface ApprovalFlags {
  /** in lower case */
  readonly approve?: string | undefined;
  readonly again?: boolean | undefined;
  readonly ack?: string | undefined;
}

/**
 * Reads what the command line names. Plan file and stack may be in any order.
 * @throws CommandStop with the reason why the apply does not begin
 */
export async function readApproval(
  paths: readonly string[],
  flags: ApprovalFlags,
  cwd: string,
): Promise<ApplyRequest> {
  try {
    const request = await readRequest(paths, flags, cwd);
    const acknowledged = readIds(flags.ack);
    checkIds(acknowledged);
    if (acknowledged.length > 0 && request.approval === undefined)
      throw new CommandStop(
        'ack-without-plan',
        '--ack is for one plan only: give its digest with --approve, or its plan file, as "trueup plan" shows them',
      );
    return request;
  } catch (error) {
    if (!(error instanceof CommandStop) || error.code === undefined) throw error;
    const isStale = staleCodes.includes(error.code);
    throw new CommandStop(error.code, `nothing was written: ${error.message}`, {
      exit: isStale ? exitCodes.stale : error.exit,
    });
  }
}

const staleCodes: readonly DiagnosticCode[] = ['plan-version', 'plan-edited', 'approval-mismatch'];

async function readRequest(
  paths: readonly string[],
  { approve: digest, again }: ApprovalFlags,
  cwd: string,
): Promise<ApplyRequest> {
  const kinds = await Promise.all(
    paths.map(async (path) => ({ path, isPlan: await meansPlanFile(path, cwd) })),
  );
  const [plan, ...morePlans] = kinds.filter(({ isPlan }) => isPlan);
  const [stack, ...moreStacks] = kinds.filter(({ isPlan }) => !isPlan);
  if (morePlans.length > 0)
    throw mistake('apply takes one plan file; to see how two differ, use "trueup diff"');
  if (moreStacks.length > 0) {
    const all = paths.map(quoted).join(' nor ');
    throw mistake(`apply takes one stack, and beside it a plan file: neither ${all} is a plan file`);
  }
  const path = stack === undefined ? {} : { path: stack.path };
  if (again === true && (plan !== undefined || digest === undefined))
    throw mistake(
      '"--again" goes with "--approve" and a digest alone; make the plan file again to approve it again',
    );
  if (plan === undefined)
    return { ...path, ...(digest === undefined ? {} : { approval: { digest, again } }) };
  const given = await openApprovedPlan(plan.path, cwd);
  if (digest !== undefined && digest !== given.plan.digest)
    throw new CommandStop(
      'approval-mismatch',
      `the plan ${quoted(given.file)} has the digest ${quoted(given.plan.digest)}, and ${quoted(digest)} was approved: apply the plan that was approved, or approve this one`,
    );
  return { ...path, approval: { digest: given.plan.digest, given } };
}

function mistake(message: string): CommandStop {
  return new CommandStop('usage', message);
}

/** The command that applies a plan file. It needs no selectors, because the plan file contains them. */
export function commandOfFile(
  path: string | undefined,
  { complete = false }: { readonly complete?: boolean },
  approval: ApplyRequest['approval'],
): CommandOfFile | undefined {
  if (approval?.given === undefined) return undefined;
  const { file, plan } = approval.given;
  const words = ['trueup apply', shellWord(file), stackArgument(path, { complete })];
  return { plan, command: words.filter((word) => word !== undefined).join(' ') };
}

/** The error for a plan that is not the approved one. */
function notApproved(code: DiagnosticCode, why: string): CommandStop {
  return new CommandStop(code, `nothing was written: ${why}`, { exit: exitCodes.stale });
}

/** Called before anything is read. @throws CommandStop for a plan of another stack, target or selection */
export function refuseOtherStack(
  { given }: Approval,
  { stack, ...declared }: Pick<PlanRequest, 'stack' | 'desired' | 'isSelection' | 'part'>,
  terminal: Terminal,
): void {
  if (given === undefined) return;
  const { changes, changedNames, ...approved } = given.plan;
  const selection = { ...selectionOf(declared), ...partOf(declared) };
  const here = {
    stack: stack.name,
    targets: stack.targets.map(planTarget),
    ...selection,
    changes,
    changedNames,
  };
  const difference = comparePlans(given.plan, here);
  if (isSamePlan(difference)) return;
  showDifference(terminal, difference, {
    one: { name: given.file, digest: approved.digest },
    other: { name: stack.file, digest: '' },
  });
  throw notApproved(
    'plan-elsewhere',
    `the plan ${quoted(given.file)} was made for ${otherContext(difference, given.file)}`,
  );
}

/** What the approved plan was made for, if not for this stack, its targets or this selection; with the right command, if there is one. */
function otherContext({ stack, targets, selection, selectors }: PlanDifference, file: string): string {
  if (stack !== undefined) return 'another stack';
  if (targets.length > 0 || (selection === undefined && selectors === undefined))
    return 'other targets than this stack has';
  if (selection === undefined || selectors !== undefined) return 'another selection of this stack';
  if (selection.one === undefined)
    return 'the whole stack, and standard input brings a selection of it, unless "--complete" says otherwise';
  if (selection.other !== undefined) return 'another selection of this stack';
  return `a selection of this stack: pipe that in, with ${quoted(`trueup apply ${shellWord(file)} -`)}`;
}

/**
 * @returns the approved plan, when the new plan is the same or the rest of it; undefined when an apply of it has succeeded and
 * nothing is left to do
 * @throws CommandStop for another plan, with the difference printed
 */
export function checkApproval(
  planning: PlanResult,
  approval: Approval,
  { ledger, terminal }: { readonly ledger: Ledger; readonly terminal: Terminal },
): ApprovedPlan | undefined {
  const { plan } = planning;
  const { clean } = terminal.host;
  const printAsJson = () =>
    printJson(terminal, (reported) => renderPlanJson(plan, { diagnostics: reported, clean }));
  const ended = ledger.endedApprovals?.get(approval.digest);
  // An empty plan may still record other ids than that apply did: such a plan is not what was applied.
  if (ended !== undefined && plan.changes.length === 0 && plan.changedNames.length === 0) {
    const output = textOutput(terminal) ?? terminal.host.stderr;
    output.write(
      `The approval of the plan ${quoted(approval.digest)} ended at ${ended}; nothing is left to do\n\n`,
    );
    return undefined;
  }
  if (ended !== undefined && !countsAgain(approval, ended, ledger)) {
    printAsJson();
    throw notApproved('approval-ended', endedReason(approval, ended));
  }
  const work = approvedWork(plan, approval, ledger);
  if (work === undefined) {
    printAsJson();
    throw notApproved('approval-stale', mismatchReason(plan, approval, ledger));
  }
  const checked = checkApprovedChanges(planning, { ...work, digest: approval.digest });
  switch (checked.is) {
    case 'equal':
      break;
    case 'subset':
      printProgress(terminal, { approved: work.changes.length, done: checked.done.map(formatAddress), plan });
      break;
    case 'elsewhere':
      throw notApproved(
        'plan-elsewhere',
        `the plan ${quoted(approval.digest)} was approved when this stack had other targets, or for another selection of it`,
      );
    case 'differs':
      showDifference(terminal, checked.difference, {
        one: { name: 'approved', digest: approval.digest },
        other: { name: 'now', digest: plan.digest },
      });
      throw notApproved(
        'approval-stale',
        `the plan is not the one that was approved, nor what is left of it${stricterClause(approval, ', so the difference may come from a setting that is loosened')}; review it and approve it again: "trueup plan" makes it, "--show-plan" shows it here, too`,
      );
  }
  const other = approval.given && findOtherText(approval.given.plan, plan, clean);
  if (other !== undefined)
    throw notApproved(
      'plan-shows-other',
      `the plan file ${quoted(approval.given?.file ?? '')} shows something else than this apply finds as ${other}: it was edited, or the stack changed since${stricterClause(approval)}; plan again, and approve again`,
    );
  return {
    version: digestVersion,
    digest: approval.digest,
    atoms: [...digestItemsOf(work)].sort(),
    createdAt: new Date(terminal.host.now()).toISOString(),
  };
}

/** A clause about a plan that was made with stricter settings than the stack file has; empty for others. */
function stricterClause({ given }: Approval, more = ''): string {
  return given?.plan.guards.some(({ id }) => id === 'loosened') === true
    ? `; that plan was made with the stricter settings of an earlier commit, as its guard "loosened" says${more}`
    : '';
}

/** Whether an approval is newer than the apply that ended it. An approval in the ledger is newer: its apply has begun and not ended. */
function countsAgain({ digest, given, again }: Approval, ended: string, { approved }: Ledger): boolean {
  if (approved?.digest === digest) return true;
  if (given === undefined) return again === true;
  const { made } = given.plan;
  if (made === undefined) return false;
  // Times of two machines are not comparable, so they count only for a plan file without `lastEnded`.
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
    return `${quoted(approval.digest)} was approved with an earlier version of trueup, whose digests covered less: plan again, and approve again ${quoted(digest)}`;
  const both = `this plan has the digest ${quoted(digest)}, and ${quoted(approval.digest)} was approved`;
  return changes.length === 0
    ? `${both}: nothing is left to do, and a digest alone does not show whether that is what was approved`
    : `${both}: live or the manifests changed since, the approval was for another part of the stack ("--select" with other words), or an earlier trueup made that digest; review the plan that "trueup plan" makes and approve again, or apply the plan file that was approved to see how they differ`;
}

/** The approved changes; undefined when only their digest is known, and the new plan has another one. */
function approvedWork(
  plan: Plan,
  { digest, given }: Approval,
  { approved }: Ledger,
): ApprovedWork | undefined {
  if (given !== undefined) return given.plan;
  if (plan.digest === digest) return plan;
  if (approved?.digest !== digest || approved.version !== digestVersion) return undefined;
  return readDigestItems(approved.atoms);
}

function printProgress(
  terminal: Terminal,
  about: { readonly approved: number; readonly done: readonly string[]; readonly plan: Plan },
): void {
  const { approved, done, plan } = about;
  const output = textOutput(terminal) ?? terminal.host.stderr;
  const doneText = `${done.length} ${done.length === 1 ? 'is' : 'are'} done already`;
  const leftText = `${plan.changes.length} ${plan.changes.length === 1 ? 'is' : 'are'} left to apply`;
  output.write(
    `Of ${approved} approved ${approved === 1 ? 'change' : 'changes'}, ${doneText}; ${leftText}\n\n`,
  );
}

interface Names {
  readonly one: { readonly name: string; readonly digest: string };
  readonly other: { readonly name: string; readonly digest: string };
}

/** With more differences than this, the plan itself is easier to read. */
const maxDifferences = 20;

function showDifference(terminal: Terminal, difference: PlanDifference, { one, other }: Names): void {
  const { paint, width } = terminal;
  printJson(terminal, (reported) => renderPlanDifferenceJson(difference, { one, other }, reported));
  const names = { one: one.name, other: other.name };
  const layout = { paint, names, most: maxDifferences, ...(width === undefined ? {} : { width }) };
  textOutput(terminal)?.write(`\n${renderPlanDifference(difference, layout)}\n`);
}
