/** The signatures that count for an apply: for heads of its pull requests, or for commits that were merged since the last apply. */
import { posix } from 'node:path';
import {
  isSameName,
  peopleOf,
  type PullRequest,
  type PullRequests,
} from '../../api/code-host/pull-requests.ts';
import { type CommitAuthors, readCommitAuthors } from '../../approvals/allowed-signers.ts';
import { type Contributors, readContributors, whyUnknown } from '../../approvals/people.ts';
import { type Proposal, readSignatures, type SignerRules } from '../../approvals/signatures.ts';
import { addressesOfRemote } from '../../ledger/git/checkout.ts';
import type { CommitRange, RangeCommit } from '../../ledger/git/commits-since.ts';
import { fileAtCommit } from '../../ledger/git/read-commits.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import { type ApprovalRules, directPushes, type RefusedApproval } from '../../model/approval.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { MergedPull } from './count-approvals.ts';
import type { Found } from './find-approval.ts';

/** Who wrote the commits of a range. */
export interface RangeAuthors {
  /** authors of what each commit of the line merged, by its index in the line */
  readonly merged: readonly CommitAuthors[];
  /** authors of all commits, including merges */
  readonly all: CommitAuthors;
}

/** @throws ApprovalsError */
export async function readRangeAuthors({ line, all }: CommitRange, git: GitContext): Promise<RangeAuthors> {
  const idsOf = (commits: readonly RangeCommit[]) => commits.map(({ id }) => id);
  const merged: CommitAuthors[] = [];
  // Merge commits do not count: a person who merges the work of another person may approve it.
  for (const index of line.keys())
    merged.push(
      await readCommitAuthors(git, idsOf(all.filter((one) => one.merged === index && !one.isMerge))),
    );
  return { merged, all: await readCommitAuthors(git, idsOf(all)) };
}

/** A stack file of a commit. */
export interface StackPlace {
  readonly commit: string;
  /** from the root of the repository */
  readonly path: string;
}

