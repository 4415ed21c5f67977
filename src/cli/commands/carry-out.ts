/** Carries out the plan of an apply: history, progress and outcomes, and a new plan as the proof that nothing is left to do. */
import type { AddressText } from '../../model/resource/address.ts';
import type { CommandContext } from '../command-context.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { type Applied, type ApplyTarget, applyPlan } from '../../apply/apply-plan.ts';
import { creationsInDoubt, withFoundTrue } from '../../apply/confirm-by-plan.ts';
import type { LedgerHead } from '../../apply/keep-ledger.ts';
import { saveFound } from '../../apply/record-found.ts';
import type { TargetConnection } from '../../http/open-target.ts';
import type { HistoryEntry, Ledger, RunIdentity } from '../../model/stack/ledger.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { isAllDone, doneText } from '../../report/terminal/outcomes-text.ts';
import { type ExitCode, exitCodeOfApply, exitCodes } from '../exit-codes.ts';
import { type StopSignals, reportStop } from '../stop/stop-signals.ts';
import { endAfter } from '../ledger/hold-lock.ts';
import { endApprovals } from '../approval/store-approval.ts';
import { clocksOf, keepHistory } from '../ledger/record-history.ts';
import { makePlan } from '../run/make-plan.ts';
import type { PreparedRun } from '../run/prepare-run.ts';
import { openProgress } from '../terminal/apply-progress.ts';
import { printOutcomes } from '../terminal/print-outcomes.ts';
import { readSecret, secretContext } from '../run/read-secret.ts';
import { raceStop } from '../stop/race-stop.ts';

export type PreparedApply = PreparedRun<TargetConnection>;

/** A run that has consent to write. */
interface WritingRun extends PreparedApply {
  readonly head: LedgerHead;
  /** approvals that end when it ends well */
  readonly digests: readonly string[];
}

/** One run of apply: its identity, and the signals that stop it. */
export interface ApplyContext extends CommandContext, StopSignals {
  readonly run: RunIdentity;
}

/** Applies a plan that may be applied, plans again, and reports what came of it. */
export async function carryOut(
  planning: PlanResult,
  prepared: WritingRun,
  context: ApplyContext,
): Promise<ExitCode> {
  const { stop, run, terminal } = context;
  const { store, ledger, from, held, digests } = prepared;
  const [now, fence] = [context.host.now, held?.fence];
  const about = { from, run, store, ledger, held, clocks: clocksOf(prepared) };
  const history = await keepHistory(planning.plan, about, terminal);
  const ended: Outcome[] = [];
  let [completed, unrecorded, isProved] = [false, true, false];
  let written: Ledger | undefined;
  let endedApprovals: HistoryEntry['endedApprovals'];
  const work = async () => {
    try {
      const applied = await applyWithProgress(planning, prepared, { ...context, ended });
      unrecorded = false;
      written = applied.ledger;
      const proved = stop.aborted ? 'stopped' : await prove(planning.plan, applied, { prepared, stop });
      if (proved === 'stopped') {
        const { outcomes } = applied;
        const code = exitCodeOfApply(outcomes, undefined) || exitCodes.partial;
        const told = { done: doneText(outcomes), code, isNews: isAllDone(outcomes) };
        return finish({ outcomes, context, code: reportStop(stop, terminal, told) });
      }
      const { outcomes, proof } = proved;
      ended.splice(0, ended.length, ...outcomes);
      const code = exitCodeOfApply(outcomes, proof);
      isProved = code === exitCodes.done && (proof ?? planning.plan).selection === undefined;
      if (code === exitCodes.done)
        endedApprovals = await endApprovals(store, proved.ledger, { digests, isProved, now, fence });
      completed = true;
      return finish({ ...proved, context, code });
    } catch (error) {
      // The outcomes are reported in any case: when the ledger could not be written, they are recorded nowhere else.
      if (ended.length > 0) finish({ outcomes: ended, context, code: exitCodes.error });
      throw error;
    }
  };
  const ending = () => ({ completed, unrecorded, proved: isProved, endedApprovals, ledger: written });
  return endAfter(work, () => history.end(ended, ending()));
}

/** @param context.ended each outcome is added to it as soon as it is known */
async function applyWithProgress(
  planning: PlanResult,
  prepared: WritingRun,
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
      readSecret: (source) => readSecret(source, secretContext(prepared.request.stack, host)),
      now: host.now,
      pause: (milliseconds) => pause(milliseconds, undefined, { signal: cut }).catch(() => {}),
      tell: (event) => {
        if (event.type === 'end') ended.push(event.outcome);
        if (planning.plan.changes.length > 0) progress.show(event);
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

interface Proved {
  /** corrected by what the new plan shows */
  readonly outcomes: readonly Outcome[];
  /** the plan that was made afterwards; absent when there was nothing to prove */
  readonly proof?: Plan;
  /** as written last */
  readonly ledger: Ledger;
}

/** Plans again with the new ledger. */
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
    // Creations of this apply whose outcome is unknown are treated like those of an apply that was cut short: not as foreign.
    begunCreations: new Set([...begunCreations, ...creationsInDoubt(outcomes)]),
    // The records of the former ledger have been imported by now.
    ...(former && { former: { ...former, records: new Set<AddressText>() } }),
    // The questions of commits and of times were settled before the apply.
    commitOrder: undefined,
    isApproved: true,
  };
  const again = await raceStop(makePlan({ ...request, ...written }), stop);
  if (again === 'stopped') return again;
  const saved = await saveFound(again, prepared.request.kinds, { ledger, store: prepared.store });
  return { outcomes: withFoundTrue(outcomes, plan.changes, again), proof: again.plan, ledger: saved };
}

interface ApplyResult {
  readonly outcomes: readonly Outcome[];
  readonly context: CommandContext;
  readonly code: ExitCode;
  readonly proof?: Plan;
}

function finish({ outcomes, context: { terminal }, code, proof }: ApplyResult): ExitCode {
  printOutcomes(terminal, outcomes, proof);
  return code;
}
