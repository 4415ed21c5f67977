/** Decides whether an apply may begin: problems, uses of tokens, approval, secrets, guards and consent. */
import { hasErrors } from '../../model/diagnostic.ts';
import { type GuardId, policyOf } from '../../model/guard.ts';
import type { ApprovedPlan } from '../../model/approval.ts';
import type { Ledger } from '../../model/ledger.ts';
import type { Plan } from '../../model/plan.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { withStricterGuards } from '../../plan/loosened.ts';
import { CommandStop } from '../command-stop.ts';
import {
  acknowledgedOf,
  askConsent,
  type CommandOfFile,
  passedGuards,
  readIds,
  refuseProblems,
} from '../consent.ts';
import { exitCodes } from '../exit-codes.ts';
import { type LimitedToken, refuseMissingSecrets, whyTooFewUses } from '../needed-secrets.ts';
import { printPlan } from '../print-plan.ts';
import type { SecretContext } from '../read-secret.ts';
import { printError, type Terminal, textOutput } from '../terminal.ts';
import { type Approval, checkApproval } from './check-approval.ts';

export interface AuthorizeOptions {
  readonly yes?: boolean;
  /** guards of the approved plan that were acknowledged, separated by commas */
  readonly ack?: string;
  readonly calls?: boolean;
  /** print the plan even if it is not the approved one */
  readonly showPlan?: boolean;
  /** each guard that blocks the plan was acknowledged before */
  readonly isAcknowledged?: boolean;
}

interface AuthorizeInput {
  readonly approval: Approval | undefined;
  readonly options: AuthorizeOptions;
  readonly ledger: Ledger;
  /** the stack's argument on the command line */
  readonly stack: string | undefined;
  readonly secrets: SecretContext;
  readonly limited: readonly LimitedToken[];
  readonly ofFile?: CommandOfFile | undefined;
}

interface Authorized {
  /** absent if no plan was approved, or if the approval has ended */
  readonly approved: ApprovedPlan | undefined;
  /** guards that block the plan, and were acknowledged for it */
  readonly acknowledged: readonly GuardId[];
}

interface AuthorizeContext {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
}

/** @throws CommandStop when the plan may not be applied */
export async function authorize(
  made: PlanResult,
  { approval, options, ledger, stack, secrets, limited, ofFile }: AuthorizeInput,
  { terminal, stop }: AuthorizeContext,
): Promise<Authorized> {
  const given = approval?.given?.plan;
  const planning = given === undefined ? made : { ...made, plan: withStricterGuards(made.plan, given) };
  const { plan } = planning;
  // Only as text: with JSON, the plan is printed where it is the result.
  const show = () => {
    if (textOutput(terminal) !== undefined) printPlan(terminal, plan, { ...options, stack });
  };
  // With an approval, the check below prints first how the plan differs, then the plan if it is approved or --show-plan is set.
  if (approval === undefined || hasErrors(plan.problems)) show();
  const tooFewUses = whyTooFewUses(plan, limited);
  // Too few uses may be the reason for problems of the plan, so both are reported.
  if (tooFewUses !== undefined) printError(terminal, 'token-uses', tooFewUses);
  refuseProblems(plan, terminal);
  if (tooFewUses !== undefined) throw CommandStop.reported(exitCodes.error);
  if (given !== undefined) await refuseEnded(given, terminal);
  const approved = approval && checkAndShow(planning, approval, { ledger, terminal, options, show });
  await refuseMissingSecrets(plan, secrets, terminal);
  const begunApproval = ledger.approved?.digest === approved?.digest ? ledger.approved : undefined;
  const named = readIds(options.ack);
  const consent = {
    agreed: options.yes === true || approval !== undefined,
    named,
    // The person who approved a plan file has not seen the guard of a policy that was added later, so naming it does not count.
    acknowledged: named.filter(
      (id) => policyOf(id) === undefined || given?.guards.some((one) => one.id === id) !== false,
    ),
    passed: begunApproval?.passed,
    stack,
    ofFile,
  };
  await askConsent(plan, consent, { terminal, stop });
  return {
    approved: approved && { ...approved, passed: passedGuards(plan, begunApproval?.passed) },
    acknowledged: acknowledgedOf(plan, consent),
  };
}

/** @throws CommandStop if the approved plan relies on an exemption that has ended since, even if the policy only warns now */
async function refuseEnded({ policies }: Plan, { host }: Terminal): Promise<void> {
  const used = policies?.exempted ?? [];
  if (used.length === 0) return;
  const { exemptionState } = await import('../../policies/exemptions.ts');
  const ended = used.filter((one) => exemptionState(one, host.now()).is !== 'in-force');
  if (ended.length === 0) return;
  const names = ended.map(({ guard, address, until }) => `${address} from ${guard} until ${until}`);
  throw new CommandStop(
    'exemption-ended',
    `nothing was written: exemptions that the approved plan relies on have ended: ${names.join(', ')}; change what violates the policy, or renew the exemption, and plan again`,
    { exit: exitCodes.blocked },
  );
}

function checkAndShow(
  planning: PlanResult,
  approval: Approval,
  {
    ledger,
    terminal,
    options,
    show,
  }: Pick<AuthorizeInput, 'ledger' | 'options'> & { readonly terminal: Terminal; show(): void },
): ApprovedPlan | undefined {
  let isApproved = false;
  try {
    const approved = checkApproval(planning, approval, { ledger, terminal });
    isApproved = true;
    return approved;
  } finally {
    if (isApproved || options.showPlan) show();
  }
}
