/** `trueup apply [path]`: shows the plan, asks for consent or compares it with the approved plan, and applies it. */
import type { Command } from 'commander';
import { planEvent } from '../report/json/apply-events.ts';
import { authorize, type AuthorizeOptions } from '../run/apply/authorize.ts';
import { type ApplyContext, carryOut } from '../run/apply/carry-out.ts';
import {
  type ApplyRequest,
  commandOfFile,
  readApproval,
  refuseOtherStack,
} from '../run/apply/check-approval.ts';
import { storeApproval } from '../run/apply/store-approval.ts';
import {
  ackOption,
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  parseDigest,
  parseTimeout,
  pathHelp,
  selectOption,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { connectToWrite } from '../run/connect.ts';
import type { ExitCode } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { stackArgument } from '../run/load-manifests.ts';
import { endAfter, lockingFor } from '../run/lock.ts';
import { makePlanToApply } from '../run/make-plan.ts';
import { findLimitedTokens, learnSecrets } from '../run/needed-secrets.ts';
import { identifyRun, withOrigin } from '../run/origin.ts';
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
      'the stack of the plan file, if it is not the one here; - to read the selection that the plan was made for',
    )
    .addOption(formatOption('jsonl'))
    .addOption(completeOption())
    .addOption(
      selectOption(
        'only this part of the stack, chosen as by "trueup plan"; may be repeated. A plan file has its own selection',
      ),
    )
    .option('--calls', 'show the exact requests in the plan')
    .option(
      '--show-plan',
      'show the plan also when it differs from the approved one (a plan that matches is always shown)',
    )
    .addOption(
      timeoutOption(
        'how long the run may take, its ledger included; requests in flight may take a minute longer (default: what the stack says, or 1h)',
      ),
    )
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
    // Reading the targets and waiting for an answer takes time, so the lock is checked again.
    await held?.lockGuard.pass();
    const run = await storeApproval(planning.plan, approved, prepared);
    return carryOut(planning, { ...run, acknowledged }, { ...context, stack });
  };
  return endAfter(planAndApply, prepared.close);
}
