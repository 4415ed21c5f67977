/** The last lines of a plan job: what became of each stack, and what to do next. */
import { counted, quoted } from '../../model/quoted.ts';
import type { CiJob } from '../../run/ci/job.ts';
import { type ExitCode, exitCodeOfPlan, exitCodes } from '../../run/exit-codes.ts';
import type { ChosenStack } from './choose-stacks.ts';
import type { StackResult } from './plan-stack.ts';

interface EndOptions {
  readonly job: CiJob;
  readonly outDir: string | undefined;
  /** stacks that the commits remove */
  readonly removed: readonly ChosenStack[];
}

type EndedStack = Pick<StackResult, 'stack' | 'code' | 'plan' | 'onlyValidated'>;

/** What happened, and what to do next. */
export function endOf(
  results: readonly EndedStack[],
  code: ExitCode,
  { job, outDir, removed }: EndOptions,
): string {
  if (results.length === 0 && code !== exitCodes.done) return `No stack was planned.\n${nextStep(code, job)}`;
  if (results.length === 0)
    return removed.length === 0
      ? 'No stack is changed, so nothing was planned. There is nothing to do.'
      : `${counted(removed.length, 'stack')} removed, and nothing was planned. Next: decide what becomes of the resources, as the message says.`;
  const groups = Map.groupBy(results, kindOf);
  const parts = resultKinds.flatMap((kind) => {
    const found = groups.get(kind) ?? [];
    if (found.length === 0) return [];
    const which = kind.isGood ? '' : `: ${found.map(({ stack }) => stack.path).join(', ')}`;
    return [{ count: found.length, text: `${kind.text}${which}` }];
  });
  const said = parts.map(({ count, text }, index) =>
    index === 0 ? `${counted(count, 'stack')} ${text}` : `${count} ${text}`,
  );
  const hasPlans = results.some(({ plan }) => plan !== undefined);
  const kept = outDir === undefined || !hasPlans ? '' : `; the plan files are in ${quoted(outDir)}`;
  const isValidation = groups.get(validated)?.length === results.length && job.event !== 'push';
  return `${said.join(', ')}${kept}.\n${isValidation ? stepAfterValidation : nextStep(code, job)}`;
}

interface ResultKind {
  readonly text: string;
  /** otherwise its stacks are named */
  readonly isGood: boolean;
}

const planned: ResultKind = { text: 'planned', isGood: true };
const validated: ResultKind = { text: 'only validated', isGood: true };
const notReviewed: ResultKind = { text: 'with a plan that was not reviewed', isGood: false };
const incomplete: ResultKind = { text: 'not planned completely', isGood: false };
const failed: ResultKind = { text: 'not planned', isGood: false };
const resultKinds: readonly ResultKind[] = [planned, validated, notReviewed, incomplete, failed];

function kindOf({ plan, onlyValidated, code }: EndedStack): ResultKind {
  if (plan === undefined) return onlyValidated !== undefined && code === exitCodes.done ? validated : failed;
  if (code === exitCodes.done) return planned;
  return exitCodeOfPlan(plan) === exitCodes.done ? notReviewed : incomplete;
}

const stepAfterValidation =
  'Next: review the changes. Then let a person who may write to this repository push the commits to a branch of it, so that a job with secrets can plan them.';

/** In a sentence. */
export function nextStep(code: ExitCode, { event }: CiJob): string {
  switch (code) {
    case exitCodes.done:
      return event === 'push'
        ? 'Next: let the plan be approved, then apply it with "trueup ci apply".'
        : 'Next: review each plan and its guards. After the merge, "trueup ci apply" applies what was approved.';
    case exitCodes.invalid:
      return 'Next: correct the lines that the messages name, and push again.';
    case exitCodes.stale:
      return 'Next: take the pull request out of the queue, update its branch, and review its new plan; if an earlier merge is not applied yet, wait for that apply, and queue it again.';
    case exitCodes.conflict:
      return 'Next: read the message. It names the owner or the place, and the ways to go on.';
    case exitCodes.interrupted:
      return 'Next: run the job again. Nothing was changed.';
    default:
      return 'Next: remove the cause that the message names, and run the job again. Nothing was changed.';
  }
}
