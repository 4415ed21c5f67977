/**
 * Finds the comment with the plan of a stack, which names the digest to approve. It must be from the account of the CI jobs, and name
 * the commit that was reviewed. It approves nothing by itself, because everybody with write access to the repository may edit it.
 */
import { isSameName, type PullRequest, type PullRequests } from '../api/code-host/pull-requests.ts';
import { quoted } from '../model/quoted.ts';
import { isMarked, readState } from './hidden-lines.ts';

export interface PlanComment {
  readonly digest: string;
  /** the commit that was planned */
  readonly commit: string;
  /** RFC 3339: when it was posted or last edited, by anybody */
  readonly at: string;
  readonly body: string;
}

export type FoundComment =
  | { readonly is: 'found'; readonly comment: PlanComment }
  /** `why`: a clause, for messages */
  | { readonly is: 'missing'; readonly why: string };

interface CommentPlace {
  readonly pullRequests: PullRequests;
  readonly pullRequest: PullRequest;
  /** the name of the stack */
  readonly stack: string;
  readonly accounts: CommentAccounts;
  /** the commit that the comment must be about; the head when absent */
  readonly commit?: string;
}

/** Whose comments count. */
interface CommentAccounts {
  /** the account that the user named with `--author` */
  readonly author?: string | undefined;
  /** the usual account of a CI job's token, if the service does not say whose token it is */
  readonly usual?: string | undefined;
}

/** @throws CodeHostError, WireError */
export async function findPlanComment({
  pullRequests,
  pullRequest,
  stack,
  accounts,
  commit = pullRequest.head,
}: CommentPlace): Promise<FoundComment> {
  const missing = (why: string): FoundComment => ({ is: 'missing', why });
  const marked = (await pullRequests.comments(pullRequest)).filter(({ body }) => isMarked(body, stack));
  if (marked.length === 0) return missing(`it has no comment with a plan of stack ${quoted(stack)}`);
  const account = accounts.author ?? (await pullRequests.self()) ?? accounts.usual;
  if (account === undefined)
    return missing('the account that posts the plans is not known; name it with --author');
  const ours = marked.filter(({ author }) => isSameName(author, account));
  if (ours.length === 0)
    return missing(
      `its comment with a plan of stack ${quoted(stack)} is from ${quoted(marked[0]?.author ?? '')}, not from ${quoted(account)}; name the account that posts the plans with --author`,
    );
  const found = ours.flatMap(({ body, createdAt, updatedAt }): readonly PlanComment[] => {
    const shown = readState(body)?.shown;
    if (shown === undefined || shown.commit !== commit || shown.dirty === true) return [];
    const at = Date.parse(updatedAt) > Date.parse(createdAt) ? updatedAt : createdAt;
    return [{ digest: shown.digest, commit, at, body }];
  });
  const [comment, ...others] = found;
  if (comment === undefined)
    return missing(`its comment with a plan of stack ${quoted(stack)} is not about commit ${quoted(commit)}`);
  if (others.some(({ digest }) => digest !== comment.digest))
    return missing(`it has several comments with different plans of stack ${quoted(stack)}`);
  return { is: 'found', comment };
}
