/** Checks who may approve: people that the stack admits, and that did not make what they approve. */
import {
  isSameName,
  peopleOf,
  type PullRequest,
  type PullRequestCommit,
  type PullRequests,
} from '../api/code-host/pull-requests.ts';
import type { ApprovalRules } from '../model/approval.ts';
import { quoted } from '../model/quoted.ts';

/** The author of a pull request and the people who wrote or pushed its commits. `unknown` has the reason as a clause. */
export type Contributors =
  | { readonly is: 'known'; readonly people: readonly string[] }
  | { readonly is: 'unknown'; readonly why: string };

/** The author of the pull request, the people in its commits, and the users who pushed them. @throws CodeHostError, WireError */
export async function readContributors(
  pullRequests: PullRequests,
  pullRequest: PullRequest,
): Promise<Contributors> {
  const { commits, why } = await pullRequests.commits(pullRequest);
  if (why !== undefined) return { is: 'unknown', why };
  const pushes = await pullRequests.pushes(
    pullRequest,
    commits.map(({ commit }) => commit),
  );
  if (pushes.is === 'unknown') return pushes;
  return { is: 'known', people: [...new Set([pullRequest.author, ...loginsOf(commits), ...pushes.by])] };
}

/** Reads the contributors at the first call, and only once. */
export function contributorsOnce(read: () => Promise<Contributors>): () => Promise<Contributors> {
  let made: Promise<Contributors> | undefined;
  return () => {
    made ??= read();
    return made;
  };
}

function loginsOf(commits: readonly PullRequestCommit[]): string[] {
  return commits.flatMap(peopleOf).flatMap(({ login }) => login ?? []);
}

/** Consecutive commits that were pushed directly to the protected branch. */
interface DirectPush {
  /** the repository, as `from` of a pull request names it */
  readonly from: string;
  readonly branch: string;
  /** the commits on the branch itself, oldest first; at least one */
  readonly line: readonly string[];
  /** these, and the commits that they merged */
  readonly all: readonly string[];
  /** RFC 3339 */
  readonly now: string;
}

/** The contributors of commits without a pull request. @throws CodeHostError, WireError */
export async function readDirectContributors(
  pullRequests: PullRequests,
  { from, branch, line, all, now }: DirectPush,
): Promise<Contributors> {
  const pushes = await pullRequests.pushes({ from, branch, head: line.at(-1) ?? '', createdAt: now }, line);
  if (pushes.is === 'unknown') return pushes;
  const commits: PullRequestCommit[] = [];
  for (const id of all) commits.push(await pullRequests.commit(id));
  return { is: 'known', people: [...new Set([...loginsOf(commits), ...pushes.by])] };
}

/** Why no user may approve while the contributors are unknown, as a clause. */
export function whyUnknown({ why }: Extract<Contributors, { readonly is: 'unknown' }>): string {
  return `it is not known who made what is approved, and these people may not approve it: ${why}`;
}

/**
 * Why a user is one of the contributors, or may be one, as a clause; undefined if the user is not.
 * @param pullRequest how the clause names the pull request of the contributors
 */
export function whyContributor(
  user: string,
  contributors: Contributors,
  pullRequest = 'the pull request',
): string | undefined {
  if (contributors.is === 'unknown') return whyUnknown(contributors);
  return contributors.people.some((one) => isSameName(one, user))
    ? `${quoted(user)} is the author of ${pullRequest}, or wrote or pushed a commit of it`
    : undefined;
}

/**
 * Why a user may not approve, as a clause; undefined when the user may.
 * @param mustWrite whether users that the stack names also need write permission, because a user name that was given up may belong to
 * another person now. False where the code host itself admits reviewers by id.
 * @throws CodeHostError, WireError
 */
export async function whyNotAdmitted(
  user: string,
  pullRequests: PullRequests,
  { from = [] }: Pick<ApprovalRules, 'from'>,
  { mustWrite }: { readonly mustWrite: boolean },
): Promise<string | undefined> {
  if (await pullRequests.isBot(user)) return `${quoted(user)} is not a person`;
  const users = from.flatMap((one) => ('user' in one ? [one.user] : []));
  const teams = from.flatMap((one) => ('team' in one ? [one.team] : []));
  const isOpen = users.length === 0 && teams.length === 0;
  const isNamed = users.some((one) => isSameName(one, user));
  if (!isOpen && !isNamed && !(await isInAny(teams, user, pullRequests)))
    return `${quoted(user)} is not among the users and teams in "from" of spec.approvals, as far as the token can see`;
  if (!isOpen && !mustWrite) return undefined;
  return (await mayWrite(user, pullRequests)) ? undefined : `${quoted(user)} has no write permission`;
}

/** @throws CodeHostError, WireError */
async function mayWrite(user: string, pullRequests: PullRequests): Promise<boolean> {
  const permission = await pullRequests.permission(user);
  return permission === 'write' || permission === 'admin';
}

async function isInAny(teams: readonly string[], user: string, pullRequests: PullRequests): Promise<boolean> {
  for (const team of teams) if (await pullRequests.isMember(team, user)) return true;
  return false;
}
