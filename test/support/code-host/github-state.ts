/** The state of a double of GitHub: one repository with its people, pull requests, runs and the log of its branches. */
import { type HostClock, type KeptComment, openHostClock } from './api-double.ts';

export interface GithubCommit {
  readonly sha: string;
  /** user names; an address that GitHub does not know belongs to no user */
  readonly author?: string;
  readonly committer?: string;
  readonly coAuthors?: readonly string[];
}

export interface GithubReview {
  readonly id: number;
  readonly by: string | null;
  state: string;
  readonly commit: string | null;
  readonly at: string;
}

export interface GithubLabelEvent {
  readonly id: number;
  readonly event: string;
  readonly by: string | null;
  readonly label: string;
  readonly at: string;
}

export interface GithubPull {
  readonly number: number;
  readonly author: string;
  readonly branch: string;
  readonly base: string;
  /** `owner/name` of the repository of the head; null when it was deleted */
  from: string | null;
  readonly createdAt: string;
  head: string;
  commits: GithubCommit[];
  merged?: { readonly at: string; readonly commit: string; readonly by: string };
  readonly reviews: GithubReview[];
  readonly comments: KeptComment[];
  readonly labels: Set<string>;
  readonly events: GithubLabelEvent[];
}

export interface GithubRun {
  readonly id: number;
  commit: string;
  readonly startedBy: string;
  restartedBy: string;
  attempt: number;
  readonly approvals: {
    readonly by: string;
    readonly state: string;
    readonly environments: readonly string[];
  }[];
}

export interface GithubPush {
  readonly repository: string;
  readonly ref: string;
  readonly before: string;
  readonly after: string;
  readonly by: string | null;
  readonly kind: string;
  readonly at: string;
}

const zero = '0'.repeat(40);

/** The methods do what people do on the pages of GitHub, or with git. */
export class GithubState {
  readonly repository: string;
  readonly clock: HostClock = openHostClock();
  readonly pulls = new Map<number, GithubPull>();
  readonly runs = new Map<number, GithubRun>();
  /** the commits of the base branch, with the pull request that introduced each */
  readonly introduced = new Map<string, number>();
  readonly permissions = new Map<string, string>();
  /** `Bot` for logins that are not a `User` */
  readonly types = new Map<string, string>();
  /** `organization/team` with its members; `pending` has not accepted the invitation */
  readonly teams = new Map<string, Map<string, 'active' | 'pending'>>();
  /** when each label was changed last */
  readonly labels = new Map<string, string>();
  /** oldest first */
  readonly pushes: GithubPush[] = [];
  /** commits that were pushed to the base branch without a pull request */
  readonly direct = new Map<string, GithubCommit>();
  /** public SSH keys, as GitHub shows them */
  readonly keys = new Map<string, readonly string[]>();
  /** protected branches, by the older branch protection or by a ruleset */
  readonly protection = new Map<string, 'flag' | 'ruleset'>();
  #lastId = 1000;

