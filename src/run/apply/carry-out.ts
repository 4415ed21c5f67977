/** Carries out the plan of an apply: history, progress and outcomes, and a new plan that proves that nothing is left to do. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Applied, applyPlan, type ApplyTarget } from '../../apply/apply-plan.ts';
import { saveFound } from '../../apply/ledger-records.ts';
import { creationsInDoubt, leftOpen, verifiedByPlan } from '../../apply/verify-write.ts';
import { type AddressText, formatAddress, parseAddress } from '../../model/address.ts';
import type { ApplyEvent, Outcome } from '../../model/change.ts';
import type { HistoryEntry, Ledger, RunIdentity } from '../../model/ledger.ts';
import type { Plan } from '../../model/plan.ts';
import { counted } from '../../model/quoted.ts';
import type { OpenWrites } from '../../plan/begun-writes.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { namesChangedSince } from '../../plan/approval-coverage.ts';
import { withBegun } from '../../plan/restrict-to-part.ts';
import { progressEvent, renderOutcomesJson } from '../../report/json/apply-events.ts';
import { wrap } from '../../report/text/layout.ts';
import {
  countOutcomes,
  countWritten,
  doneText,
  isAllDone,
  renderEvent,
  renderOutcomes,
  stepAfterApply,
  writtenText,
} from '../../report/text/outcomes.ts';
import { clocksOf, keepHistory } from '../apply-history.ts';
import { checkedRecords } from '../checked-changes.ts';
import { CommandStop } from '../command-stop.ts';
import { type ExitCode, exitCodeOfApply, exitCodes } from '../exit-codes.ts';
import { endAfter } from '../lock.ts';
import { makePlan } from '../make-plan.ts';

import { timeText } from '../progress.ts';
import { readSecret, secretContext } from '../read-secret.ts';
import { raceStop, stoppedRun, type StopSignals } from '../stop-signals.ts';
import { type CommandContext, printJson, printWarnings, type Terminal, textOutput } from '../terminal.ts';
import { endApprovals, type PreparedApply, type WritingRun } from './store-approval.ts';
import { renderUnconverged } from '../../report/text/plan.ts';

/** One run of apply: its identity, and the signals that stop it. */
export interface ApplyContext extends CommandContext, StopSignals {
  readonly run: RunIdentity;
  /** the stack's argument in the commands that the end suggests */
  readonly stack?: string | undefined;
}

/** Applies a plan that may be applied, plans again, and reports the outcomes. @throws CommandStop when it was stopped */
export async function carryOut(
  planning: PlanResult,
  prepared: WritingRun,
  context: ApplyContext,
): Promise<ExitCode> {
  const { run, terminal, stack } = context;
  const { store, held, digests, approvals } = prepared;
  const [now, lockGuard, began] = [context.host.now, held?.lockGuard, context.host.now()];
  const effort = () => ({ seconds: (now() - began) / 1000, requests: requestsOf(prepared) });
  const checked = checkedRecords(planning, prepared.request);
  const about = { ...prepared, run, checked, clocks: clocksOf(prepared) };
  const history = await keepHistory(planning.plan, about, terminal);
  const ended: Outcome[] = [];
  // At first each outcome as soon as it is known, then all of them as the apply and the plan after it correct them.
  let outcomes: readonly Outcome[] = ended;
  let [completed, unrecorded, isProved, isConverged] = [false, true, false, false];
  let written: Ledger | undefined;
  // Until a plan finds out about them, all creations that earlier applies left open stay open.
  let openCreations: readonly AddressText[] = [...(prepared.request.begunCreations ?? [])];
  let { openFields } = planning;
  let endedApprovals: HistoryEntry['endedApprovals'];
  const work = async () => {
    try {
      const applied = await applyWithProgress(planning, prepared, { ...context, ended });
      unrecorded = false;
      written = applied.ledger;
      outcomes = applied.outcomes;
      const proved = await prove(planning, applied, { prepared, stop: context.stopStarting });
      const { proof } = proved;
      outcomes = proved.outcomes;
      openCreations = proved.openCreations.filter((address) => !proved.ledger.records.has(address));
      openFields = proved.openFields;
      const code = exitCodeOfApply(outcomes, proof);
      const { selection, notices } = proof ?? planning.plan;
      isProved = code === exitCodes.done && selection === undefined;
      isConverged = isProved && !notices.some(({ isPending }) => isPending);
      // A signer's clock may be ahead of ours: the approval must not look newer than the apply that used it up.
      const given = (approvals ?? []).map(({ at }) => Date.parse(at) || 0);
      const ending = { digests, isProved, isConverged, now: () => Math.max(now(), ...given), lockGuard };
      if (code === exitCodes.done) endedApprovals = await endApprovals(store, proved.ledger, ending);
      completed = true;
      printOutcomes(terminal, outcomes, { proof, stack, ...effort() });
      return code;
    } catch (error) {
      // The outcomes are reported in any case: when the ledger could not be written, they are recorded nowhere else.
      if (outcomes.length > 0 || error instanceof CommandStop)
        printOutcomes(terminal, outcomes, { stack, ...effort() });
      throw error;
    }
  };
  return endAfter(work, () =>
    history.end(outcomes, {
      completed,
      unrecorded,
      proved: isProved,
      isConverged,
      endedApprovals,
      openCreations: openCreations.filter((address) => written?.records.has(address) !== true),
      openFields: leftOpen(outcomes, planning, openFields),
      ledger: written,
    }),
  );
}

