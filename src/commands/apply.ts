/** `trueup apply [path]`: shows the plan, asks for consent or compares it with the approved plan, and applies it. */
import { type Command, InvalidArgumentError } from 'commander';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { quoted } from '../model/quoted.ts';
import { planEvent } from '../report/json/apply-events.ts';
import { shellWord } from '../report/view/printable.ts';
import { authorize, type AuthorizeOptions } from '../run/apply/authorize.ts';
import { type ApplyContext, carryOut } from '../run/apply/carry-out.ts';
import { type Approval, refuseOtherStack } from '../run/apply/check-approval.ts';
import { storeApproval } from '../run/apply/store-approval.ts';
import {
  ackOption,
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  parseTimeout,
  pathHelp,
  selectOption,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { connectToWrite } from '../run/connect.ts';
import { checkIds, type CommandOfFile, readIds } from '../run/consent.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { stackArgument } from '../run/load-manifests.ts';
import { endAfter, lockingFor } from '../run/lock.ts';
import { makePlanToApply } from '../run/make-plan.ts';
import { findLimitedTokens, learnSecrets } from '../run/needed-secrets.ts';
import { identifyRun, withOrigin } from '../run/origin.ts';
import { meansPlanFile, openApprovedPlan } from '../run/plan-file.ts';
import { prepareRun } from '../run/prepare-run.ts';
import { secretContext } from '../run/read-secret.ts';
import { choosePart } from '../run/selection/choose-part.ts';
import { listenForSignals, raceStop, stoppedRun } from '../run/stop-signals.ts';
import type { CommandContext } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', `${pathHelp}; or a plan file, which is applied if it still holds`)
    .argument(
      '[stack]',
      'the stack of the plan file, where it is not the one that is here; - for the selection that it was made for',
    )
    .addOption(formatOption('jsonl'))
    .addOption(completeOption())
    .addOption(
      selectOption(
        'only this part of the stack, chosen as by "trueup plan"; may be repeated. A plan file says it by itself',
      ),
    )
    .option('--calls', 'show the exact requests in the plan')
    .option(
      '--show-plan',
      'show the plan also when it differs from the approved one (a plan that matches is always shown)',
    )
    .addOption(timeoutOption())
    .addOption(traceOption())
    .option('-y, --yes', 'do not ask; required without a terminal, unless a plan was approved')
    .option('--approve <digest>', 'apply if the plan has this digest; do not ask', parseDigest)
    .addOption(
      ackOption(
        'with --approve or a plan file: guards of that plan that may pass, such as deletes,rename; may be repeated; with --approve, a policy is acknowledged as it is at the time of the apply',
      ),
    )
    .option('--again', 'with --approve: the digest is approved again, after an apply of it has ended well')
    .option(
      '--lock-timeout <duration>',
      'how long to wait for the lock of the stack, such as 5m',
      parseTimeout,
    )
    .action(async (path: string | undefined, stack: string | undefined, options: ApplyOptions) => {
      const paths = [path, stack].filter((given) => given !== undefined);
      end(await apply(paths, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup apply', 'show the plan, ask, and make the changes'],
    ['trueup apply plan.json', 'in CI: apply the plan that was reviewed, without a question'],
    [
      'trueup apply --yes --lock-timeout 5m',
      'apply without a question, and wait up to 5 minutes for the lock',
    ],
  );
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}

interface ApplyOptions extends AuthorizeOptions, CommonOptions {
  /** the digest of the plan that was approved */
  readonly approve?: string;
  /** the digest is approved again after an apply of it has ended well */
  readonly again?: boolean;
  /** seconds to wait for the lock of the stack; 0 when absent */
  readonly lockTimeout?: number;
}

/** @param paths at most a stack and a plan file, in any order */
async function apply(
  paths: readonly string[],
  options: ApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const request = await readApproval(paths, options, host.cwd);
  const stops = listenForSignals(host);
  try {
    return await applyUnderLock(request, options, { ...context, ...stops, run: identifyRun(host) });
  } finally {
    stops.dispose();
  }
}

async function applyUnderLock(
  { path, approval }: ApplyRequest,
  options: ApplyOptions,
  context: ApplyContext,
): Promise<ExitCode> {
  const { stopStarting: stop, terminal, host } = context;
  const prepared = await prepareRun(path, context, {
    ...options,
    stops: context,
    connect: (stack, on, time) => connectToWrite(stack, on, { ...time, runEnded: context.abortRequests }),
    choosePart: choosePart(options.select, approval?.given?.plan),
    approved: approval?.digest,
    lock: lockingFor({ ...context, stop, path, timeout: options.lockTimeout ?? 0 }),
  });
  const planAndApply = async () => {
    const { request, ledger, connected, held } = prepared;
    if (approval !== undefined) refuseOtherStack(approval, request, terminal);
    const limited = await findLimitedTokens(connected.targets, request);
    const planned = await raceStop(makePlanToApply(request, approval !== undefined), stop, () =>
      stoppedRun(stop, { done: 'nothing was written' }),
    );
    const planning = { ...planned, plan: withOrigin(planned.plan, prepared) };
    const secrets = secretContext(request.stack, host);
    await learnSecrets(planning.plan, secrets, host.secrets);
    terminal.events?.write(planEvent(planning.plan));
    const select = request.part?.selectors ?? [];
    const stack = stackArgument(path, { ...options, select });
    const { approved, acknowledged } = await authorize(
      planning,
      { approval, options, ledger, stack, secrets, limited, ofFile: commandOfFile(path, options, approval) },
      { terminal, stop },
    );
    // Reading the targets and waiting for an answer take time, so the lock is checked again.
    await held?.lockGuard.pass();
    const run = await storeApproval(planning.plan, approved, prepared);
    return carryOut(planning, { ...run, acknowledged }, { ...context, stack });
  };
  return endAfter(planAndApply, prepared.close);
}

/** A plan file says by itself what was selected. */
function commandOfFile(
  path: string | undefined,
  options: ApplyOptions,
  approval: ApplyRequest['approval'],
): CommandOfFile | undefined {
  if (approval?.given === undefined) return undefined;
  const { file, plan } = approval.given;
  const words = ['trueup apply', shellWord(file), stackArgument(path, { ...options, select: [] })];
  return { plan, command: words.filter((word) => word !== undefined).join(' ') };
}

/** What the command line names: at most one stack, and at most one approval. */
interface ApplyRequest {
  /** path of the stack */
  readonly path?: string;
  readonly approval?: Approval;
}

interface ApprovalFlags {
  /** in lower case */
  readonly approve?: string | undefined;
  readonly again?: boolean | undefined;
  readonly ack?: string | undefined;
}

/**
 * Distinguishes plan file and stack, in any order.
 * @throws CommandStop with the reason why the apply does not begin
 */
async function readApproval(
  paths: readonly string[],
  flags: ApprovalFlags,
  cwd: string,
): Promise<ApplyRequest> {
  try {
    const request = await readRequest(paths, flags, cwd);
    const acknowledged = readIds(flags.ack);
    checkIds(acknowledged);
    if (acknowledged.length > 0 && request.approval === undefined)
      throw new CommandStop(
        'ack-without-plan',
        '--ack is for one plan only: give its digest with --approve, or its plan file, as "trueup plan" shows them',
      );
    return request;
  } catch (error) {
    if (!(error instanceof CommandStop) || error.code === undefined) throw error;
    const isStale = staleCodes.includes(error.code);
    throw new CommandStop(error.code, `nothing was written: ${error.message}`, {
      exit: isStale ? exitCodes.stale : error.exit,
    });
  }
}

const staleCodes: readonly DiagnosticCode[] = ['plan-version', 'plan-edited', 'approval-mismatch'];

async function readRequest(
  paths: readonly string[],
  { approve: digest, again }: ApprovalFlags,
  cwd: string,
): Promise<ApplyRequest> {
  const kinds = await Promise.all(
    paths.map(async (path) => ({ path, isPlan: await meansPlanFile(path, cwd) })),
  );
  const [plan, ...morePlans] = kinds.filter(({ isPlan }) => isPlan);
  const [stack, ...moreStacks] = kinds.filter(({ isPlan }) => !isPlan);
  if (morePlans.length > 0)
    throw mistake('apply takes one plan file; to see how two differ, use "trueup diff"');
  if (moreStacks.length > 0) {
    const all = paths.map(quoted).join(' nor ');
    throw mistake(`apply takes one stack, and beside it a plan file: neither ${all} is a plan file`);
  }
  const path = stack === undefined ? {} : { path: stack.path };
  if (again === true && (plan !== undefined || digest === undefined))
    throw mistake(
      '"--again" goes with "--approve" and a digest alone; make the plan file again to approve it again',
    );
  if (plan === undefined)
    return { ...path, ...(digest === undefined ? {} : { approval: { digest, again } }) };
  const given = await openApprovedPlan(plan.path, cwd);
  if (digest !== undefined && digest !== given.plan.digest)
    throw new CommandStop(
      'approval-mismatch',
      `the plan ${quoted(given.file)} has the digest ${quoted(given.plan.digest)}, and ${quoted(digest)} was approved: apply the plan that was approved, or approve this one`,
    );
  return { ...path, approval: { digest: given.plan.digest, given } };
}

function mistake(message: string): CommandStop {
  return new CommandStop('usage', message);
}