  constructor(repository: string) {
    this.repository = repository;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  typeOf(login: string): string {
    return this.types.get(login) ?? (login.endsWith('[bot]') ? 'Bot' : 'User');
  }

  /** Pushes the branch, and opens a pull request for it. */
  openPull(about: {
    readonly number: number;
    readonly author: string;
    readonly head: string;
    readonly branch?: string;
    readonly base?: string;
    readonly from?: string;
    readonly pushedBy?: string;
    readonly commits?: readonly GithubCommit[];
  }): GithubPull {
    const { number, author, head, branch = `change-${number}`, base = 'main' } = about;
    const from = about.from ?? this.repository;
    const by = about.pushedBy ?? author;
    this.#log({ repository: from, branch, before: zero, after: head, by, kind: 'branch_creation' });
    const pull: GithubPull = {
      ...{ number, author, branch, base, from, head },
      createdAt: this.clock.next(),
      commits: [...(about.commits ?? [{ sha: head, author: by, committer: by }])],
      reviews: [],
      comments: [],
      labels: new Set(),
      events: [],
    };
    this.pulls.set(number, pull);
    return pull;
  }

  /** Adds commits to the branch, or replaces all of them. */
  push(
    pull: GithubPull,
    {
      by,
      head,
      commits = [{ sha: head, author: by, committer: by }],
      force = false,
    }: {
      readonly by: string;
      readonly head: string;
      readonly commits?: readonly GithubCommit[];
      readonly force?: boolean;
    },
  ): void {
    const { from, branch } = pull;
    const kind = force ? 'force_push' : 'push';
    this.#log({ repository: from ?? '', branch, before: pull.head, after: head, by, kind });
    pull.commits = force ? [...commits] : [...pull.commits, ...commits];
    pull.head = head;
  }

  /** Pushes to a branch of the repository without a pull request. */
  pushTo(
    branch: string,
    { by, commits }: { readonly by: string; readonly commits: readonly GithubCommit[] },
  ): void {
    for (const one of commits) this.direct.set(one.sha, one);
    const after = commits.at(-1)?.sha ?? zero;
    this.#log({ repository: this.repository, branch, before: zero, after, by, kind: 'push' });
  }

  commit(sha: string): GithubCommit | undefined {
    const inPulls = [...this.pulls.values()].flatMap(({ commits }) => commits);
    const known = this.direct.get(sha) ?? inPulls.find((one) => one.sha === sha);
    return known ?? (this.pushes.some(({ after }) => after === sha) ? { sha } : undefined);
  }

  comment(pull: GithubPull, { by, body }: { readonly by: string; readonly body: string }): KeptComment {
    const at = this.clock.next();
    const made: KeptComment = { id: this.nextId(), body, author: by, createdAt: at, updatedAt: at };
    pull.comments.push(made);
    return made;
  }

  /** Anybody who may write may also edit the comments of others. */
  editComment(comment: KeptComment, body: string): void {
    comment.body = body;
    comment.updatedAt = this.clock.next();
  }

  review(
    pull: GithubPull,
    {
      by,
      state = 'APPROVED',
      commit = pull.head,
    }: {
      readonly by: string | null;
      readonly state?: string;
      readonly commit?: string | null;
    },
  ): GithubReview {
    const made = { id: this.nextId(), by, state, commit, at: this.clock.next() };
    pull.reviews.push(made);
    return made;
  }

  label(pull: GithubPull, label: string, by: string | null): void {
    if (!this.labels.has(label)) this.labels.set(label, this.clock.next());
    pull.labels.add(label);
    pull.events.push({ id: this.nextId(), event: 'labeled', by, label, at: this.clock.next() });
  }

  unlabel(pull: GithubPull, label: string, by: string): void {
    pull.labels.delete(label);
    pull.events.push({ id: this.nextId(), event: 'unlabeled', by, label, at: this.clock.next() });
  }

  /** Pull requests with the label, and their logs, then show the new name. */
  renameLabel(label: string, name: string): void {
    this.labels.delete(label);
    this.labels.set(name, this.clock.next());
    for (const pull of this.pulls.values()) {
      if (pull.labels.delete(label)) pull.labels.add(name);
      for (const [at, event] of pull.events.entries())
        if (event.label === label) pull.events[at] = { ...event, label: name };
    }
  }

  /** @param commits that the merge added to the base branch, the newest last */
  merge(
    pull: GithubPull,
    { by, commits }: { readonly by: string; readonly commits: readonly string[] },
  ): void {
    const commit = commits.at(-1) ?? '';
    pull.merged = { at: this.clock.next(), commit, by };
    for (const one of commits) this.introduced.set(one, pull.number);
    this.#log({
      repository: this.repository,
      branch: pull.base,
      before: zero,
      after: commit,
      by,
      kind: 'pr_merge',
    });
  }

  /** Deletes the branch of a pull request, as after a merge. */
  deleteBranch(pull: GithubPull, by: string): void {
    const { from, branch, head } = pull;
    this.#log({ repository: from ?? '', branch, before: head, after: zero, by, kind: 'branch_deletion' });
  }

  startRun(about: { readonly id: number; readonly commit: string; readonly by: string }): GithubRun {
    const { id, commit, by } = about;
    const run = { id, commit, startedBy: by, restartedBy: by, attempt: 1, approvals: [] };
    this.runs.set(id, run);
    return run;
  }

  restartRun(run: GithubRun, by: string): void {
    run.attempt += 1;
    run.restartedBy = by;
  }

  approveRun(
    run: GithubRun,
    {
      by,
      environment,
      state = 'approved',
    }: {
      readonly by: string;
      readonly environment: string;
      readonly state?: string;
    },
  ): void {
    run.approvals.push({ by, state, environments: [environment] });
  }

  #log({ branch, ...about }: Omit<GithubPush, 'ref' | 'at'> & { readonly branch: string }): void {
    this.pushes.push({ ...about, ref: `refs/heads/${branch}`, at: this.clock.next() });
  }
}
