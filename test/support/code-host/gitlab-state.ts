/** The state of a double of GitLab: one project with its people, merge requests, deployments and events. */
import { type HostClock, type KeptComment, openHostClock } from './api-double.ts';

export interface GitlabUser {
  readonly id: number;
  readonly username: string;
  readonly bot: boolean;
  state: string;
}

export interface GitlabCommit {
  readonly sha: string;
  readonly author?: string;
  readonly committer?: string;
  /** the end of its message */
  readonly trailers?: string;
}

export interface GitlabVersion {
  readonly id: number;
  readonly head: string;
  readonly at: string;
}

export interface GitlabApproval {
  readonly by: string;
  readonly at: string;
}

export interface GitlabLabelEvent {
  readonly id: number;
  readonly action: 'add' | 'remove';
  readonly by: string | null;
  readonly label: string | null;
  readonly at: string;
}

export interface GitlabRequest {
  readonly number: number;
  readonly author: string;
  readonly branch: string;
  readonly base: string;
  from: number | null;
  readonly createdAt: string;
  head: string;
  commits: GitlabCommit[];
  merged?: { readonly at: string; readonly commit: string | null; readonly squash: string | null };
  approvals: GitlabApproval[];
  readonly versions: GitlabVersion[];
  readonly notes: KeptComment[];
  readonly labels: Set<string>;
  readonly events: GitlabLabelEvent[];
}

export interface GitlabPush {
  readonly project: number;
  readonly branch: string;
  readonly head: string;
  readonly by: string;
  readonly at: string;
}

export interface GitlabDeployment {
  readonly id: number;
  readonly job: number;
  readonly pipeline: number;
  readonly environment: string;
  readonly commit: string;
  readonly triggeredBy: string;
  startedBy: string;
  readonly approvals: { readonly by: string; readonly status: string; readonly at: string }[];
}

/** The methods do what people do on the pages of GitLab, or with git. */
export class GitlabState {
  readonly project: number;
  readonly path: string;
  readonly clock: HostClock = openHostClock();
  readonly requests = new Map<number, GitlabRequest>();
  readonly deployments: GitlabDeployment[] = [];
  readonly introduced = new Map<string, number>();
  readonly users = new Map<string, GitlabUser>();
  /** access levels in the project, inherited ones included */
  readonly members = new Map<string, number>();
  /** direct members of each group, with their access levels */
  readonly groups = new Map<string, Map<string, number>>();
  /** when each label was changed last */
  readonly labels = new Map<string, string>();
  /** oldest first */
  readonly pushes: GitlabPush[] = [];
  /** commits that were pushed to a branch of the project without a merge request */
  readonly direct: GitlabCommit[] = [];
  /** public SSH keys, by user name */
  readonly keys = new Map<string, readonly string[]>();
  readonly protectedBranches = new Set<string>();
  /** whether it is the edition without approvals of deployments */
  isFree = false;
  /** whether it is a release whose approvals have no time */
  isOld = false;
  #lastId = 300;

