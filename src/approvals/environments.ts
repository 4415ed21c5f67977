/**
 * Approvals by the reviewers of an environment, for the job that waited for them in the run that made the plan. GitHub shows neither
 * when an approval was given nor in which attempt of the run, so each approval covers all attempts. The caller must make sure that the
 * digest is that of the first attempt.
 */
import {
  isSameName,
  type PullRequests,
  type RunApprovals,
  type RunPlace,
} from '../api/code-host/pull-requests.ts';
import type { Approval, ApprovalRules, FoundApprovals, RefusedApproval } from '../model/approval.ts';
import { quoted } from '../model/quoted.ts';
import { whyNotAdmitted } from './people.ts';

interface EnvironmentSource {
  readonly pullRequests: PullRequests;
  /** on GitLab, its id is that of the job */
  readonly run: Required<RunPlace>;
  readonly rules: Pick<ApprovalRules, 'from' | 'selfApprove'>;
  /** from the plan job of the same run */
  readonly digest: string;
  /** the commit that the run is of */
  readonly commit: string;
  /** user names of the people who made what is applied: they may not approve it unless the stack says `selfApprove` */
  readonly contributors: readonly string[];
  /** RFC 3339: when the digest was made; approvals that are known to be older do not count */
  readonly since?: string;
  /** RFC 3339, now: the time of an approval where the code host does not say it */
  readonly now: string;
}

interface EnvironmentApprovals extends FoundApprovals {
  /** how often the run was started; undefined where there is no such run */
  readonly attempt?: number;
}

/** Reads at most one approval of each person. @throws CodeHostError, WireError */
export async function readEnvironmentApprovals(source: EnvironmentSource): Promise<EnvironmentApprovals> {
  const { pullRequests, run: place, rules, commit, digest, now } = source;
  const run = await pullRequests.runApprovals(place);
  const noApprovals = (why: string): EnvironmentApprovals => ({
    approvals: [],
    refused: [{ method: 'environment', why }],
    ...(run === undefined ? {} : { attempt: run.attempt }),
  });
  // Only GitLab returns no run.
  if (run === undefined)
    return noApprovals(`job ${place.id} has no deployment to environment ${quoted(place.environment)}`);
  if (run.commit !== commit)
    return noApprovals(`the run is of commit ${quoted(run.commit)}, and ${quoted(commit)} is applied`);
  const [rejection] = run.decisions.filter(({ state }) => state === 'rejected');
  if (rejection !== undefined)
    return noApprovals(
      `${quoted(rejection.by)} rejected the run for environment ${quoted(place.environment)}; start a new run`,
    );
  if (run.decisions.length === 0)
    return noApprovals(
      `the run has no approval for environment ${quoted(place.environment)}; give the environment required reviewers`,
    );
  const approvals: Approval[] = [];
  const refused: RefusedApproval[] = [];
  for (const { by, at } of run.decisions) {
    if (approvals.some((one) => isSameName(one.by, by))) continue;
    const why =
      whyInvolved(by, run, source) ??
      whyTooOld(at, source) ??
      (await whyNotAdmitted(by, pullRequests, rules, { mustWrite: false }));
    if (why === undefined)
      approvals.push({ method: 'environment', by, digest, commit, at: at ?? now, acknowledged: [] });
    else refused.push({ method: 'environment', by, why });
  }
  return { approvals, refused, attempt: run.attempt };
}

function whyInvolved(
  by: string,
  { startedBy }: RunApprovals,
  { contributors, rules }: EnvironmentSource,
): string | undefined {
  if (rules.selfApprove === true) return undefined;
  if (startedBy.some((one) => isSameName(one, by))) return `${quoted(by)} started the run`;
  return contributors.some((one) => isSameName(one, by)) ? `${quoted(by)} made what is applied` : undefined;
}

function whyTooOld(at: string | undefined, { since }: EnvironmentSource): string | undefined {
  if (at === undefined || since === undefined || Date.parse(at) > Date.parse(since)) return undefined;
  return `the approval (${at}) is not later than the plan (${since})`;
}
