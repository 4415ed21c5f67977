/**
 * Says in the last pull request what became of its apply. It has a comment of its own: an edit of the comment with the plan would
 * end the reviews that approve it, and an apply that stopped halfway needs them again.
 */
import { messageOf } from '../../model/error-message.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { sentence } from '../../report/markdown/escape.ts';
import { draftOf, reviewOf } from '../../run/comment/post-comment.ts';
import { postPlan } from '../../run/comment/sticky-comment.ts';
import type { CliHost } from '../../run/host.ts';
import type { OpenHost } from './approval-sources.ts';
import type { MergedPull } from './find-approval.ts';

interface Outcome {
  /** in a few words: `Applied`, `Not applied` */
  readonly title: string;
  /** sentences, each a paragraph */
  readonly lines: readonly string[];
  /** shown below them */
  readonly plan?: Plan;
}

interface PullContext {
  readonly host: CliHost;
  readonly opened: OpenHost | undefined;
  readonly author: string | undefined;
  readonly plan: Plan;
}

/** A comment that cannot be written changes nothing about the apply: that is printed, and the run goes on. */
export async function tellPull(
  pull: MergedPull | undefined,
  { title, lines, plan }: Outcome,
  { host, opened, author, plan: planned }: PullContext,
): Promise<void> {
  if (pull === undefined || opened === undefined) return;
  const { place, codeHost } = opened;
  const draft = draftOf(planned, host, {}, ['See "To do" above.']);
  const text = [
    `### ${sentence(`${title}: stack ${quoted(planned.stack)}`)}`,
    ...host.clean([...lines]).map((line) => sentence(line)),
    ...(plan === undefined ? [] : [draft.plan]),
  ].join('\n\n');
  try {
    await postPlan(
      reviewOf({ ...place, number: pull.number }, codeHost),
      { ...draft, stack: `${planned.stack} (apply)`, plan: text },
      { accounts: { author, usual: place.usualAuthor }, creates: true },
    );
  } catch (error) {
    host.stderr.write(
      `the comment about this apply was not written in pull request ${pull.number}: ${messageOf(error)}\n`,
    );
  }
}
