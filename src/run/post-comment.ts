/** What `trueup comment` and `trueup ci` share: makes the comment of a plan, and reports what was done with it. */
import type { CodeHost } from '../api/code-host.ts';
import { githubComments, gitlabComments, Review } from '../api/code-host/comments.ts';
import { guardKeys } from '../approvals/guard-keys.ts';
import type { ShownPlan } from '../approvals/hidden-lines.ts';
import { blockingIds } from '../model/guard.ts';
import type { Plan } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import { renderPlanMarkdown } from '../report/markdown/plan.ts';
import { blockedLine, summaryLine } from '../report/view/plan-summary.ts';
import type { CliHost } from './host.ts';
import { argumentOfPlan } from './load-manifests.ts';
import { planWithoutSecrets } from './print-plan.ts';
import type { PullRequestPlace } from './pull-request.ts';
import type { Draft, Posted } from './sticky-comment.ts';

/** The comments of one pull request or merge request. */
export function reviewOf(
  { repository, number, service }: Pick<PullRequestPlace, 'repository' | 'number' | 'service'>,
  codeHost: CodeHost,
): Review {
  const api = service === 'github' ? githubComments(repository, number) : gitlabComments(repository, number);
  return new Review(codeHost, api);
}

/** When a plan was made, and from which commit. */
export type CommentOrigin = Pick<ShownPlan, 'commit' | 'dirty' | 'made'>;

/** The comment of a plan. @param origin as in the plan. @param next the next steps, in place of those of the plan */
export function draftOf(plan: Plan, host: CliHost, origin: CommentOrigin, next?: readonly string[]): Draft {
  const clean = planWithoutSecrets(plan, host);
  const stack = argumentOfPlan(plan);
  const blocked = blockedLine(plan);
  const guards = guardKeys(clean.guards);
  return {
    stack: plan.stack,
    plan: renderPlanMarkdown(clean, { next, ...(stack === undefined ? {} : { stack }) }),
    shown: {
      ...origin,
      post: host.newId(),
      at: new Date(host.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
      digest: plan.digest,
      summary: [summaryLine(plan), ...(blocked === undefined ? [] : [blocked])].join('; '),
      ...(guards.length === 0 ? {} : { guards }),
    },
  };
}

/** Whether a plan has no changes, problems or blocking guards: it is worth a comment only if the existing comment shows something else. */
export function isEmptyPlan({ changes, problems, coverage, guards }: Plan): boolean {
  const isBlocked = blockingIds(guards).length > 0;
  return changes.length === 0 && problems.length === 0 && coverage.complete && !isBlocked;
}

/** One line about what was done. */
export function describePosted(posted: Posted, stack: string, place: PullRequestPlace): string {
  const where = `in ${place.repository} ${place.service === 'github' ? '#' : '!'}${place.number}`;
  switch (posted.is) {
    case 'none':
      return `no comment for stack ${quoted(stack)} ${where}, and nothing to say in one`;
    case 'left':
      return `the comment for stack ${quoted(stack)} ${where} is left as it is: ${posted.why}`;
    case 'marked':
      return `marked the comment for stack ${quoted(stack)} ${where} as out of date${spot(posted.comment)}`;
    default:
      return `${posted.is} the comment for stack ${quoted(stack)} ${where}${spot(posted.comment)}`;
  }
}

function spot({ url, id }: { readonly url?: string; readonly id: number }): string {
  return `: ${url ?? id}`;
}
