/** `trueup apply [path]`: shows the plan, asks for consent or compares it with the approved plan, and applies it. */
import { type Command, InvalidArgumentError } from 'commander';
import type { LedgerHead } from '../../apply/keep-ledger.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { ApprovedPlan, Ledger } from '../../model/ledger.ts';
import type { Plan } from '../../model/plan.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { planEvent } from '../../report/json/apply-events.ts';
import {
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  parseTimeout,
  pathHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { connectToWrite } from '../../run/connect.ts';
import { askConsent, passedGuards, readIds, refuseIds, refuseProblems } from '../../run/consent.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { importFormerLedger, isPending, type Locking } from '../../run/former-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { ledgerHead } from '../../run/ledger-head.ts';
import { pathOfStack, stackArgument } from '../../run/load-manifests.ts';
import { endAfter, holdLock, removeStaleLock } from '../../run/lock.ts';
import { makePlanToApply } from '../../run/make-plan.ts';
import {
  findLimitedTokens,
  learnSecrets,
  type LimitedToken,
  refuseMissingSecrets,
  refuseTooFewUses,
} from '../../run/needed-secrets.ts';
import { identifyRun, withOrigin } from '../../run/origin.ts';
import { isRefusal } from '../../run/plan-file.ts';
import { prepareRun } from '../../run/prepare-run.ts';
import { printPlan } from '../../run/print-plan.ts';
import { type SecretContext, secretContext } from '../../run/read-secret.ts';
import { listenForSignals, raceStop, reportStop } from '../../run/stop-signals.ts';
import { type CommandContext, type Terminal, textOutput } from '../../run/terminal.ts';
import {
  type ApplyRequest,
  checkApproval,
  readApproval,
  refuseOtherStack,
  reportRefusal,
} from './approval.ts';
import { type ApplyContext, carryOut, type PreparedApply } from './carry-out.ts';
import { endedDigests, type HeadedApproval, storeApproval, withApproved } from './store-approval.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', `${pathHelp}; or a plan file, which is applied if it still holds`)
    .argument(
      '[stack]',
      'the stack of the plan file, where it is not the one that is here; - for the selection that it was made for',
    )
    .addOption(formatOption('jsonl'))
    .addOption(completeOption())
    .option('--calls', 'show the exact requests in the plan')
    .option('--show-plan', 'show the plan also where it is not the one that was approved')
    .addOption(timeoutOption())
    .option('-y, --yes', 'do not ask; needed where nobody can answer, unless a plan was approved')
    .option('--approve <digest>', 'apply if the plan has this digest; do not ask', parseDigest)
    .option(
      '--ack <guards>',
      'with --approve or a plan file: guards of that plan that may pass, such as deletes,rename; may be repeated',
      (ids: string, before: string | undefined) => (before === undefined ? ids : `${before},${ids}`),
    )
    .option('--again', 'with --approve: the digest is approved again, after an apply of it has ended well')
    .option(
      '--lock-timeout <duration>',
      'how long to wait for the lock of the stack, such as 5m',
      parseTimeout,
    )
    .action(
      async (path: string | undefined, stack: string | undefined, options: CommonOptions & ApplyOptions) => {
        const paths = [path, stack].filter((given) => given !== undefined);
        end(await apply(paths, options, { host, terminal: terminalOf(options) }));
      },
    );
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}

interface ApplyOptions {
  readonly yes?: boolean;
  /** the digest of the plan that was approved */
  readonly approve?: string;
  /** guards of that plan that were acknowledged, separated by commas */
  readonly ack?: string;
  /** the digest is approved again after an apply of it has ended well */
  readonly again?: boolean;
  readonly calls?: boolean;
  /** the plan is printed also where it is not the approved one */
  readonly showPlan?: boolean;
  /** the manifests on standard input are the whole stack */
  readonly complete?: boolean;
  /** seconds to wait for the lock of the stack; 0 when absent */
  readonly lockTimeout?: number;
  /** seconds that the run may take */
  readonly timeout?: number;
}

/** @param paths at most a stack and a plan file, in any order */
async function apply(
  paths: readonly string[],
  options: ApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const request = await readApproval(paths, options, context.host.cwd);
  if (isRefusal(request)) return reportRefusal(request, context.terminal);
  const mistake = refuseIds(readIds(options.ack), request.approval !== undefined);
  if (mistake !== undefined) return reportRefusal(mistake, context.terminal);
  const stops = listenForSignals(context.host);
  const run = identifyRun(context.host);
  try {
    return await applyUnderLock(request, options, { ...context, ...stops, run });
  } finally {
    stops.dispose();
  }
}

