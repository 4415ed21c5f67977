/**
 * `trueup apply [path]`: shows the plan, asks or compares it with what was approved, carries it out, and plans again to
 * prove that nothing is left.
 */
import type { AddressText } from '../../model/resource/address.ts';
import type { CommandContext } from '../command-context.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { type Applied, type ApplyTarget, applyPlan } from '../../apply/apply-plan.ts';
import { creationsInDoubt, withFoundTrue } from '../../apply/found-afterwards.ts';
import type { LedgerHead } from '../../apply/keep-ledger.ts';
import { saveFound } from '../../apply/record-found.ts';
import type { TargetConnection } from '../../http/open-target.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { ApprovedPlan, Ledger, RunIdentity } from '../../model/stack/ledger.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Planning } from '../../plan/build-plan.ts';
import { renderOutcomesJson } from '../../report/json/outcomes-json.ts';
import { isAllDone, renderOutcomes, whatWasDone } from '../../report/terminal/outcomes-text.ts';
import { renderResidue, withoutTold } from '../../report/terminal/unproved-text.ts';
import { readIds, refuseIds } from '../approval/acknowledge.ts';
import { connectToWrite } from '../run/connect.ts';
import { askConsent, passedGuards, refuseProblems } from '../approval/consent.ts';
import { type ExitCode, exitCodeOfApply, exitCodes } from '../exit-codes.ts';
import { bringAlong, isPending, type Locking } from '../ledger/former-ledger.ts';
import { listenForStops, type Stops, tellStop } from '../stop/stop-signals.ts';
import { freeLeftLock, holdLock, thenRelease } from '../ledger/hold-lock.ts';
import { checkApproval, refuseElsewhere } from '../approval/check-approval.ts';
import { identifyRun } from '../run/identify-run.ts';
import {
  forgetApproved,
  type HeadedApproval,
  storeApproval,
  withApproved,
} from '../approval/store-approval.ts';
import { keepHistory } from '../ledger/record-history.ts';
import { ledgerHead } from '../ledger/ledger-head.ts';
import { makePlan, makePlanToApply } from '../run/make-plan.ts';
import { learnSecrets, refuseMissingSecrets } from '../run/missing-secrets.ts';
import { isRefusal } from '../approval/plan-file.ts';
import { type PreparedRun, prepareRun } from '../run/prepare-run.ts';
import { openProgress } from '../terminal/apply-progress.ts';
import { type ApplyRequest, readApproval, tellRefusal } from '../approval/read-approval.ts';
import { printJson, printWarnings, type Terminal } from '../terminal/terminal.ts';
import { readSecret, type SecretPlace, secretPlace } from '../run/read-secret.ts';
import { pathOfStack, stackWords } from '../stack-argument.ts';
import { raceStop } from '../stop/race-stop.ts';
import { printPlan } from './plan.ts';

export interface ApplyOptions {
  readonly yes?: boolean;
  /** the digest of the plan that was approved */
  readonly approve?: string;
  /** guards of that plan that were acknowledged, parted by commas */
  readonly ack?: string;
  readonly calls?: boolean;
  /** what standard input brings is all of the stack */
  readonly complete?: boolean;
  /** seconds to wait for the lock of the stack; 0 when absent */
  readonly lockTimeout?: number;
  /** seconds that the run may take */
  readonly timeout?: number;
}

type PreparedApply = PreparedRun<TargetConnection>;

/** A run that may write. */
interface Begun extends PreparedApply {
  readonly head: LedgerHead;
}

/** One run of apply: who it is, and what tells it to stop. */
interface ApplyContext extends CommandContext, Stops {
  readonly run: RunIdentity;
}

/** @param paths at most a stack and a plan file, in any order */
export async function apply(
  paths: readonly string[],
  options: ApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const asked = await readApproval(paths, options.approve, context.host.cwd);
  if (isRefusal(asked)) return tellRefusal(asked, context.terminal);
  const mistake = refuseIds(readIds(options.ack), asked.approval !== undefined);
  if (mistake !== undefined) return tellRefusal(mistake, context.terminal);
  const stops = listenForStops(context.host);
  const run = identifyRun(context.host);
  try {
    return await applyUnderLock(asked, options, { ...context, ...stops, run });
  } finally {
    stops.forget();
  }
}

