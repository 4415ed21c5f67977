/**
 * What `apply` was told to carry out, by a plan file or a digest, and whether the plan that it made afresh is that
 * (RULES 28). The approved plan stands in the ledger from before the first call until an apply has ended well, so that
 * the same job, run again after a crash, is judged against what was approved and not against what is left of it.
 */
import { formatAddress } from '../model/address.ts';
import type { MeantChange } from '../model/change.ts';
import { sortDiagnostics } from '../model/diagnostic.ts';
import type { ApprovedPlan, Ledger, LedgerStore } from '../model/ledger.ts';
import type { Plan } from '../model/plan.ts';
import type { PlanDifference } from '../model/plan-difference.ts';
import type { Stack } from '../model/target.ts';
import { type Planning, planTarget } from '../plan/build-plan.ts';
import { comparePlans, isSamePlan } from '../plan/compare-plans.ts';
import { atomsOf } from '../plan/digest.ts';
import { judgeApproval } from '../plan/judge-approval.ts';
import { readAtoms } from '../plan/read-atoms.ts';
import { renderPlanDifferenceJson } from '../report/plan-difference-json.ts';
import { renderPlanDifference } from '../report/plan-difference-text.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { isRefusal, meansPlanFile, openPlanFile, type PlanFile, type Refusal } from './plan-file.ts';
import { printError, type Screen } from './screen.ts';

/** What the command line names: at most one stack, and what was approved. */
export interface Asked {
  /** of the stack */
  readonly path?: string;
  readonly approval?: Approval;
}

export interface Approval {
  readonly digest: string;
  /** where it was given by a file */
  readonly given?: PlanFile;
}

/**
 * Tells plan file and stack apart, in whatever order they were given.
 * @param digest of `--approve`, in lower case
 */
export async function readApproval(
  paths: readonly string[],
  digest: string | undefined,
  cwd: string,
): Promise<Asked | Refusal> {
  const kinds = await Promise.all(
    paths.map(async (path) => ({ path, isPlan: await meansPlanFile(path, cwd) })),
  );
  const [plan, ...morePlans] = kinds.filter(({ isPlan }) => isPlan);
  const [stack, ...moreStacks] = kinds.filter(({ isPlan }) => !isPlan);
  if (morePlans.length > 0)
    return mistake('apply takes one plan file; to see how two differ, use "trueup diff"');
  if (moreStacks.length > 0) {
    const all = paths.map((path) => `"${path}"`).join(' nor ');
    return mistake(`apply takes one stack, and beside it a plan file: neither ${all} is a plan file`);
  }
  const path = stack === undefined ? {} : { path: stack.path };
  if (plan === undefined) return { ...path, ...(digest === undefined ? {} : { approval: { digest } }) };
  const given = await openPlanFile(plan.path, cwd);
  if (isRefusal(given)) return given;
  if (digest !== undefined && digest !== given.plan.digest) {
    return stale(
      `the plan "${given.file}" has the digest "${given.plan.digest}", and "${digest}" was approved: apply the plan that was approved, or approve this one`,
    );
  }
  return { ...path, approval: { digest: given.plan.digest, given } };
}

function mistake(message: string): Refusal {
  return { code: exitCodes.error, message };
}

function stale(message: string): Refusal {
  return { code: exitCodes.stale, message };
}

/** Before anything is read: a plan of another stack or target can never fit. */
export function refuseElsewhere({ given }: Approval, stack: Stack, screen: Screen): ExitCode | undefined {
  if (given === undefined) return undefined;
  const { changes, ...made } = given.plan;
  const here = { stack: stack.name, targets: stack.targets.map(planTarget), changes };
  const difference = comparePlans({ ...made, changes }, here);
  if (isSamePlan(difference)) return undefined;
  showDifference(screen, difference, {
    one: { name: given.file, digest: made.digest },
    other: { name: stack.file, digest: '' },
  });
  const what = difference.stack === undefined ? 'other targets than this stack has' : 'another stack';
  printError(screen, `nothing was written: the plan "${given.file}" was made for ${what}`);
  return exitCodes.stale;
}

