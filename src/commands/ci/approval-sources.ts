/** Opens the sources of approvals that this run has: the code host of its CI job, and the environment that the job waited for. */
import type { CodeHost } from '../../api/code-host.ts';
import { openPullRequests } from '../../api/code-host/open-pull-requests.ts';
import type { PullRequest, PullRequests } from '../../api/code-host/pull-requests.ts';
import { readEnvironmentApprovals } from '../../approvals/environments.ts';
import { readHiddenContent } from '../../approvals/hidden-content.ts';
import { readLabelAcks } from '../../approvals/labels.ts';
import { readMakers } from '../../approvals/people.ts';
import { findPlanComment, type FoundComment } from '../../approvals/plan-comment.ts';
import { readReviews } from '../../approvals/reviews.ts';
import type { Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { connectToCodeHost, keepTokens } from '../../run/code-host.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';
import { findCodeHost, type HostPlace, type PlaceFlags } from '../../run/pull-request.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import { findSignatures, type SignatureInput } from './signature-source.ts';
import type { ApprovalSources, Found, LabelledGuards, MergedPull } from './find-approval.ts';

export interface SourceFlags extends PlaceFlags {
  /** the account whose comments show plans */
  readonly author?: string;
  /** the protected branch */
  readonly branch?: string;
  /** the remote that keeps the signed approvals */
  readonly remote: string;
}

/** The environment that this job waited for, and the plan that its run made. */
interface Waited {
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
  readonly waited: Waited | undefined;
}

/** A code host that this run may ask and write to. */
export interface OpenHost {
  readonly place: HostPlace;
  readonly codeHost: CodeHost;
}

export interface OpenedSources extends ApprovalSources {
  readonly opened: OpenHost | undefined;
  /** why there is no code host, as a clause */
  readonly missing: string | undefined;
  close(): Promise<void>;
}

/** Nothing is asked yet. @returns why there is none, as a clause. @throws CommandStop where flags and variables are not complete */
export function openHost({ flags, host, time }: HostInput): OpenHost | string {
  const place = findCodeHost(flags, host.env);
  if (place === undefined) return 'this is no job of GitHub Actions or GitLab CI';
  keepTokens(place.tokenEnv, host);
  const token = host.env[place.tokenEnv]?.trim() ?? '';
  if (token === '') return `the environment variable ${quoted(place.tokenEnv)} is not set`;
  const connection = { token, host, signal: time.runEnded, until: time.deadline.until };
  return { place, codeHost: connectToCodeHost(place, connection) };
}

/** Nothing is asked yet. @throws CommandStop where the flags and variables are not complete */
export function openSources(input: SourceInput): OpenedSources {
  const { flags, host, waited } = input;
  const opened = openHost(input);
  const none = (missing: string): OpenedSources => {
    if (waited !== undefined)
      throw new CommandStop(
        'usage',
        `the approvals of environment ${quoted(waited.environment)} cannot be read: ${missing}`,
      );
    return {
      signatures: (pulls) => findSignatures(pulls, input.signatures, undefined),
      opened: undefined,
      missing,
      close: async () => {},
    };
  };
  if (typeof opened === 'string') return none(opened);
  const branch = flags.branch ?? branchOf(host.env);
  if (branch === undefined)
    throw new CommandStop('usage', 'the protected branch is not known; name it with --branch');
  const { place, codeHost } = opened;
  const pullRequests = openPullRequests(place, codeHost);
  return {
    ...sourcesIn(pullRequests, branch, { ...input, place }),
    opened,
    missing: undefined,
    close: () => codeHost.close(),
  };
}

type Env = CliHost['env'];

/** The branch of a job; undefined for other jobs, such as those of tags. */
export function branchOf(env: Env): string | undefined {
  const ofGithub = /^refs\/heads\/(.+)$/.exec(env['GITHUB_REF'] ?? '')?.[1];
  return ofGithub ?? (env['CI_COMMIT_BRANCH'] || undefined);
}

function sourcesIn(
  pullRequests: PullRequests,
  branch: string,
  input: SourceInput & { readonly place: HostPlace },
): ApprovalSources {
  const { flags, signatures, place, waited } = input;
  const { stack, rules } = signatures;
  const known = new Map<number, PullRequest>();
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
  return {
    pulls: async (commits) => {
      for (const { id } of commits)
        for (const pullRequest of await pullRequests.ofCommit(id, branch))
          if (!known.has(pullRequest.number)) known.set(pullRequest.number, pullRequest);
      return [...known.values()];
    },
    signatures: (pulls) => findSignatures(pulls, signatures, { pullRequests, known }),
    reviews: async (pull) => {
      const pullRequest = pullOf(pull);
      const found = await commentOf(pullRequest);
      const read = await readReviews({ pullRequests, pullRequest, rules, found });
      return { ...read, contents: contentsIn(found) };
    },
    labels: async (pull): Promise<LabelledGuards | undefined> => {
      const pullRequest = pullOf(pull);
      const found = await commentOf(pullRequest);
      if (found.is === 'missing') return undefined;
      const { comment } = found;
      const together = [...known.values()];
      const { acknowledged, refused } = await readLabelAcks({
        ...{ pullRequests, pullRequest, together, rules, comment },
      });
      return {
        digest: comment.digest,
        guards: acknowledged.map(({ guard }) => guard),
        refused: refused.map(
          ({ label, why }) => `the label ${quoted(label)} of pull request ${pull.number}: ${why}`,
        ),
      };
    },
    ...(waited && { environment: () => readWaited(waited, { ...input, pullRequests, known }) }),
  };
}

function contentsIn(found: FoundComment): ReadonlyMap<string, Json> {
  const content = found.is === 'found' ? readHiddenContent(found.comment.body) : undefined;
  return new Map(found.is === 'found' && content !== undefined ? [[found.comment.digest, content]] : []);
}

async function readWaited(
  { environment, digest, since }: Waited,
  {
    host,
    place,
    signatures: { rules, head },
    pullRequests,
    known,
  }: SourceInput & {
    readonly place: HostPlace;
    readonly pullRequests: PullRequests;
    readonly known: ReadonlyMap<number, PullRequest>;
  },
): Promise<Found> {
  const id = Number(host.env[place.service === 'github' ? 'GITHUB_RUN_ID' : 'CI_JOB_ID']);
  if (!Number.isSafeInteger(id) || id <= 0)
    throw new CommandStop(
      'usage',
      '--environment is for a job of GitHub Actions or GitLab CI: the run is not known',
    );
  const makers: string[] = [];
  for (const pullRequest of rules.selfApprove === true ? [] : known.values()) {
    const found = await readMakers(pullRequests, pullRequest);
    makers.push(pullRequest.author, ...(found.is === 'known' ? found.people : []));
  }
  const now = since ?? new Date(host.now()).toISOString();
  const run = { id, environment };
  return readEnvironmentApprovals({
    ...{ pullRequests, run, rules, digest, commit: head, makers, now },
    ...(since === undefined ? {} : { since }),
  });
}
