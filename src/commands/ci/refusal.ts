/** What is said of a plan that is not applied: why, which approvals do not count, and each way to approve it. */
import type { ApprovalRules, RefusedApproval } from '../../model/approval.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { labelPrefix } from '../../approvals/labels.ts';
import { acceptedMethods, type ApprovalAnswer } from './find-approval.ts';

type Refused = Exclude<ApprovalAnswer, { readonly is: 'approved' }>;

interface RefusalContext {
  readonly plan: Plan;
  readonly rules: ApprovalRules;
  /** the stack's argument on the command line */
  readonly stack: string | undefined;
  /** the environment that this job waited for */
  readonly environment: string | undefined;
  /** why no code host is asked, as a clause */
  readonly missing: string | undefined;
}

interface Refusal {
  /** one clause */
  readonly why: string;
  /** approvals and labels that do not count, one clause each */
  readonly notCounted: readonly string[];
  /** what to do, one sentence each without a full stop */
  readonly ways: readonly string[];
}

export function describeRefusal(answer: Refused, context: RefusalContext): Refusal {
  const { plan, missing } = context;
  const notCounted = [
    ...answer.refused.map(refusedText),
    ...(answer.is === 'blocked' ? answer.labels : []),
    ...(missing === undefined ? [] : [`reviews, labels and environments: ${missing}`]),
  ];
  if (answer.is === 'not-approved')
    return {
      why: `the plan ${quoted(plan.digest)} of stack ${quoted(plan.stack)} is not approved: ${answer.reasons.join('; ')}`,
      notCounted,
      ways: waysToApprove(context),
    };
  const { guards } = answer;
  const which = guards.length === 1 ? 'this guard' : 'these guards';
  return {
    why: `the plan ${quoted(plan.digest)} of stack ${quoted(plan.stack)} has guards that are not acknowledged: ${guards.join(', ')}`,
    notCounted,
    ways: [
      ...(missing === undefined
        ? [
            `read ${which}, and set ${guards.map((id) => quoted(`${labelPrefix}${id}`)).join(' and ')} as labels of the pull request whose comment shows this plan; then run this job again`,
          ]
        : []),
      ...(acceptedMethods(context.rules).includes('signature') && hasSigners(context.rules)
        ? [
            `or sign the plan with ${which} acknowledged: ${approveCommand(context, guards)}; then run this job again`,
          ]
        : []),
    ],
  };
}

function refusedText({ method, by, pullRequest, why }: RefusedApproval): string {
  const where = pullRequest === undefined ? '' : ` in pull request ${pullRequest}`;
  return `${method}${by === undefined ? '' : ` by ${quoted(by)}`}${where}: ${why}`;
}

function waysToApprove(context: RefusalContext): string[] {
  const { rules, environment, missing } = context;
  const methods = acceptedMethods(rules);
  const { count = 1 } = rules;
  const people = count === 1 ? '' : ` (${count} people are needed)`;
  const ways = {
    signature: `sign it: ${approveCommand(context, [])}; then run this job again`,
    environment:
      environment === undefined
        ? 'let a job wait for an environment with required reviewers: "trueup ci apply --record" in the job before, then "trueup ci apply --digest … --environment …"'
        : `start a new run, and approve it for environment ${quoted(environment)} once its plan is shown`,
    review: 'merge a pull request that shows this plan, with reviews that are later than its comment',
  };
  const usable = methods
    .filter((method) => method !== 'signature' || hasSigners(rules))
    .filter((method) => method === 'signature' || missing === undefined || method === 'environment');
  if (usable.length === 0)
    return [
      methods.length === 0
        ? 'no method of "spec.approvals" counts both at the last apply and now: apply once by hand with "trueup apply"'
        : 'give the job a token for the code host, or name signers in "from" of "spec.approvals"',
    ];
  return usable.map((method) => `${ways[method]}${people}`);
}

/** Without signers no signature counts. */
function hasSigners({ from = [] }: ApprovalRules): boolean {
  return from.some((one) => 'signers' in one);
}

function approveCommand({ plan, stack }: RefusalContext, guards: readonly string[]): string {
  const ack = guards.length === 0 ? [] : ['--ack', guards.join(',')];
  return quoted(['trueup approve', plan.digest, ...ack, ...(stack === undefined ? [] : [stack])].join(' '));
}