async function applyUnderLock(
  { path, approval }: ApplyRequest,
  options: ApplyOptions,
  context: ApplyContext,
): Promise<ExitCode> {
  const { stop, terminal } = context;
  const stack = stackWords(path, options.complete);
  const prepared = await prepareRun(path, context, {
    complete: options.complete,
    timeout: options.timeout,
    stops: context,
    connect: (stack, host, { deadline }) => connectToWrite(stack, host, { deadline, signal: context.cut }),
    lock: lockingOf(path, options, context),
  });
  if (typeof prepared === 'number') return prepared;
  const planAndApply = async () => {
    const elsewhere = approval && refuseElsewhere(approval, prepared.request, terminal);
    if (elsewhere !== undefined) return elsewhere;
    const planning = await raceStop(makePlanToApply(prepared.request), stop);
    if (planning === 'stopped')
      return tellStop(stop, terminal, { done: 'nothing was written', code: exitCodes.error });
    const secrets = secretPlace(prepared.request.stack, context.host);
    await learnSecrets(planning.plan, secrets, context.host.secrets);
    if (terminal.format === 'text') printPlan(terminal, planning.plan, { ...options, stack });
    const pass = { approval, options, ledger: prepared.ledger, stack, secrets };
    const passed = await letPass(planning, pass, context);
    if (typeof passed === 'number') return passed;
    // Reading, and the answer of a person, take their time.
    await prepared.held?.fence.pass();
    const head = await headOf(planning.plan, prepared);
    const approved = { ...passed, head };
    const ledger = await storeApproval(prepared.store, await begin(prepared, approved), approved);
    return carryOut(planning, { ...prepared, ledger, head }, context);
  };
  return thenRelease(planAndApply, prepared.close);
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
    free: (stack, store) => freeLeftLock({ store, stack: stack.name, run }, terminal),
  };
}

/**
 * What the stack was under its former name comes along before anything is sent, and the approval with it: the plan is
 * another one as soon as nothing is left to come.
 */
async function begin(
  { former, store, ledger, request: { stack } }: PreparedApply,
  approval: HeadedApproval,
): Promise<Ledger> {
  if (former === undefined || !isPending(former)) return ledger;
  return bringAlong(former, { stack, store, ledger: withApproved(ledger, approval) });
}

interface Pass {
  readonly approval: ApplyRequest['approval'];
  readonly options: ApplyOptions;
  readonly ledger: Ledger;
  /** what names the stack on the command line */
  readonly stack: string | undefined;
  readonly secrets: SecretPlace;
}

