/**
 * The data about pull requests that approvals need, in the same types for GitHub and GitLab. Each method throws when its answer
 * cannot be read in full; an absent member means that the code host does not say it. People are user names: compare them with
 * `isSameName`.
 */

/** A pull request of GitHub, or a merge request of GitLab. */
export interface PullRequest {
  readonly number: number;
  /** the address of its web page */
  readonly url?: string;
  readonly author: string;
  /** its newest commit; of a merged one, the newest at the merge */
  readonly head: string;
  /** the branch of the head, without `refs/heads/` */
  readonly branch: string;
  /** the repository of the head: `owner/name`, or the id of a project; absent when it was deleted */
  readonly from?: string;
  /** the branch that it is merged into */
  readonly base: string;
  /** the repository of that branch, in the form of `from` */
  readonly to: string;
  /** RFC 3339 */
  readonly createdAt: string;
  /** absent until it is merged */
  readonly merged?: Merge;
}

interface Merge {
  /** the merge commit, the squashed commit, or the last of the commits that were put on the base branch */
  readonly commit: string;
  /** RFC 3339 */
  readonly at: string;
}

/** Who made a commit, as the commit says. This is not verified. */
export interface CommitPerson {
  readonly email?: string;
  /** the user of the code host with that email address */
  readonly login?: string;
}

export interface PullRequestCommit {
  readonly commit: string;
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  /** the co-authors that its message names */
  readonly coAuthors: readonly CommitPerson[];
}

/** A branch whose pushes are read. */
export type PushedBranch = Pick<PullRequest, 'from' | 'branch' | 'head' | 'createdAt'>;

export interface PullRequestCommits {
  /** oldest first */
  readonly commits: readonly PullRequestCommit[];
  /** why the list is not complete, as a clause */
  readonly why?: string;
}

/** Who pushed. `unknown` means that the code host does not say it, with the reason as a clause. */
export type Pushes =
  | {
      readonly is: 'known';
      /** each user who pushed one of these commits, or made the branch point at it */
      readonly by: readonly string[];
    }
  | { readonly is: 'unknown'; readonly why: string };

/** A review with a decision; reviews that only comment are left out. */
export interface Review {
  /** absent when the account was deleted */
  readonly by?: string;
  readonly state: 'approved' | 'changes-requested' | 'dismissed';
  /** the commit that was reviewed */
  readonly commit?: string;
  /** why no commit is known, as a clause */
  readonly why?: string;
  /** RFC 3339; absent if the code host does not say it */
  readonly at?: string;
}

/** An entry of the log of label changes. */
export interface LabelEvent {
  readonly label: string;
  readonly action: 'added' | 'removed';
  /** absent when the account was deleted */
  readonly by?: string;
  /** RFC 3339 */
  readonly at: string;
}

interface Labels {
  /** the names of its present labels */
  readonly now: readonly string[];
  /** oldest first */
  readonly events: readonly LabelEvent[];
}

/** A comment that people see. */
export interface Comment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  /** RFC 3339 */
  readonly createdAt: string;
  /** RFC 3339: when anybody last edited it */
  readonly updatedAt: string;
}

/** The decisions of an environment's reviewers about a job that waited for them. */
export interface RunApprovals {
  /** the commit that the run is for */
  readonly commit: string;
  /** who started the run, and who started it again */
  readonly startedBy: readonly string[];
  /** how often the run was started; an approval on GitHub covers every start */
  readonly attempt: number;
  readonly decisions: readonly RunDecision[];
}

export interface RunDecision {
  readonly by: string;
  readonly state: 'approved' | 'rejected';
  /** RFC 3339; GitHub does not say it */
  readonly at?: string;
}

/** Where the decisions about a waiting job are found. */
export interface RunPlace {
  /** for GitHub Actions the id of the run, for GitLab the id of the job */
  readonly id: number;
  /** all environments when absent */
  readonly environment?: string;
}

export type Permission = 'none' | 'read' | 'write' | 'admin';

/** All methods throw CodeHostError or WireError. They send GET, and a GraphQL query for `labelChangedAt`. */
export interface PullRequests {
  /** The merged pull requests that brought a commit to this base branch, by number. */
  ofCommit(commit: string, base: string): Promise<readonly PullRequest[]>;
  get(number: number): Promise<PullRequest>;
  commits(pullRequest: PullRequest): Promise<PullRequestCommits>;
  /** One commit of the repository. */
  commit(id: string): Promise<PullRequestCommit>;
  /** Who pushed one of these commits, or the head, as the newest commit of a push; unknown if no push of the head is found. */
  pushes(branch: PushedBranch, commits: readonly string[]): Promise<Pushes>;
  /** Reviews with a decision, oldest first; one person may have several. */
  reviews(pullRequest: PullRequest): Promise<readonly Review[]>;
  comments(pullRequest: PullRequest): Promise<readonly Comment[]>;
  /** The user that the token belongs to; undefined if the code host does not say. */
  self(): Promise<string | undefined>;
  labels(pullRequest: PullRequest): Promise<Labels>;
  /** When a label got its present name, or was changed in another way: RFC 3339; undefined where the code host does not say. */
  labelChangedAt(label: string): Promise<string | undefined>;
  /** Whether the account does not belong to a person. */
  isBot(user: string): Promise<boolean>;
  permission(user: string): Promise<Permission>;
  /** The public SSH keys of an account, for logins and for signatures: base64. Empty for an account that no longer exists. */
  keys(user: string): Promise<readonly string[]>;
  /** Whether rules protect a branch; undefined where the token may not see it. */
  isProtected(branch: string): Promise<boolean | undefined>;
  /** False also where the token may not see the team. @param team `organization/team`, or the path of a group */
  isMember(team: string, user: string): Promise<boolean>;
  /** @returns undefined where the job has no deployment to this environment */
  runApprovals(run: RunPlace): Promise<RunApprovals | undefined>;
}

/** The code host refuses, fails, redirects, or gives an answer that its documentation does not describe. */
export class CodeHostError extends Error {
  override readonly name = 'CodeHostError';
}

/** The email addresses of the co-authors that a commit message names. */
export function coAuthorsIn(message: string): string[] {
  return [...message.matchAll(/^co-authored-by:[^\n]*<([^<>\n]+)>/gim)].map(([, email = '']) => email);
}

/** All people of a commit. */
export function peopleOf({ author, committer, coAuthors }: PullRequestCommit): readonly CommitPerson[] {
  return [author, committer, ...coAuthors];
}

/** Code hosts ignore the case of the names of users, repositories and environments. */
export function isSameName(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase();
}