/** @param context.ended gets each outcome as soon as it is known */
async function applyWithProgress(
  planning: PlanResult,
  prepared: WritingRun,
  { host, terminal, stopStarting, abortRequests, ended }: ApplyContext & { readonly ended: Outcome[] },
): Promise<Applied> {
  const { progress } = host;
  try {
    return await applyPlan({
      planning,
      kinds: host.kinds,
      targets: applyTargets(prepared),
      ledger: prepared.ledger,
      head: prepared.head,
      store: prepared.store,
      ...(prepared.held === undefined ? {} : { lockGuard: prepared.held.lockGuard }),
      stop: stopStarting,
      readSecret: (source) => readSecret(source, secretContext(prepared.request.stack, host)),
      now: host.now,
      pause: (milliseconds) => pause(milliseconds, undefined, { signal: abortRequests }).catch(() => {}),
      tell: (event) => {
        if (event.type === 'end') ended.push(event.outcome);
        if (planning.plan.changes.length > 0) showEvent(event, terminal);
      },
    });
  } finally {
    progress.begin('Verifying');
  }
}

function applyTargets({ connected }: PreparedApply): ReadonlyMap<string, ApplyTarget> {
  return new Map(
    connected.targets.map((target) => [
      target.target.name,
      {
        session: target.openSession(),
        openSession: () => target.openSession(),
        writer: target.connection.openWriter(),
      },
    ]),
  );
}

/** The resources that the service has deleted. After a rename by hand, the record of such a resource has the former name. */
function deletedIn(
  outcomes: readonly Outcome[],
  { changes }: Pick<Plan, 'changes'>,
  { records }: Pick<Ledger, 'records'>,
): ReadonlySet<AddressText> {
  const deletions = outcomes.filter(({ action, kind }) => action === 'delete' && kind === 'applied');
  const deleted = new Set(deletions.map(({ address }) => formatAddress(address)));
  const ids = new Set(
    changes.flatMap(({ address, id }) =>
      id !== undefined && deleted.has(formatAddress(address))
        ? [`${address.kind}/${address.target}/${id}`]
        : [],
    ),
  );
  const recorded = [...(ids.size === 0 ? [] : records)].flatMap(([text, { id }]) => {
    const { kind, target } = parseAddress(text);
    return ids.has(`${kind}/${target}/${id}`) ? [text] : [];
  });
  return new Set([...deleted, ...recorded]);
}

interface Proved extends OpenWrites {
  /** corrected by what the new plan shows */
  readonly outcomes: readonly Outcome[];
  /** the plan that was made afterwards, with the names that were changed meanwhile; absent when there was nothing to prove */
  readonly proof?: Plan;
  /** the ledger that was written last */
  readonly ledger: Ledger;
}

/** Plans again with the new ledger. @throws CommandStop when the run was stopped */
async function prove(
  planning: PlanResult,
  { outcomes, ledger }: Applied,
  { prepared, stop }: { readonly prepared: PreparedApply; readonly stop: AbortSignal },
): Promise<Proved> {
  const stopped = () =>
    stoppedRun(stop, {
      done: doneText(outcomes),
      exit: exitCodeOfApply(outcomes, undefined) || exitCodes.partial,
      mustPrint: isAllDone(outcomes),
    });
  if (stop.aborted) throw stopped();
  const { plan, openCreations, openFields } = planning;
  if (plan.changes.length === 0)
    return {
      outcomes,
      ledger,
      openCreations,
      openFields,
      ...(plan.coverage.complete ? {} : { proof: plan }),
    };
  const { former, moves: _, begunCreations = [], part, ...request } = prepared.request;
  const afterApply = {
    part: part && withBegun(part, plan),
    ledger,
    // Creations of this apply whose outcome is unknown are treated like those of an interrupted apply: they are not foreign.
    begunCreations: new Set([...begunCreations, ...creationsInDoubt(outcomes)]),
    begunFields: leftOpen(outcomes, planning),
    deleted: deletedIn(outcomes, plan, ledger),
    // The records of the former ledger have been imported by now.
    ...(former && { former: { ...former, records: new Set<AddressText>() } }),
    // Commits and times were checked before the apply.
    commitOrders: undefined,
    isApproved: true,
  };
  const again = await raceStop(makePlan({ ...request, ...afterApply }), stop, stopped);
  const changedNames = namesChangedSince(plan, again);
  // No one has reviewed what these names resolve to now: the ledger keeps the former ids, and the next plan compares with them.
  const saved =
    changedNames.length > 0
      ? ledger
      : await saveFound(again, prepared.request.kinds, { ledger, store: prepared.store });
  const proof = { ...again.plan, changedNames };
  const found = verifiedByPlan(outcomes, plan.changes, again);
  return {
    ...{ outcomes: found, proof, ledger: saved },
    ...{ openCreations: again.openCreations, openFields: again.openFields },
  };
}

