/**
 * Reads which guards are acknowledged by labels `trueup-ack/<guard>`. The log of the code host says who set a label and when; a label
 * counts only for the plan that was shown before it was set, and only if it has not been renamed since.
 */
import {
  isSameName,
  type LabelEvent,
  type PullRequest,
  type PullRequests,
} from '../api/code-host/pull-requests.ts';
import type { ApprovalRules } from '../model/approval.ts';
import { type GuardId, isGuardId } from '../model/guard.ts';
import { quoted } from '../model/quoted.ts';
import { type Contributors, readContributors, whyContributor, whyNotAdmitted } from './people.ts';
import type { PlanComment } from './plan-comment.ts';

export const labelPrefix = 'trueup-ack/';

interface LabelAck {
  readonly guard: GuardId;
  readonly by: string;
  /** RFC 3339 */
  readonly at: string;
}

interface RefusedLabel {
  readonly label: string;
  readonly by?: string;
  /** a clause without a full stop */
  readonly why: string;
}

interface LabelSource {
  readonly pullRequests: PullRequests;
  readonly pullRequest: PullRequest;
  /** other pull requests that are applied together with this one: their contributors may not acknowledge guards here */
  readonly together?: readonly PullRequest[];
  /** reads the contributors of commits that are applied together with this pull request and have none */
  readonly directContributors?: () => Promise<Contributors>;
  readonly rules: Pick<ApprovalRules, 'from' | 'selfAck'>;
  /** the comment whose plan is acknowledged: labels count only for its digest and commit */
  readonly comment: PlanComment;
}

/** @throws CodeHostError, WireError */
export async function readLabelAcks(
  source: LabelSource,
): Promise<{ readonly acknowledged: readonly LabelAck[]; readonly refused: readonly RefusedLabel[] }> {
  const { pullRequests, pullRequest } = source;
  const { now, events } = await pullRequests.labels(pullRequest);
  const acknowledged: LabelAck[] = [];
  const refused: RefusedLabel[] = [];
  for (const label of new Set(now.filter((name) => name.startsWith(labelPrefix)))) {
    const guard = label.slice(labelPrefix.length);
    const lastEvent = events.findLast((event) => isSameName(event.label, label));
    const why = isGuardId(guard)
      ? await whyRefused(label, lastEvent, source)
      : `there is no guard ${quoted(guard)}`;
    if (why === undefined && isGuardId(guard) && lastEvent?.by !== undefined)
      acknowledged.push({ guard, by: lastEvent.by, at: lastEvent.at });
    else
      refused.push({
        label,
        ...(lastEvent?.by === undefined ? {} : { by: lastEvent.by }),
        why: why ?? 'it is not known who set it',
      });
  }
  return { acknowledged, refused };
}

async function whyRefused(
  label: string,
  lastEvent: LabelEvent | undefined,
  source: LabelSource,
): Promise<string | undefined> {
  const { pullRequests, rules, comment } = source;
  if (lastEvent?.action !== 'added' || lastEvent.by === undefined)
    return 'the code host does not say who set it';
  const { by, at } = lastEvent;
  const since = Date.parse(at);
  if (since <= Date.parse(comment.at))
    return `it was set at ${at}, which is not later than the comment with the plan, posted or edited at ${comment.at}; remove it and set it again`;
  const whyOwn = rules.selfAck === true ? undefined : await whyContributed(by, source);
  if (whyOwn !== undefined) return whyOwn;
  const whyNotAllowed = await whyNotAdmitted(by, pullRequests, rules, { mustWrite: true });
  if (whyNotAllowed !== undefined) return whyNotAllowed;
  const changedAt = await pullRequests.labelChangedAt(label);
  if (changedAt === undefined) return 'the code host does not say since when the label has this name';
  return Date.parse(changedAt) < since
    ? undefined
    : `the label was renamed or changed at ${changedAt}, and set at ${at}, which is not later; remove it and set it again`;
}

/** Why a user is a contributor of the changes that are applied, as a clause; undefined if the user is not. */
async function whyContributed(
  by: string,
  { pullRequests, pullRequest, together = [], directContributors }: LabelSource,
): Promise<string | undefined> {
  for (const one of new Set([pullRequest, ...together])) {
    const name =
      one === pullRequest ? undefined : `pull request ${one.number} (applied together with this one)`;
    const why = whyContributor(by, await readContributors(pullRequests, one), name);
    if (why !== undefined) return why;
  }
  return directContributors !== undefined && whyContributor(by, await directContributors()) !== undefined
    ? `${quoted(by)} wrote or pushed commits without a pull request, which are applied together with this one`
    : undefined;
}
