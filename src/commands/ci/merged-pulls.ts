/**
 * Finds the pull requests and direct pushes that brought what is applied, and who made them. Only those that changed the stack matter:
 * others need no approval, and their contributors may approve changes of the stack.
 */
import type { PullRequest, PullRequests } from '../../api/code-host/pull-requests.ts';
import {
  type Contributors,
  contributorsOnce,
  readDirectContributors,
  readContributors,
  whyContributor,
} from '../../approvals/people.ts';
import type { CommitRange, RangeCommit } from '../../ledger/git/commits-since.ts';
import { type Approval, directPushes } from '../../model/approval.ts';
import type { CliHost } from '../../run/host.ts';
import type { HostPlace } from '../../run/pull-request.ts';
import { commitsOfStack } from './choose-stacks.ts';
import type { MergedPull } from './count-approvals.ts';
import type { KnownPulls, SignatureInput } from './signature-source.ts';

interface MergedInput {
  readonly signatures: SignatureInput;
  readonly place: HostPlace;
  readonly host: CliHost;
  /** the protected branch */
  readonly branch: string;
}

/** `known` and `direct` are empty until `pulls` was called. */
interface MergedPulls extends Omit<KnownPulls, 'pullRequests'> {
  /** The pull requests, in the order of their merges. @throws CodeHostError, WireError, LedgerError */
  pulls(): Promise<readonly MergedPull[]>;
  /** the commits of the line that change the stack */
  ofStack(): Promise<readonly RangeCommit[]>;
  /** The other parts of the apply that were made by the person who gave the approval, as in `Approval.parts`. */
  partsOf(approval: Approval): Promise<number[]>;
}

export function openMergedPulls(pullRequests: PullRequests, input: MergedInput): MergedPulls {
  const {
    host,
    branch,
    signatures,
    signatures: { range },
  } = input;
  const known = new Map<number, PullRequest>();
  const direct = new Set<number>();
  const contributorsOf = new Map<number, () => Promise<Contributors>>();
  const found: MergedPull[] = [];
  const requested = new Map<string, Promise<readonly PullRequest[]>>();
  let commits: Promise<readonly RangeCommit[]> | undefined;
  const ofStack = () => {
    commits ??= commitsOfStack(signatures, host);
    return commits;
  };
  const pullsOfCommit = (commit: string) => {
    const brought = requested.get(commit) ?? pullRequests.ofCommit(commit, branch);
    requested.set(commit, brought);
    return brought;
  };
  /** @param at their position in the order of the merges */
  const addPulls = (brought: readonly PullRequest[], merged: number, at = found.length) => {
    for (const one of brought.filter(({ number }) => !known.has(number)).toReversed()) {
      const { number, head } = one;
      known.set(number, one);
      found.splice(at, 0, { number, head, merged });
      contributorsOf.set(
        number,
        contributorsOnce(() => readContributors(pullRequests, one)),
      );
    }
  };
  /** Finds the pull requests and direct pushes of the commits on the line. */
  const findOnLine = async () => {
    const { line } = range;
    for (const { id, merged } of await ofStack()) {
      const brought = await pullsOfCommit(id);
      addPulls(brought, merged);
      // The code host knows a push by its last commit, which may change only other files, so the following commits count as well.
      for (let index = merged; brought.length === 0 && index < line.length; index += 1) {
        if (index > merged && (await pullsOfCommit(line[index]?.id ?? '')).length > 0) break;
        direct.add(index);
      }
    }
  };
  /** Finds those of the commits that a merge on the line brought with it. */
  const findInside = async () => {
    const changing = new Set((await ofStack()).map(({ merged }) => merged));
    const inside = range.all.filter(({ merged }) => changing.has(merged) && !direct.has(merged));
    for (const { id, merged } of await unlistedCommits(inside, { pullRequests, range, known })) {
      const brought = await pullsOfCommit(id);
      const next = found.findIndex((one) => one.merged >= merged);
      addPulls(brought, merged, next === -1 ? found.length : next);
      if (brought.length === 0) direct.add(merged);
    }
  };
  const directContributors = contributorsOnce(() => readContributorsOfDirect(direct, pullRequests, input));
  return {
    ...{ known, direct, directContributors, ofStack },
    pulls: async () => {
      await findOnLine();
      await findInside();
      return found;
    },
    partsOf: async ({ by, pullRequest }) => {
      const isContributor = async (read: () => Promise<Contributors>) =>
        whyContributor(by, await read()) !== undefined;
      const parts = direct.size > 0 && (await isContributor(directContributors)) ? [directPushes] : [];
      for (const [part, { number }] of found.entries()) {
        const read = contributorsOf.get(number);
        if (number !== pullRequest && read !== undefined && (await isContributor(read))) parts.push(part);
      }
      return parts;
    },
  };
}

/**
 * The commits that a merge of the line brought, and that its pull request does not list. A fast-forwarded branch may have merged the
 * protected branch, and then the merges of pull requests into the protected branch are not on the line.
 */
async function unlistedCommits(
  inside: readonly RangeCommit[],
  {
    pullRequests,
    range: { line },
    known,
  }: {
    readonly pullRequests: PullRequests;
    readonly range: CommitRange;
    readonly known: ReadonlyMap<number, PullRequest>;
  },
): Promise<readonly RangeCommit[]> {
  const onLine = new Set(line.map(({ id }) => id));
  const others = inside.filter(({ id }) => !onLine.has(id));
  if (others.length === 0) return [];
  const listed = new Set<string>();
  for (const one of known.values())
    for (const { commit } of (await pullRequests.commits(one)).commits) listed.add(commit);
  return others.filter(({ id }) => !listed.has(id));
}

/**
 * The people who made or pushed the commits that no pull request brought. Neighbouring commits are read together, because one push may
 * have brought several.
 * @param direct indices of the line
 */
async function readContributorsOfDirect(
  direct: ReadonlySet<number>,
  pullRequests: PullRequests,
  {
    branch,
    signatures: {
      range: { line, all },
    },
    place: { repository: from },
    host,
  }: MergedInput,
): Promise<Contributors> {
  const people: string[] = [];
  for (const { merged: last } of line.filter(({ merged }) => direct.has(merged) && !direct.has(merged + 1))) {
    let first = last;
    while (direct.has(first - 1)) first -= 1;
    const idsOf = (commits: readonly RangeCommit[]) =>
      commits.filter(({ merged }) => merged >= first && merged <= last).map(({ id }) => id);
    const contributors = await readDirectContributors(pullRequests, {
      ...{ from, branch, line: idsOf(line), all: idsOf(all) },
      now: new Date(host.now()).toISOString(),
    });
    if (contributors.is === 'unknown') return contributors;
    people.push(...contributors.people);
  }
  return { is: 'known', people };
}