/**
 * Prints a line for each change; on a terminal with a progress line, only for changes that are not done. With JSON, the lines go to
 * stderr, because stdout must hold only the result, or its events.
 */
function showEvent(event: ApplyEvent, terminal: Terminal): void {
  const { host, format, events } = terminal;
  const isText = format === 'text';
  events?.write(progressEvent(event));
  if (event.type === 'begin') host.progress.begin('Applying', event.changes);
  if (event.type === 'end') host.progress.advance(event.finished);
  const isOpen = event.type === 'end' && !isAllDone([event.outcome]);
  if (isText && host.progress.isLive && !isOpen) return;
  const line = renderEvent(event, { paint: isText ? terminal.paint : terminal.errorPaint });
  if (line !== undefined) (isText ? host.stdout : host.stderr).write(`${line}\n`);
}

// The end of an apply: the outcome of each change, and whether the plan that was made afterwards is empty.

interface Ending {
  /** the plan that was made afterwards; absent when there was nothing to prove */
  readonly proof?: Plan | undefined;
  readonly stack: string | undefined;
  readonly seconds: number;
  readonly requests: number;
}

function requestsOf({ connected }: PreparedApply): number {
  return connected.targets.reduce((sum, { connection }) => sum + connection.requests(), 0);
}

function printOutcomes(terminal: Terminal, outcomes: readonly Outcome[], ending: Ending): void {
  const { proof } = ending;
  terminal.host.progress.end();
  printJson(terminal, (reported) => renderOutcomesJson(outcomes, reported));
  terminal.result.outcomes = countOutcomes(outcomes);
  terminal.result.written = countWritten(outcomes, proof);
  const output = textOutput(terminal);
  for (const block of endingBlocks(outcomes, terminal, ending)) output?.write(`\n${block}\n`);
  printWarnings(terminal, proof?.problems ?? []);
}

/** So many failures fit on a screen with 24 rows, if each message takes two rows. */
const mostShown = 3;

/**
 * The blocks of text at the end. When each outcome has been printed already, only those that need attention are repeated; on a terminal
 * only so many that the end fits on the screen.
 */
function endingBlocks(
  outcomes: readonly Outcome[],
  terminal: Terminal,
  { proof, stack, seconds, requests }: Ending,
): string[] {
  const { paint, width, host } = terminal;
  if (outcomes.length === 0) return [];
  const { isLive } = host.progress;
  const blocks = [renderOutcomes(outcomes, { paint, openOnly: !isLive, ...(isLive && { most: mostShown }) })];
  const effort = paint.dim(
    `${writtenText(outcomes, proof)} in ${timeText(seconds)}, with ${counted(requests, 'request')}`,
  );
  const nextStep = (found: Parameters<typeof stepAfterApply>[1]) =>
    [effort, ...wrap(stepAfterApply(outcomes, found, stack, proof?.part), width ?? 1000)].join('\n');
  if (proof === undefined) return [...blocks, nextStep(undefined)];
  const left = withoutReported(proof, outcomes);
  const residue = renderUnconverged(left, { paint, ...(width === undefined ? {} : { width }) });
  if (residue !== '') return [...blocks, residue, nextStep(mayBeDialect(left) ? 'not-kept' : 'not-empty')];
  const nothingLeft =
    proof.changes.length === 0 && proof.problems.length === 0 && proof.changedNames.length === 0;
  if (!nothingLeft) return [...blocks, nextStep('not-empty')];
  const where = proof.part === undefined ? '' : ' in this part of the stack';
  return [...blocks, `Planned again: nothing is left to do${where}`, nextStep('empty')];
}

/** Whether the cause of these changes may be a wrong dialect: a service silently drops members that it does not know. */
function mayBeDialect({ changes, targets }: Plan): boolean {
  const others = targets.filter(({ service, url }) => service === 'workspaces' && url !== 'embedded');
  return changes.some(({ address }) => others.some(({ name }) => name === address.target));
}

/** Drops changes whose outcome already said that they were not carried out: only carried-out changes can fail to converge. */
function withoutReported(proof: Plan, outcomes: readonly Outcome[]): Plan {
  const open = outcomes.filter(({ kind }) => kind !== 'applied' && kind !== 'unchanged');
  const reported = new Set(open.map(({ address }) => formatAddress(address)));
  return { ...proof, changes: proof.changes.filter(({ address }) => !reported.has(formatAddress(address))) };
}