  constructor(project: number, path: string) {
    this.project = project;
    this.path = path;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Returns a user, who is created if necessary. */
  user(username: string): GitlabUser {
    const known = this.users.get(username);
    if (known !== undefined) return known;
    const bot = /^(?:project|group)_\d+_bot/.test(username);
    const made = { id: 1 + this.users.size, username, bot, state: 'active' };
    this.users.set(username, made);
    return made;
  }

  openRequest(about: {
    readonly number: number;
    readonly author: string;
    readonly head: string;
    readonly branch?: string;
    readonly base?: string;
    readonly from?: number;
    readonly pushedBy?: string;
    readonly commits?: readonly GitlabCommit[];
  }): GitlabRequest {
    const { number, author, head, branch = `change-${number}`, base = 'main' } = about;
    const from = about.from ?? this.project;
    const by = about.pushedBy ?? author;
    this.pushes.push({ project: from, branch, head, by, at: this.clock.next() });
    const request: GitlabRequest = {
      ...{ number, author, branch, base, from, head },
      createdAt: this.clock.next(),
      commits: [...(about.commits ?? [{ sha: head, author: by, committer: by }])],
      approvals: [],
      versions: [{ id: 1, head, at: this.clock.next() }],
      notes: [],
      labels: new Set(),
      events: [],
    };
    this.requests.set(number, request);
    return request;
  }

  /** Approvals stay, as in a project that keeps them, or in the seconds before GitLab removes them. */
  push(
    request: GitlabRequest,
    {
      by,
      head,
      commits = [{ sha: head, author: by, committer: by }],
      force = false,
    }: {
      readonly by: string;
      readonly head: string;
      readonly commits?: readonly GitlabCommit[];
      readonly force?: boolean;
    },
  ): void {
    this.pushes.push({ project: request.from ?? 0, branch: request.branch, head, by, at: this.clock.next() });
    request.commits = force ? [...commits] : [...request.commits, ...commits];
    request.head = head;
    request.versions.push({ id: 1 + request.versions.length, head, at: this.clock.next() });
  }

  /** Pushes to a branch of the project without a merge request. */
  pushTo(
    branch: string,
    { by, commits }: { readonly by: string; readonly commits: readonly GitlabCommit[] },
  ): void {
    this.direct.push(...commits);
    const head = commits.at(-1)?.sha ?? '';
    this.pushes.push({ project: this.project, branch, head, by, at: this.clock.next() });
  }

  comment(request: GitlabRequest, { by, body }: { readonly by: string; readonly body: string }): KeptComment {
    const at = this.clock.next();
    const made: KeptComment = { id: this.nextId(), body, author: by, createdAt: at, updatedAt: at };
    request.notes.push(made);
    return made;
  }

  editComment(note: KeptComment, body: string): void {
    note.body = body;
    note.updatedAt = this.clock.next();
  }

  approve(request: GitlabRequest, by: string): void {
    request.approvals.push({ by, at: this.clock.next() });
  }

  withdraw(request: GitlabRequest, by: string): void {
    request.approvals = request.approvals.filter((one) => one.by !== by);
  }

  label(request: GitlabRequest, label: string, by: string | null): void {
    if (!this.labels.has(label)) this.labels.set(label, this.clock.next());
    request.labels.add(label);
    request.events.push({ id: this.nextId(), action: 'add', by, label, at: this.clock.next() });
  }

  unlabel(request: GitlabRequest, label: string, by: string): void {
    request.labels.delete(label);
    request.events.push({ id: this.nextId(), action: 'remove', by, label, at: this.clock.next() });
  }

  /** The log shows the current name of a label. */
  renameLabel(label: string, name: string): void {
    this.labels.delete(label);
    this.labels.set(name, this.clock.next());
    for (const request of this.requests.values()) {
      if (request.labels.delete(label)) request.labels.add(name);
      for (const [at, event] of request.events.entries())
        if (event.label === label) request.events[at] = { ...event, label: name };
    }
  }

  /**
   * @param made.commits of the base branch; none for a fast-forward, which has the head itself
   * @param made.squash the one commit that was made of the others
   */
  merge(
    request: GitlabRequest,
    { commits, squash }: { readonly commits: readonly string[]; readonly squash?: string | undefined },
  ): void {
    request.merged = { at: this.clock.next(), commit: commits.at(-1) ?? null, squash: squash ?? null };
    for (const one of [...commits, squash ?? [], ...request.commits.map(({ sha }) => sha)].flat())
      this.introduced.set(one, request.number);
  }

  deploy(about: Omit<GitlabDeployment, 'id' | 'approvals' | 'startedBy'>): GitlabDeployment {
    const made = { ...about, id: this.nextId(), startedBy: about.triggeredBy, approvals: [] };
    this.deployments.push(made);
    return made;
  }

  approveDeployment(deployment: GitlabDeployment, by: string, status = 'approved'): void {
    deployment.approvals.push({ by, status, at: this.clock.next() });
  }
}
