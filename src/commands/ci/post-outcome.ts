/**
 * Reports the outcome of an apply in a separate comment, in the pull request that was merged last of those that this apply covers. An edit
 * of the comment with the plan would invalidate the reviews that approve it, and an apply that stopped halfway needs them again.
 */
import { messageOf } from '../../model/error-message.ts';
import type { RunIdentity } from '../../model/ledger.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { codeBlock, sentence } from '../../report/markdown/escape.ts';
import { plain } from '../../report/text/layout.ts';
import { maybeDoneText } from '../../report/text/outcomes.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { clip } from '../../report/view/printable.ts';
import { draftOf, reviewOf } from '../../run/post-comment.ts';
import { postPlan } from '../../run/sticky-comment.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import type { Terminal } from '../../run/terminal.ts';
import type { OpenHost } from './approval-sources.ts';
import type { MergedPull } from './count-approvals.ts';

interface Outcome {
  /** in a few words: `Applied`, `Not applied` */
  readonly title: string;
  /** sentences, one paragraph each */
  readonly lines: readonly string[];
  /** shown below the lines */
  readonly plan?: Plan;
  /** between the approved plan and this one; shown above the plan */
  readonly difference?: PlanDifference | undefined;
}

/** The names of the two plans in the difference that a refused apply shows. */
export const differenceNames = { one: 'approved', other: 'now' } as const;

/** Limits of a difference in a comment; the log has all lines. */
const maxLines = 20;
const maxColumns = 120;

/** The difference as the log prints it. Secrets are removed twice: before values are cut, and from the finished lines. */
function differenceBlock(difference: PlanDifference, { clean }: CliHost): string {
  const layout = { paint: plain, names: differenceNames, most: maxLines, width: maxColumns };
  const lines = clean(renderPlanDifference(clean(difference), layout).split('\n'));
  const leftOut = lines.length - maxLines;
  const shown = lines.slice(0, maxLines).map((line) => clip(line, maxColumns));
  const more = leftOut > 0 ? `\n\n${counted(leftOut, 'more line')} in the log of the job.` : '';
  return `**Difference from the approved plan**\n\n${codeBlock(shown, 'text')}${more}`;
}

interface PullContext {
  readonly host: CliHost;
  readonly opened: OpenHost | undefined;
  readonly author: string | undefined;
  readonly plan: Plan;
}

/**
 * Posts the comment. If it cannot be written, prints why, and the run continues.
 * @param pull undefined if the apply covers no pull request: then nothing is posted
 */
export async function postOutcome(
  pull: MergedPull | undefined,
  { title, lines, plan: planBelow, difference }: Outcome,
  { host, opened, author, plan }: PullContext,
): Promise<void> {
  if (pull === undefined || opened === undefined) return;
  const { place, codeHost } = opened;
  // The plan below is shown only by a refused apply, whose `lines` end with "To do: …".
  const draft = draftOf(plan, host, {}, ['See "To do" above.']);
  // `author` is the account of the plan jobs. A fleet posts with its own account, and finds its comment by that.
  const ownAuthor = host.fleet === undefined ? author : undefined;
  const text = [
    `### ${sentence(`${title}: stack ${quoted(plan.stack)}`)}`,
    ...host.clean([...lines]).map((line) => sentence(line)),
    ...(difference === undefined ? [] : [differenceBlock(difference, host)]),
    ...(planBelow === undefined ? [] : [draft.plan]),
  ].join('\n\n');
  try {
    await postPlan(
      reviewOf({ ...place, number: pull.number }, codeHost),
      { ...draft, stack: `${plan.stack} (apply)`, plan: text },
      { accounts: { author: ownAuthor, usual: place.usualAuthor }, creates: true },
    );
  } catch (error) {
    host.stderr.write(
      `the comment about this apply was not written in pull request ${pull.number}: ${messageOf(error)}\n`,
    );
  }
}

interface OutcomeContext {
  readonly terminal: Pick<Terminal, 'result'>;
  readonly run: Pick<RunIdentity, 'url'>;
  readonly host: Pick<CliHost, 'fleet'>;
}

/** The outcome of an apply: a title, what was done, and what to do next, in sentences. */
export function outcomeOf(
  code: ExitCode,
  { changes }: Pick<Plan, 'changes'>,
  { context: { terminal, run, host }, head }: { readonly context: OutcomeContext; readonly head: string },
): readonly [title: string, lines: readonly string[], next: string] {
  const { outcomes, written = { done: 0, maybeDone: 0 } } = terminal.result;
  const counts = Object.entries(outcomes ?? {}).filter(([, count]) => count > 0);
  const ended = [
    counts.length === 0 ? 'nothing was sent' : counts.map(([kind, count]) => `${count} ${kind}`).join(', '),
    ...(written.maybeDone === 0 ? [] : [maybeDoneText(written.maybeDone)]),
  ];
  const page = run.url === undefined ? [] : [`The run: ${quoted(run.url)}`];
  const about = [`Commit ${quoted(head)}: ${ended.join('; ')}.`, ...page];
  const isDone = code === exitCodes.done;
  if (isDone && written.done === 0) {
    const why = 'The live resources are as declared already. An earlier apply may have made the changes.';
    return ['Nothing left to apply', [...about, why], 'Nothing is left to apply.'];
  }
  if (isDone) return ['Applied', about, 'This plan was applied. There is nothing else to do.'];
  const successful = (outcomes?.applied ?? 0) + (outcomes?.unchanged ?? 0);
  if (written.done > 0 && successful === changes.length)
    return [
      'Applied, but not verified',
      about,
      'All changes were carried out, and the job failed after them: read its log, and run it again.',
    ];
  const rest = 'it goes on with the rest of what was approved';
  const again =
    host.fleet === undefined ? 'Run the job again once the cause is removed' : 'The fleet tries again later';
  const next = `${again}: ${rest}.`;
  if (written.done > 0) return ['Applied in part', about, next];
  if (written.maybeDone === 0) return ['Not applied', about, next];
  return ['Result not known', about, `${again}: it finds out which changes were made. Then ${rest}.`];
}
