/** The signatures that count for an apply: of heads of its pull requests, or of commits that were merged since the last apply. */
import { posix } from 'node:path';
import type { PullRequest, PullRequests } from '../../api/code-host/pull-requests.ts';
import { type CommitAuthors, readCommitAuthors } from '../../approvals/allowed-signers.ts';
import { readMakers } from '../../approvals/people.ts';
import { type Proposal, readSignatures, type SignerRules } from '../../approvals/signatures.ts';
import { stackRepository } from '../../ledger/git/checkout.ts';
import type { CommitRange, RangeCommit } from '../../ledger/git/commits-since.ts';
import { fileAtCommit } from '../../ledger/git/file-at-commit.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import type { ApprovalRules, RefusedApproval } from '../../model/approval.ts';
import type { Found, MergedPull } from './find-approval.ts';

/** Who wrote the commits of a range. */
export interface RangeAuthors {
  /** of what each commit of the line merged, by the index of the line */
  readonly merged: readonly CommitAuthors[];
  /** of all commits, merges included */
  readonly all: CommitAuthors;
}

/** @throws ApprovalsError */
export async function readRangeAuthors({ line, all }: CommitRange, git: GitContext): Promise<RangeAuthors> {
  const idsOf = (commits: readonly RangeCommit[]) => commits.map(({ id }) => id);
  const merged: CommitAuthors[] = [];
  // Who merges what another person wrote may approve it.
  for (const index of line.keys())
    merged.push(
      await readCommitAuthors(git, idsOf(all.filter((one) => one.merged === index && !one.isMerge))),
    );
  return { merged, all: await readCommitAuthors(git, idsOf(all)) };
}

export interface SignatureInput {
  readonly stack: string;
  readonly rules: ApprovalRules;
  /** the clone */
  readonly at: GitContext;
  /** the root of the repository */
  readonly root: string;
  readonly stackFile: string;
  readonly head: string;
  readonly range: CommitRange;
  readonly authors: RangeAuthors;
  readonly path: string;
  readonly pathBefore: string | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** What the code host knows of the pull requests. */
interface KnownPulls {
  readonly pullRequests: PullRequests;
  readonly known: ReadonlyMap<number, PullRequest>;
}

/** @throws ApprovalsError, CodeHostError, WireError, LedgerError */
export async function findSignatures(
  pulls: readonly MergedPull[],
  input: SignatureInput,
  host: KnownPulls | undefined,
): Promise<Found> {
  const { rules, at, root, stackFile, range, head, path, pathBefore, stack, now, signal } = input;
  const repository = await stackRepository(at, root, stackFile);
  const base = await signersAt(range.base, pathBefore, input);
  const { proposals, refused } = await proposalsOf(pulls, base, input, host);
  const found = await readSignatures({
    ...{ stack, git: at, proposals, now, signal },
    repository: { remotes: repository?.remotes ?? [], path },
    remote: 'origin',
    head: { ...(await signersAt(head, path, input)), selfApprove: rules.selfApprove === true },
  });
  return { ...found, refused: [...refused, ...found.refused] };
}

/** The keys that the stack admits at a commit, in the files that it names both then and now. */
async function signersAt(
  commit: string | undefined,
  stackPath: string | undefined,
  { at, rules: { from = [], selfApprove } }: SignatureInput,
): Promise<SignerRules> {
  const texts: string[] = [];
  for (const one of from) {
    if (!('signers' in one) || commit === undefined || stackPath === undefined) continue;
    const file = posix.join(posix.dirname(stackPath), one.signers);
    texts.push((await fileAtCommit(at, commit, file)) ?? '');
  }
  return { allowed: texts.join('\n'), selfApprove: selfApprove === true };
}

async function proposalsOf(
  pulls: readonly MergedPull[],
  base: SignerRules,
  { head, range, authors }: SignatureInput,
  host: KnownPulls | undefined,
): Promise<{ readonly proposals: readonly Proposal[]; readonly refused: readonly RefusedApproval[] }> {
  const proposals: Proposal[] = [];
  const refused: RefusedApproval[] = [];
  const everybody = { names: [...authors.all.names], keys: [...authors.all.keys] };
  for (const { number, head: own } of pulls) {
    const pullRequest = host?.known.get(number);
    if (host === undefined || pullRequest === undefined) continue;
    const makers = await readMakers(host.pullRequests, pullRequest);
    if (makers.is === 'unknown' && !base.selfApprove) {
      refused.push({
        method: 'signature',
        pullRequest: number,
        why: `its makers are not known: ${makers.why}`,
      });
      continue;
    }
    const { commits } = await host.pullRequests.commits(pullRequest);
    const emails = commits.flatMap(({ author, committer }) =>
      [author.email ?? [], committer.email ?? []].flat(),
    );
    const names = [...emails, ...(makers.is === 'known' ? makers.people : [pullRequest.author])];
    everybody.names.push(...names);
    // The keys of all branches: one of them signed the commits of this pull request, if it is the key of its author.
    const keys = authors.merged.flatMap((one) =>
      one.keys.filter(() => one.names.some((name) => names.includes(name))),
    );
    proposals.push({ pullRequest: number, heads: [own], base, authors: { names, keys } });
  }
  if (host === undefined)
    for (const [index, { id }] of range.line.entries()) {
      const heads = range.all.filter((one) => one.merged === index && one.id !== head).map((one) => one.id);
      const own = authors.merged[index] ?? authors.all;
      if (heads.length > 0 && id !== undefined) proposals.push({ heads, base, authors: own });
    }
  // A person who looked at the plan of the protected branch itself must have written nothing of it.
  const isHeadOfPull = pulls.some((pull) => pull.head === head);
  if (!isHeadOfPull) proposals.push({ heads: [head], base, authors: everybody });
  return { proposals, refused };
}