export interface SignatureInput {
  readonly stack: string;
  /** its former name, while the stack file has `renamedFrom` */
  readonly renamedFrom?: string | undefined;
  readonly rules: ApprovalRules;
  /** the clone */
  readonly at: GitContext;
  /** the remote that keeps the approvals; each approval names its address */
  readonly remote: string;
  readonly head: string;
  readonly range: CommitRange;
  readonly authors: RangeAuthors;
  /** path of the stack file, from the root of the repository */
  readonly path: string;
  /** the stack file whose signers counted before; undefined if there was no stack */
  readonly baseline: StackPlace | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** What the code host knows about the commits that are applied. */
export interface KnownPulls {
  readonly pullRequests: PullRequests;
  /** by their numbers */
  readonly known: ReadonlyMap<number, PullRequest>;
  /** indices in the line of the commits that no pull request brought */
  readonly direct: ReadonlySet<number>;
  /** The people who made and pushed those commits. */
  directContributors(): Promise<Contributors>;
}

/** What is needed to compare signatures with commits. */
interface SignatureQuestion extends SignatureInput {
  /** the commits of the line that change the stack */
  readonly ofStack: readonly RangeCommit[];
}

/** @throws ApprovalsError, CodeHostError, WireError, LedgerError */
export async function findSignatures(
  pulls: readonly MergedPull[],
  input: SignatureQuestion,
  host: KnownPulls | undefined,
): Promise<Found> {
  const { rules, at, remote, head, path, baseline, stack, now, signal } = input;
  const remotes = await addressesOfRemote(at, remote);
  if (remotes.length === 0)
    throw new CommandStop(
      'approval-place',
      `nothing was written: this clone has no remote ${quoted(remote)}, which keeps the approvals: name one with --remote`,
    );
  const base = await signersAt(baseline, input);
  const { proposals, refused } = await proposalsOf(pulls, base, input, host);
  const found = await readSignatures({
    ...{ stack, git: at, proposals, now, signal },
    repository: { remotes, path },
    remote,
    head: { ...(await signersAt({ commit: head, path }, input)), selfApprove: rules.selfApprove === true },
  });
  return { ...found, refused: [...refused, ...found.refused] };
}

/** The keys that the stack admits at a commit: the content that the files of signers in its rules have there. */
async function signersAt(
  place: StackPlace | undefined,
  { at, rules: { from = [], selfApprove } }: SignatureInput,
): Promise<SignerRules> {
  const texts: string[] = [];
  for (const one of from) {
    if (!('signers' in one) || place === undefined) continue;
    const file = posix.join(posix.dirname(place.path), one.signers);
    texts.push((await fileAtCommit(at, place.commit, file)) ?? '');
  }
  return { allowed: texts.join('\n'), selfApprove: selfApprove === true };
}

interface Proposals {
  readonly proposals: readonly Proposal[];
  readonly refused: readonly RefusedApproval[];
}

/** What a signature can approve: each part of the apply and, if all of its contributors are known, the whole at the head. */
async function proposalsOf(
  pulls: readonly MergedPull[],
  base: SignerRules,
  input: SignatureQuestion,
  host: KnownPulls | undefined,
): Promise<Proposals> {
  const { head, authors } = input;
  // Without signers no signature counts, so the contributors are not read.
  const hasSigners = base.allowed.trim() !== '';
  const direct: Contributors = (hasSigners ? await host?.directContributors() : undefined) ?? {
    is: 'known',
    people: [],
  };
  const found =
    host === undefined
      ? { proposals: proposalsOfCommits(base, input), refused: [] }
      : await proposalsOfPulls(pulls, { base, authors, host });
  const directPart = host && (await directProposal(direct, base, { authors, host }));
  const soFar = { ...found, proposals: [...found.proposals, ...(directPart ? [directPart] : [])] };
  if (pulls.some((pull) => pull.head === head)) return soFar;
  // If some contributors are not known, the signer may be one of them, so the whole cannot be approved.
  if (
    !base.selfApprove &&
    soFar.proposals.some((one) => one.authors === undefined && one.part !== directPushes)
  )
    return soFar;
  if (direct.is === 'unknown' && !base.selfApprove)
    return { ...soFar, refused: [...soFar.refused, { method: 'signature', why: whyUnknown(direct) }] };
  // A person who signs the plan of the protected branch itself must have written none of its commits.
  const partContributors = soFar.proposals.flatMap((one) => one.authors ?? []);
  const people = direct.is === 'known' ? direct.people : [];
  const all = {
    names: [...authors.all.names, ...people, ...partContributors.flatMap(({ names }) => names)],
    keys: [
      ...authors.all.keys,
      ...(await accountKeys(people, host)),
      ...partContributors.flatMap(({ keys }) => keys),
    ],
  };
  return { ...soFar, proposals: [...soFar.proposals, { heads: [head], base, authors: all }] };
}

/** The direct pushes as a part of the apply: no approval can be for them, but their contributors are compared with each signer. */
async function directProposal(
  made: Contributors,
  base: SignerRules,
  { authors: { merged }, host }: { readonly authors: RangeAuthors; readonly host: KnownPulls },
): Promise<Proposal | undefined> {
  if (host.direct.size === 0) return undefined;
  const own = [...host.direct].flatMap((index) => merged[index] ?? []);
  const about = { heads: [], base, part: directPushes };
  if (made.is === 'unknown') return { ...about, authors: undefined };
  const keys = [...(await accountKeys(made.people, host)), ...own.flatMap((one) => one.keys)];
  return { ...about, authors: { names: [...made.people, ...own.flatMap(({ names }) => names)], keys } };
}

/** The public keys of accounts: they identify people whose name on the code host differs from the name in the file of signers. */
async function accountKeys(people: readonly string[], host: KnownPulls | undefined): Promise<string[]> {
  const keys: string[] = [];
  for (const one of new Set(people)) keys.push(...((await host?.pullRequests.keys(one)) ?? []));
  return keys;
}

/** Without a code host, an approval names the last commit of the branch that a merge brought, or a commit of the protected branch. */
function proposalsOfCommits(
  base: SignerRules,
  { range, ofStack, head, authors }: SignatureQuestion,
): Proposal[] {
  return ofStack.map(({ merged: part }) => {
    // The commit of the line comes first, then the commits that it merged, newest first.
    const [own, tip] = range.all.filter(({ merged }) => merged === part);
    const named = own?.isMerge === true ? tip : own;
    const heads = named === undefined || named.id === head ? [] : [named.id];
    return { heads, base, authors: authors.merged[part] ?? authors.all, part };
  });
}

async function proposalsOfPulls(
  pulls: readonly MergedPull[],
  {
    base,
    authors,
    host,
  }: { readonly base: SignerRules; readonly authors: RangeAuthors; readonly host: KnownPulls },
): Promise<Proposals> {
  const proposals: Proposal[] = [];
  const refused: RefusedApproval[] = [];
  const { pullRequests, known } = host;
  for (const [part, { number, head }] of pulls.entries()) {
    const pullRequest = known.get(number);
    if (pullRequest === undefined) continue;
    const contributors = await readContributors(pullRequests, pullRequest);
    if (contributors.is === 'unknown' && !base.selfApprove) {
      refused.push({
        method: 'signature',
        pullRequest: number,
        why: `its contributors are not known: ${contributors.why}`,
      });
      proposals.push({ heads: [], base, authors: undefined, part });
    } else {
      const people = contributors.is === 'known' ? contributors.people : [pullRequest.author];
      const names = [...people, ...(await readEmails(pullRequests, pullRequest))];
      proposals.push({
        ...{ pullRequest: number, heads: [head], base, part },
        authors: { names, keys: [...keysOf(names, authors), ...(await accountKeys(people, host))] },
      });
    }
  }
  return { proposals, refused };
}

async function readEmails(pullRequests: PullRequests, pullRequest: PullRequest): Promise<string[]> {
  const { commits } = await pullRequests.commits(pullRequest);
  return commits.flatMap(peopleOf).flatMap(({ email }) => email ?? []);
}

/** The keys that signed commits of these people. */
function keysOf(names: readonly string[], { merged }: RangeAuthors): string[] {
  const isOf = ({ names: own }: CommitAuthors) =>
    own.some((name) => names.some((other) => isSameName(name, other)));
  return merged.filter(isOf).flatMap(({ keys }) => keys);
}