/** Apply's own plan is made with the token that would be refused, so what is foreseen forbids it (RULES 30). */
export function withRefusals(planning: Planning): Planning {
  const { plan, refusals } = planning;
  return { ...planning, plan: { ...plan, problems: sortDiagnostics([...plan.problems, ...refusals]) } };
}

/** What was approved, if the fresh plan is that or what is left of it; else how they differ has been told. */
export function judge(
  planning: Planning,
  approval: Approval,
  { ledger, screen }: { readonly ledger: Ledger; readonly screen: Screen },
): ApprovedPlan | ExitCode {
  const { plan } = planning;
  const changes = approvedChanges(planning.plan, approval, ledger);
  if (changes === undefined) {
    printError(screen, `nothing was written: ${unlike(plan, approval)}`);
    return exitCodes.stale;
  }
  const judgement = judgeApproval(planning, { digest: approval.digest, changes });
  switch (judgement.is) {
    case 'equal':
      break;
    case 'subset':
      tellSubset(screen, { approved: changes.length, done: judgement.done.map(formatAddress), plan });
      break;
    case 'elsewhere':
      printError(
        screen,
        `nothing was written: the plan "${approval.digest}" was approved when this stack had other targets`,
      );
      return exitCodes.stale;
    case 'differs':
      showDifference(screen, judgement.difference, {
        one: { name: 'approved', digest: approval.digest },
        other: { name: 'now', digest: plan.digest },
      });
      printError(
        screen,
        'nothing was written: the plan is not the one that was approved, nor what is left of it; review it and approve it anew',
      );
      return exitCodes.stale;
  }
  return {
    digest: approval.digest,
    atoms: [...atomsOf(changes)].sort(),
    createdAt: new Date().toISOString(),
  };
}

function unlike({ digest, changes }: Plan, approval: Approval): string {
  const both = `this plan has the digest "${digest}", and "${approval.digest}" was approved`;
  return changes.length === 0
    ? `${both}: nothing is left to do, and whether that is what was approved cannot be told from a digest`
    : `${both}: live or the manifests changed since; review this plan and approve its digest, or apply the plan file that was approved to see how they differ`;
}

/** Undefined when nobody knows what the approved digest meant: then only the very same plan will do. */
function approvedChanges(
  plan: Plan,
  { digest, given }: Approval,
  { approved }: Ledger,
): readonly MeantChange[] | undefined {
  if (given !== undefined) return given.plan.changes;
  if (plan.digest === digest) return plan.changes;
  return approved?.digest === digest ? readAtoms(approved.atoms) : undefined;
}

function tellSubset(
  screen: Screen,
  about: { readonly approved: number; readonly done: readonly string[]; readonly plan: Plan },
): void {
  const { approved, done, plan } = about;
  const output = screen.format === 'json' ? screen.world.stderr : screen.world.stdout;
  output.write(
    `\nOf ${approved} approved ${approved === 1 ? 'change' : 'changes'}, ${done.length} ${done.length === 1 ? 'is' : 'are'} true already; ${plan.changes.length} ${plan.changes.length === 1 ? 'is' : 'are'} left to apply\n`,
  );
}

interface Names {
  readonly one: { readonly name: string; readonly digest: string };
  readonly other: { readonly name: string; readonly digest: string };
}

function showDifference(screen: Screen, difference: PlanDifference, { one, other }: Names): void {
  const { world, paint, width } = screen;
  const text =
    screen.format === 'json'
      ? renderPlanDifferenceJson(difference, { one, other })
      : `\n${renderPlanDifference(difference, { paint, names: { one: one.name, other: other.name }, ...(width === undefined ? {} : { width }) })}`;
  world.stdout.write(`${text}\n`);
}

/** Written before the first call; what stands there already is not written again. */
export async function keepApproved(
  store: LedgerStore,
  ledger: Ledger,
  approved: ApprovedPlan | undefined,
): Promise<Ledger> {
  if (approved === undefined || ledger.approved?.digest === approved.digest) return ledger;
  return store.write({ ...ledger, approved });
}

/** Once an apply has ended well, there is nothing left that anybody could have approved. */
export async function forgetApproved(store: LedgerStore): Promise<void> {
  const { approved, ...ledger } = await store.read();
  if (approved !== undefined) await store.write(ledger);
}
