/** Opens the sources of approvals of this run: the code host of its CI job, and the environment that the job waited for. */
import type { CodeHost } from '../../api/code-host.ts';
import { openPullRequests } from '../../api/code-host/open-pull-requests.ts';
import { CodeHostError, type PullRequest, type PullRequests } from '../../api/code-host/pull-requests.ts';
import { readEnvironmentApprovals } from '../../approvals/environments.ts';
import { readHiddenContent, readState } from '../../approvals/hidden-lines.ts';
import { labelPrefix, readLabelAcks } from '../../approvals/labels.ts';
import { readContributors, whyUnknown } from '../../approvals/people.ts';
import { findPlanComment, type FoundComment } from '../../approvals/plan-comment.ts';
import { readReviews } from '../../approvals/reviews.ts';
import type { Approval } from '../../model/approval.ts';
import type { Json } from '../../model/json.ts';
import { WireError } from '../../model/http.ts';
import { quoted } from '../../model/quoted.ts';
import { connectToCodeHost, keepTokens } from '../../run/code-host.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';
import { branchOfJob } from '../../run/ci/job.ts';
import { findCodeHost, type HostPlace, type PlaceFlags } from '../../run/pull-request.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import type { LabelledGuards } from './acknowledged-guards.ts';
import { commitsOfStack } from './choose-stacks.ts';
import { findSignatures, type KnownPulls, type SignatureInput } from './signature-source.ts';
import type { MergedPull } from './count-approvals.ts';
import type { ApprovalSources, Found } from './find-approval.ts';
import { openMergedPulls } from './merged-pulls.ts';

export interface SourceFlags extends PlaceFlags {
  /** the account whose comments show plans */
  readonly author?: string;
  /** the protected branch */
  readonly branch?: string;
  /** the remote that keeps the signed approvals */
  readonly remote: string;
}

/** The environment that this job waited for, and the plan that an earlier job of its run recorded. */
interface AwaitedEnvironment {
  readonly environment: string;
  readonly digest: string;
  /** RFC 3339: when the first attempt of the run recorded the plan */
  readonly since?: string | undefined;
}

interface HostInput {
  readonly flags: SourceFlags;
  readonly host: CliHost;
  readonly time: RunTime;
}

interface SourceInput extends HostInput {
  readonly signatures: SignatureInput;
  readonly awaited: AwaitedEnvironment | undefined;
}

/** A code host that this run may read and write. */
export interface OpenHost {
  readonly place: HostPlace;
  readonly codeHost: CodeHost;
}

