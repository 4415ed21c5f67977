/** `trueup apply [path]`: shows the plan, asks, carries it out, and plans again to prove that nothing is left. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Applied, type ApplyTarget, applyPlan } from '../../apply/apply-plan.ts';
import { saveFound } from '../../apply/record-found.ts';
import type { TargetConnection } from '../../http/open-target.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import type { Planning } from '../../plan/build-plan.ts';
import { renderOutcomesJson } from '../../report/outcomes-json.ts';
import { outcomeSummary, renderOutcomes } from '../../report/outcomes-text.ts';
import { renderResidue } from '../../report/residue-text.ts';
import { connectToWrite } from '../connect.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { makePlan } from '../make-plan.ts';
import { type Prepared as PreparedRun, prepareRun } from '../prepare-run.ts';
import { openProgress } from '../progress.ts';
import { printError, type Screen } from '../screen.ts';
import { readSecret } from '../secrets.ts';
import type { World } from '../world.ts';
import { printPlan } from './plan.ts';

export interface ApplyOptions {
  readonly yes?: boolean;
  readonly calls?: boolean;
}

type Prepared = PreparedRun<TargetConnection>;

interface Place {
  readonly world: World;
  readonly screen: Screen;
}

export async function apply(
  path: string | undefined,
  options: ApplyOptions,
  place: Place,
): Promise<ExitCode> {
  const prepared = await prepareRun(path, place, connectToWrite);
  if (typeof prepared === 'number') return prepared;
  try {
    const planning = await makePlan(prepared.request);
    if (place.screen.format === 'text') printPlan(place.screen, planning.plan, options.calls ?? false);
    const refusal = await refuse(planning.plan, options, place);
    if (refusal !== undefined) return refusal;
    return await carryOut(planning, prepared, place);
  } finally {
    await prepared.connected.close();
  }
}

/** Why nothing is going to be written; undefined when it may be. */
async function refuse(
  plan: Plan,
  options: ApplyOptions,
  { world, screen }: Place,
): Promise<ExitCode | undefined> {
  const problems = exitCodeOf(plan.problems);
  if (problems !== exitCodes.done) {
    if (screen.format === 'json') printPlan(screen, plan, false);
    printError(screen, 'nothing was written: the plan has problems that must be solved first');
    return problems;
  }
  if (plan.changes.length === 0 || options.yes) return undefined;
  if (!world.interactive || screen.format === 'json') {
    printError(
      screen,
      'nothing was written: apply asks before it writes; where nobody can answer, pass --yes',
    );
    return exitCodes.error;
  }
  if (
    await world.confirm(
      `Apply ${plan.changes.length === 1 ? 'this change' : `these ${plan.changes.length} changes`}?`,
    )
  )
    return undefined;
  world.stderr.write('nothing was written\n');
  return exitCodes.error;
}

async function carryOut(planning: Planning, prepared: Prepared, place: Place): Promise<ExitCode> {
  const stop = new AbortController();
  const forgetSignals = place.world.onStop(() => stop.abort());
  const progress = await openProgress(place.screen);
  let applied: Applied;
  try {
    applied = await applyPlan({
      planning,
      kinds: place.world.kinds,
      targets: applyTargets(prepared),
      ledger: prepared.ledger,
      store: prepared.store,
      stop: stop.signal,
      readSecret: (source) => readSecret(source, place.world, prepared.request.stack.directory),
      pause: async (milliseconds) => {
        await pause(milliseconds);
      },
      tell: (event) => {
        if (planning.plan.changes.length > 0) progress.tell(event);
      },
    });
  } finally {
    progress.end();
    forgetSignals();
  }
  if (stop.signal.aborted) return finish({ outcomes: applied.outcomes, place, code: exitCodes.interrupted });
  const proof = await prove(planning.plan, applied, prepared);
  return finish({
    outcomes: applied.outcomes,
    place,
    code: codeOf(applied.outcomes, proof),
    ...(proof === undefined ? {} : { proof }),
  });
}

function applyTargets({ connected }: Prepared): ReadonlyMap<string, ApplyTarget> {
  return new Map(
    connected.targets.map((target) => [
      target.target.name,
      { session: target.openSession(), writer: target.connection.openWriter() },
    ]),
  );
}

/** Plans once more, with what the ledger knows now. Undefined when there was nothing to prove. */
async function prove(plan: Plan, applied: Applied, prepared: Prepared): Promise<Plan | undefined> {
  if (plan.changes.length === 0) return plan.coverage.complete ? undefined : plan;
  const again = await makePlan({ ...prepared.request, ledger: applied.ledger });
  await saveFound(again, prepared.request.kinds, { ledger: applied.ledger, store: prepared.store });
  return again.plan;
}

function codeOf(outcomes: readonly Outcome[], proof: Plan | undefined): ExitCode {
  const some = (...kinds: Outcome['kind'][]) => outcomes.some(({ kind }) => kinds.includes(kind));
  const written = some('applied', 'unknown');
  if (some('failed', 'unknown', 'skipped'))
    return written ? exitCodes.partial : some('stale') ? exitCodes.stale : exitCodes.error;
  if (some('stale')) return written ? exitCodes.partial : exitCodes.stale;
  if (
    proof !== undefined &&
    (proof.changes.length > 0 || proof.problems.length > 0 || !proof.coverage.complete)
  )
    return exitCodes.partial;
  return exitCodes.done;
}

interface Ending {
  readonly outcomes: readonly Outcome[];
  readonly place: Place;
  readonly code: ExitCode;
  readonly proof?: Plan;
}

function finish({ outcomes, place, code, proof }: Ending): ExitCode {
  const { world, screen } = place;
  if (screen.format === 'json') world.stdout.write(`${renderOutcomesJson(outcomes)}\n`);
  else for (const block of endingBlocks(outcomes, screen, proof)) world.stdout.write(`\n${block}\n`);
  return code;
}

/** What is told at the end. Where every outcome already had its line, only those that need a person are repeated. */
function endingBlocks(outcomes: readonly Outcome[], screen: Screen, proof: Plan | undefined): string[] {
  const { paint, width, world } = screen;
  if (outcomes.length === 0) return [];
  const open = outcomes.filter(({ kind }) => kind !== 'applied' && kind !== 'unchanged');
  const listed = world.stdout.isTTY ? outcomes : open;
  const blocks = [listed.length === 0 ? outcomeSummary(outcomes) : renderOutcomes(listed, { paint })];
  if (listed.length > 0 && listed.length < outcomes.length) blocks.push(outcomeSummary(outcomes));
  if (proof === undefined) return blocks;
  const residue = renderResidue(proof, { paint, ...(width === undefined ? {} : { width }) });
  return [...blocks, residue === '' ? 'Planned again: nothing is left to do' : residue];
}