/** What was approved, once problems, approval, secrets and guards have let the plan pass; the exit code when one has not. */
async function letPass(
  planning: Planning,
  { approval, options, ledger, stack, secrets }: Pass,
  context: ApplyContext,
): Promise<{ readonly approved: ApprovedPlan | undefined } | ExitCode> {
  const { terminal } = context;
  const problems = refuseProblems(planning.plan, terminal);
  if (problems !== undefined) return problems;
  const approved = approval && checkApproval(planning, approval, { ledger, terminal });
  if (typeof approved === 'number') return approved;
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

async function headOf(plan: Plan, { ledger, from, request }: PreparedApply): Promise<LedgerHead> {
  return ledgerHead({ ledger, stack: request.stack, plan, from, order: await request.commitOrder });
}

async function carryOut(planning: Planning, prepared: Begun, context: ApplyContext): Promise<ExitCode> {
  const { stop, run, terminal } = context;
  const { store, ledger, from, held } = prepared;
  const history = await keepHistory(planning.plan, { from, run, store, ledger, held }, terminal);
  const ended: Outcome[] = [];
  let [cameToItsEnd, unrecorded] = [false, true];
  try {
    const applied = await applyWithProgress(planning, prepared, { ...context, ended });
    unrecorded = false;
    const proved = stop.aborted ? 'stopped' : await prove(planning.plan, applied, { prepared, stop });
    if (proved === 'stopped') {
      const ended = exitCodeOfApply(applied.outcomes, undefined) || exitCodes.partial;
      const code = tellStop(stop, terminal, {
        done: whatWasDone(applied.outcomes),
        code: ended,
        isNews: isAllDone(applied.outcomes),
      });
      return finish({ outcomes: applied.outcomes, context, code });
    }
    const { outcomes, proof } = proved;
    ended.splice(0, ended.length, ...outcomes);
    const code = exitCodeOfApply(outcomes, proof);
    if (code === exitCodes.done) await forgetApproved(store, proved.ledger, held?.fence);
    cameToItsEnd = true;
    return finish({ ...proved, context, code });
  } catch (error) {
    // What was done is told all the same: nobody else knows it when the ledger could not be written.
    if (ended.length > 0) finish({ outcomes: ended, context, code: exitCodes.error });
    throw error;
  } finally {
    await history.end(ended, { cameToItsEnd, unrecorded });
  }
}

/** @param context.ended is given each outcome as it comes */
async function applyWithProgress(
  planning: Planning,
  prepared: Begun,
  { host, terminal, stop, cut, ended }: ApplyContext & { readonly ended: Outcome[] },
): Promise<Applied> {
  const progress = openProgress(terminal);
  try {
    return await applyPlan({
      planning,
      kinds: host.kinds,
      targets: applyTargets(prepared),
      ledger: prepared.ledger,
      head: prepared.head,
      store: prepared.store,
      ...(prepared.held === undefined ? {} : { fence: prepared.held.fence }),
      stop,
      readSecret: (source) => readSecret(source, secretPlace(prepared.request.stack, host)),
      pause: async (milliseconds) => {
        await pause(milliseconds, undefined, { signal: cut }).catch(() => {});
      },
      tell: (event) => {
        if (event.type === 'end') ended.push(event.outcome);
        if (planning.plan.changes.length > 0) progress.tell(event);
      },
    });
  } finally {
    progress.end();
  }
}

function applyTargets({ connected }: PreparedApply): ReadonlyMap<string, ApplyTarget> {
  return new Map(
    connected.targets.map((target) => [
      target.target.name,
      { session: target.openSession(), writer: target.connection.openWriter() },
    ]),
  );
}

/** The plan that was made afterwards, absent when there was nothing to prove, and the outcomes with what it says of them. */
interface Proved {
  readonly outcomes: readonly Outcome[];
  readonly proof?: Plan;
  /** as it was written last */
  readonly ledger: Ledger;
}

/** Plans once more, with what the ledger knows now. */
async function prove(
  plan: Plan,
  { outcomes, ledger }: Applied,
  { prepared, stop }: { readonly prepared: PreparedApply; readonly stop: AbortSignal },
): Promise<Proved | 'stopped'> {
  if (plan.changes.length === 0)
    return plan.coverage.complete ? { outcomes, ledger } : { outcomes, proof: plan, ledger };
  const { former, begunCreations = [], ...request } = prepared.request;
  const written = {
    ledger,
    // Until it has been seen, what of this very apply nobody was told of is as little a stranger's as what was cut short.
    begunCreations: new Set([...begunCreations, ...creationsInDoubt(outcomes)]),
    ...(former && { former: { ...former, records: noRecords } }),
    // Which commit was applied is settled by now.
    commitOrder: undefined,
  };
  const again = await raceStop(makePlan({ ...request, ...written }), stop);
  if (again === 'stopped') return again;
  const saved = await saveFound(again, prepared.request.kinds, { ledger, store: prepared.store });
  return { outcomes: withFoundTrue(outcomes, plan.changes, again), proof: again.plan, ledger: saved };
}

/** What came along has been written by now. */
const noRecords: ReadonlySet<AddressText> = new Set();

interface ApplyResult {
  readonly outcomes: readonly Outcome[];
  readonly context: CommandContext;
  readonly code: ExitCode;
  readonly proof?: Plan;
}

function finish({ outcomes, context, code, proof }: ApplyResult): ExitCode {
  const { terminal } = context;
  if (terminal.format === 'json') printJson(terminal, (told) => renderOutcomesJson(outcomes, told));
  else
    for (const block of endingBlocks(outcomes, terminal, proof)) terminal.host.stdout.write(`\n${block}\n`);
  printWarnings(terminal, proof?.problems ?? []);
  return code;
}

/** What is told at the end. Where every outcome already had its line, only those that need a person are repeated. */
function endingBlocks(outcomes: readonly Outcome[], terminal: Terminal, proof: Plan | undefined): string[] {
  const { paint, width, host } = terminal;
  if (outcomes.length === 0) return [];
  const blocks = [renderOutcomes(outcomes, { paint, openOnly: !host.stdout.isTTY })];
  if (proof === undefined) return blocks;
  const residue = renderResidue(withoutTold(proof, outcomes), {
    paint,
    ...(width === undefined ? {} : { width }),
  });
  if (residue !== '') return [...blocks, residue];
  const nothingLeft = proof.changes.length === 0 && !hasErrors(proof.problems);
  return nothingLeft ? [...blocks, 'Planned again: nothing is left to do'] : blocks;
}