export interface OpenedSources extends ApprovalSources {
  readonly opened: OpenHost | undefined;
  /** why there is no code host, as a clause */
  readonly missing: string | undefined;
  /** A warning for a branch that no rules protect, or a note if that is not known; undefined for a protected branch. */
  branchWarning(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Opening sends nothing. @returns a clause if there is no code host. @throws CommandStop if flags and variables are not complete */
export function openHost({ flags, host, time }: HostInput): OpenHost | string {
  const place = findCodeHost(flags, host.env);
  if (place === undefined)
    return host.fleet === undefined
      ? 'this is not a job of GitHub Actions or GitLab CI'
      : 'the repository has no "apply.github" or "apply.gitlab" in fleet.yaml';
  keepTokens(place.tokenEnv, host);
  // The worker of a fleet passes its token outside of the environment, so that no stack can name it.
  const token = host.fleet?.apply?.codeHostToken ?? host.env[place.tokenEnv]?.trim() ?? '';
  if (token === '') return `the environment variable ${quoted(place.tokenEnv)} is not set`;
  const connection = { token, host, signal: time.runEnded, until: time.deadline.until };
  return { place, codeHost: connectToCodeHost(place, connection) };
}

/** Opening sends nothing. @throws CommandStop if the flags and variables are not complete */
export function openSources(input: SourceInput): OpenedSources {
  const { flags, host, awaited } = input;
  const opened = openHost(input);
  const withoutHost = (missing: string): OpenedSources => {
    if (awaited !== undefined)
      throw new CommandStop(
        'usage',
        `the approvals of environment ${quoted(awaited.environment)} cannot be read: ${missing}`,
      );
    return {
      signatures: async (pulls) =>
        findSignatures(
          pulls,
          { ...input.signatures, ofStack: await commitsOfStack(input.signatures, host) },
          undefined,
        ),
      opened: undefined,
      missing,
      branchWarning: async () => undefined,
      close: async () => {},
    };
  };
  if (typeof opened === 'string') return withoutHost(opened);
  const branch = flags.branch ?? branchOfJob(host.env);
  if (branch === undefined)
    throw new CommandStop('usage', 'the protected branch is not known; name it with --branch');
  const { place, codeHost } = opened;
  const pullRequests = openPullRequests(place, codeHost);
  return {
    ...sourcesIn(pullRequests, branch, { ...input, place }),
    opened,
    missing: undefined,
    branchWarning: () => warnOfBranch(pullRequests, branch),
    close: () => codeHost.close(),
  };
}

/** Only warns: a token may not see all rules, and a person who may push to the branch may also change its workflows. */
async function warnOfBranch(pullRequests: PullRequests, branch: string): Promise<string | undefined> {
  const isProtected = await pullRequests.isProtected(branch).catch((error: unknown) => {
    if (error instanceof CodeHostError || error instanceof WireError) return undefined;
    throw error;
  });
  if (isProtected === undefined)
    return `note: the token cannot see whether the branch ${quoted(branch)} is protected: it needs the permission "contents: read" of GitHub, or the scope "read_api" of GitLab; check in the settings of the repository that the branch requires reviews`;
  return isProtected
    ? undefined
    : `warning: no rules protect the branch ${quoted(branch)}: people who may push to it can change who may approve; require reviews for it in the settings of the repository`;
}

function sourcesIn(
  pullRequests: PullRequests,
  branch: string,
  input: SourceInput & { readonly place: HostPlace },
): ApprovalSources {
  const { flags, signatures, place, awaited } = input;
  const { stack, rules } = signatures;
  const comments = new Map<number, Promise<FoundComment>>();
  const accounts = { author: flags.author, usual: place.usualAuthor };
  const pullOf = ({ number }: MergedPull): PullRequest => {
    const pullRequest = known.get(number);
    if (pullRequest === undefined) throw new Error(`pull request ${number} was not found before`);
    return pullRequest;
  };
  const commentOf = (pullRequest: PullRequest): Promise<FoundComment> => {
    const found =
      comments.get(pullRequest.number) ?? findPlanComment({ pullRequests, pullRequest, stack, accounts });
    comments.set(pullRequest.number, found);
    return found;
  };
  const merged = openMergedPulls(pullRequests, { ...input, branch });
  const { known, direct, directContributors } = merged;
  return {
    pulls: merged.pulls,
    signatures: async (pulls) =>
      findSignatures(
        pulls,
        { ...signatures, ofStack: await merged.ofStack() },
        { pullRequests, known, direct, directContributors },
      ),
    reviews: async (pull) => {
      const pullRequest = pullOf(pull);
      const found = await commentOf(pullRequest);
      const { approvals, refused } = await readReviews({ pullRequests, pullRequest, rules, found });
      const counted: Approval[] = [];
      for (const one of approvals) counted.push({ ...one, parts: await merged.partsOf(one) });
      return { approvals: counted, refused, contents: contentsIn(found) };
    },
    labels: async (pull): Promise<LabelledGuards | undefined> => {
      const pullRequest = pullOf(pull);
      const found = await commentOf(pullRequest);
      if (found.is === 'missing') return undefined;
      const together = [...known.values()];
      const contributors = direct.size > 0 ? { directContributors } : {};
      return labelsIn({
        pullRequests,
        pullRequest,
        together,
        rules,
        comment: found.comment,
        ...contributors,
      });
    },
    shown: async (pull) => contentsIn(await commentOf(pullOf(pull))),
    ...(awaited && {
      environment: () => readAwaited(awaited, { ...input, pullRequests, known, directContributors }),
    }),
  };
}

async function labelsIn(source: Parameters<typeof readLabelAcks>[0]): Promise<LabelledGuards> {
  const { acknowledged, refused } = await readLabelAcks(source);
  const { number } = source.pullRequest;
  return {
    ...{ pullRequest: number, commit: source.comment.commit, digest: source.comment.digest },
    guards: acknowledged.map(({ guard }) => guard),
    shown: readState(source.comment.body)?.shown.guards ?? [],
    people: acknowledged,
    set: [...acknowledged.map(({ guard }) => `${labelPrefix}${guard}`), ...refused.map(({ label }) => label)],
    refused: refused.map(({ label, why }) => `the label ${quoted(label)} of pull request ${number}: ${why}`),
  };
}

function contentsIn(found: FoundComment): ReadonlyMap<string, Json> {
  const content = found.is === 'found' ? readHiddenContent(found.comment.body) : undefined;
  return new Map(found.is === 'found' && content !== undefined ? [[found.comment.digest, content]] : []);
}

async function readAwaited(
  { environment, digest, since }: AwaitedEnvironment,
  {
    host,
    place,
    signatures: { rules, head },
    pullRequests,
    known,
    directContributors,
  }: SourceInput & Omit<KnownPulls, 'direct'> & { readonly place: HostPlace },
): Promise<Found> {
  const id = Number(host.env[place.service === 'github' ? 'GITHUB_RUN_ID' : 'CI_JOB_ID']);
  if (!Number.isSafeInteger(id) || id <= 0)
    throw new CommandStop(
      'usage',
      '--environment is for a job of GitHub Actions or GitLab CI: the run is not known',
    );
  const contributors: string[] = [];
  if (rules.selfApprove !== true) {
    const all = [await directContributors()];
    for (const pullRequest of known.values()) all.push(await readContributors(pullRequests, pullRequest));
    for (const found of all) {
      if (found.is === 'unknown')
        return { approvals: [], refused: [{ method: 'environment', why: whyUnknown(found) }] };
      contributors.push(...found.people);
    }
  }
  const now = since ?? new Date(host.now()).toISOString();
  const run = { id, environment };
  return readEnvironmentApprovals({
    ...{ pullRequests, run, rules, digest, commit: head, contributors, now },
    ...(since === undefined ? {} : { since }),
  });
}
