/**
 * Approvals by reviews of a pull request. A review approves the plan in the comment of the stack. The review must be of exactly the
 * head and later than the last edit of the comment. Its author must be admitted by the stack, and not have made the pull request.
 */
import {
  isSameName,
  type PullRequest,
  type PullRequests,
  type Review,
} from '../api/code-host/pull-requests.ts';
import type { Approval, ApprovalRules, FoundApprovals, RefusedApproval } from '../model/approval.ts';
import { quoted } from '../model/quoted.ts';
import { contributorsOnce, readContributors, whyContributor, whyNotAdmitted } from './people.ts';
import type { FoundComment } from './plan-comment.ts';

interface ReviewSource {
  readonly pullRequests: PullRequests;
  readonly pullRequest: PullRequest;
  readonly rules: Pick<ApprovalRules, 'from' | 'selfApprove'>;
  /** the comment with the plan of this stack, about the head of the pull request */
  readonly found: FoundComment;
}

/** Reads at most one approval of each person. @throws CodeHostError, WireError */
export async function readReviews(source: ReviewSource): Promise<FoundApprovals> {
  const { pullRequests, pullRequest, rules, found } = source;
  const approvals: Approval[] = [];
  const refused: RefusedApproval[] = [];
  const latest = latestOfEach(await pullRequests.reviews(pullRequest));
  const about = { method: 'review', pullRequest: pullRequest.number } as const;
  if (latest.length === 0) refused.push({ ...about, why: 'the pull request has no approving review' });
  const contributors = contributorsOnce(() => readContributors(pullRequests, pullRequest));
  for (const review of latest) {
    const { by } = review;
    const refuse = (why: string) => refused.push({ ...about, ...(by === undefined ? {} : { by }), why });
    const why = whyNot(review, pullRequest, found);
    if (why !== undefined || by === undefined || found.is === 'missing' || review.at === undefined) {
      refuse(why ?? 'the account was deleted');
      continue;
    }
    const whyPerson =
      (rules.selfApprove === true ? undefined : whyContributor(by, await contributors())) ??
      (await whyNotAdmitted(by, pullRequests, rules, { mustWrite: true }));
    if (whyPerson === undefined) {
      const { digest, commit } = found.comment;
      approvals.push({ ...about, by, digest, commit, at: review.at, acknowledged: [] });
    } else refuse(whyPerson);
  }
  return { approvals, refused };
}

/** Why the review itself does not count; undefined if it may count. Does not check the reviewer. */
function whyNot(review: Review, { head }: PullRequest, found: FoundComment): string | undefined {
  if (review.by === undefined) return 'the account of the reviewer was deleted';
  if (review.state === 'dismissed') return 'the review was dismissed';
  if (review.state === 'changes-requested') return 'the review requests changes';
  if (review.commit === undefined)
    return `the review does not count for the head: ${review.why ?? 'it names no commit'}`;
  if (review.commit !== head)
    return `the review is of commit ${quoted(review.commit)}, and the head is ${quoted(head)}`;
  if (found.is === 'missing') return `the pull request shows no plan to approve: ${found.why}`;
  if (review.at === undefined) return 'the code host does not say when the review was given';
  return Date.parse(review.at) > Date.parse(found.comment.at)
    ? undefined
    : `the review (${review.at}) is not later than the comment with the plan, which was posted or edited ${found.comment.at}`;
}

/** The latest review of each person, and all reviews of deleted accounts. */
function latestOfEach(reviews: readonly Review[]): readonly Review[] {
  const sorted = reviews.toSorted((one, other) => timeOf(one) - timeOf(other));
  return sorted.filter(
    ({ by }, at) => by === undefined || !sorted.slice(at + 1).some((later) => isSameName(later.by, by)),
  );
}

function timeOf({ at }: Review): number {
  return at === undefined ? 0 : Date.parse(at);
}