async function applyUnderLock(
  { path, approval }: ApplyRequest,
  options: ApplyOptions,
  context: ApplyContext,
): Promise<ExitCode> {
  const { stop, terminal } = context;
  const stack = stackArgument(path, options.complete);
  const prepared = await prepareRun(path, context, {
    complete: options.complete,
    timeout: options.timeout,
    stops: context,
    connect: (stack, host, time) => connectToWrite(stack, host, { ...time, signal: context.cut }),
    lock: lockingOf(path, options, context),
  });
  if (typeof prepared === 'number') return prepared;
  const planAndApply = async () => {
    const refusal = approval && refuseOtherStack(approval, prepared.request, terminal);
    if (refusal !== undefined) return refusal;
    const limited = await findLimitedTokens(prepared.connected.targets, prepared.request);
    const planned = await raceStop(makePlanToApply(prepared.request, approval !== undefined), stop);
    if (planned === 'stopped')
      return reportStop(stop, terminal, { done: 'nothing was written', code: exitCodes.error });
    const planning = { ...planned, plan: withOrigin(planned.plan, prepared) };
    const secrets = secretContext(prepared.request.stack, context.host);
    await learnSecrets(planning.plan, secrets, context.host.secrets);
    terminal.events?.write(planEvent(planning.plan));
    const input = { approval, options, ledger: prepared.ledger, stack, secrets, limited };
    const authorized = await authorize(planning, input, context);
    if (typeof authorized === 'number') return authorized;
    // Reading the targets and waiting for an answer take time, so the lock is checked again.
    await prepared.held?.fence.pass();
    const head = await headOf(planning.plan, prepared);
    const approved = { ...authorized, head };
    const ledger = await storeApproval(prepared.store, await importFormer(prepared, approved), approved);
    const digests = endedDigests(planning.plan, authorized.approved);
    return carryOut(planning, { ...prepared, ledger, head, digests }, context);
  };
  return endAfter(planAndApply, prepared.close);
}

function lockingOf(
  path: string | undefined,
  { lockTimeout: timeout = 0 }: ApplyOptions,
  { run, stop, terminal }: ApplyContext,
): Locking {
  return {
    take: (stack, store, { deadline }) =>
      holdLock(
        { store, stack: stack.name, run, timeout, path: pathOfStack(path, stack), stop, deadline },
        terminal,
      ),
    free: (stack, store) => removeStaleLock({ store, stack: stack.name, run }, terminal),
  };
}

/**
 * Imports the ledger of the stack's former name before anything is sent. The approval is written at the same time, because after
 * the import a new plan would have another digest.
 */
async function importFormer(
  { former, store, ledger, request: { stack } }: PreparedApply,
  approval: HeadedApproval,
): Promise<Ledger> {
  if (former === undefined || !isPending(former)) return ledger;
  return importFormerLedger(former, { stack, store, ledger: withApproved(ledger, approval) });
}

interface AuthorizeInput {
  readonly approval: ApplyRequest['approval'];
  readonly options: ApplyOptions;
  readonly ledger: Ledger;
  /** the stack's argument on the command line */
  readonly stack: string | undefined;
  readonly secrets: SecretContext;
  readonly limited: readonly LimitedToken[];
}

/** As text: in JSON the plan is printed where it is the result. */
function showPlan(
  terminal: Terminal,
  plan: Plan,
  about: { readonly calls?: boolean; readonly stack: string | undefined },
): void {
  if (textOutput(terminal) !== undefined) printPlan(terminal, plan, about);
}

/** Checks problems, uses of tokens, approval, secrets and guards, and asks for consent. @returns the approved plan, or an exit code with the reason printed */
async function authorize(
  planning: PlanResult,
  { approval, options, ledger, stack, secrets, limited }: AuthorizeInput,
  context: ApplyContext,
): Promise<{ readonly approved: ApprovedPlan | undefined } | ExitCode> {
  const { terminal } = context;
  const show = () => showPlan(terminal, planning.plan, { ...options, stack });
  // Of a plan that is not the approved one, why and how it differs come first, and the rest only when asked for.
  if (approval === undefined || hasErrors(planning.plan.problems)) show();
  const tooFewUses = refuseTooFewUses(planning.plan, limited, terminal);
  const refused = refuseProblems(planning.plan, terminal) ?? tooFewUses;
  if (refused !== undefined) return refused;
  const checked = approval && checkApproval(planning, approval, { ledger, terminal });
  if (checked !== undefined && (typeof checked !== 'number' || options.showPlan)) show();
  if (typeof checked === 'number') return checked;
  const approved = checked === 'ended' ? undefined : checked;
  const missing = await refuseMissingSecrets(planning.plan, secrets, terminal);
  if (missing !== undefined) return missing;
  const begun = ledger.approved?.digest === approved?.digest ? ledger.approved : undefined;
  const consent = {
    agreed: options.yes === true || approval !== undefined,
    acknowledged: readIds(options.ack),
    passed: begun?.passed,
    stack,
  };
  const refusal = await askConsent(planning.plan, consent, context);
  if (refusal !== undefined) return refusal;
  const passed = passedGuards(planning.plan, begun?.passed);
  return { approved: approved && { ...approved, passed } };
}

async function headOf(plan: Plan, prepared: PreparedApply): Promise<LedgerHead> {
  const { stack, stackIds, commitOrder } = prepared.request;
  return ledgerHead({ ...prepared, stack, plan, order: await commitOrder, stackId: stackIds?.own });
}
