/**
 * Reads every target and makes the plan, in the same way for `plan`, for `apply`, and for the plan that is made after an apply.
 * Asks the services what the tokens may do, so that a plan predicts refusals.
 */
import { type LiveReading, type LiveReadings, readFirst, readRest } from '../api/read-live.ts';
import { findDialect } from '../api/dialects.ts';
import { otherDialect, unconfirmedDialect } from '../api/spoken-dialect.ts';
import { isHosted } from '../api/workspaces/organization.ts';
import { type AddressText, parseAddress } from '../model/address.ts';
import type { CommitOrder } from '../model/checkout.ts';
import { clearText, sendsInClear } from '../model/http.ts';
import { type Diagnostic, sortDiagnostics } from '../model/diagnostic.ts';
import type { Session } from '../model/kind.ts';
import type { RemovedByPart } from '../model/part.ts';
import { quoted } from '../model/quoted.ts';
import type { Target } from '../model/stack.ts';
import { buildPlan, type PlanInput, type PlanResult } from '../plan/build-plan.ts';
import { plannedDeletions } from '../plan/draft-removal.ts';
import { type Displaced, displacedProblems, movedProblem, movedTargets } from '../plan/moved-targets.ts';
import { type AskedRights, pathsWithRights, withMissingRights } from '../plan/permission-check.ts';
import type { PlanContextInput } from '../plan/plan-context.ts';
import type { Connected, ConnectedTarget } from './connect.ts';

/** What a plan is made from, with the connections to read the rest. */
export interface PlanRequest extends Omit<PlanInput, 'targets' | 'now' | 'commitOrders' | 'removedByParts'> {
  readonly connected: Connected;
  /** milliseconds since 1970 */
  readonly now: () => number;
  /** the orders of the commits, which are determined while the targets are read */
  readonly commitOrders?: Promise<readonly CommitOrder[]> | undefined;
  /** What applies of parts have deleted or released within a day; called only if the plan does that, too. */
  readonly removedByParts?: () => Promise<readonly RemovedByPart[]>;
  /** adds the results of the stack's policies; absent if it has none */
  readonly checkPolicies?: CheckPolicies | undefined;
}

/** @throws CommandStop when the policies cannot be read, or are not valid */
export type CheckPolicies = (planning: PlanResult) => Promise<PlanResult>;

export async function makePlan(request: PlanRequest): Promise<PlanResult> {
  return (await planWith(request)).planning;
}

async function planWith(request: PlanRequest): Promise<PlanWithInput> {
  const input = await readPlanInput(request);
  const planning = buildPlan(input);
  const isRemoving = planning.plan.changes.some(({ action }) => action === 'delete' || action === 'release');
  const removedByParts = isRemoving ? await request.removedByParts?.() : undefined;
  if (removedByParts === undefined || removedByParts.length === 0) return { planning, input };
  // Built again: guards that count deletions also count those of earlier applies of parts.
  const inputWithRemoved = { ...input, removedByParts };
  return { planning: buildPlan(inputWithRemoved), input: inputWithRemoved };
}

interface PlanWithInput {
  readonly planning: PlanResult;
  /** what it was made from */
  readonly input: PlanInput;
}

/** The plan that is shown, with the requests for which the service would refuse the token of this run. */
export async function makePlanToShow(request: PlanRequest): Promise<PlanWithInput> {
  const { planning: made, input } = await planWith(request);
  const planning = await predictRefusals(made, request.connected);
  return { planning: (await request.checkPolicies?.(planning)) ?? planning, input };
}

/**
 * The plan that apply carries out. Apply uses the token that the service would refuse, so predicted refusals are problems here
 * and not just notes.
 */
export async function makePlanToApply(request: PlanRequest, isApproved: boolean): Promise<PlanResult> {
  const { planning } = await makePlanToShow({ ...request, isApproved });
  const { plan, refusals } = planning;
  return { ...planning, plan: { ...plan, problems: sortDiagnostics([...plan.problems, ...refusals]) } };
}

/** Reads everything that a plan is made from. */
export async function readPlanInput(request: PlanRequest): Promise<PlanInput> {
  const { connected, commitOrders, now, files, documents, ...more } = request;
  const { removedByParts: _, checkPolicies: __, ...given } = more;
  const { stack, ledger } = given;
  const before = new Map(
    connected.targets.map(({ target, connection }) => [target.name, connection.requests()]),
  );
  const moved = new Map(
    movedTargets(ledger, stack.targets).map((one) => [one.target.name, movedProblem(one)] as const),
  );
  const sessions = connected.targets
    .filter(({ target }) => !moved.has(target.name))
    .map((target) => target.openSession());
  const context = { ...given, now: now() };
  const input = { ...context, sessions };
  const first = await readFirst(input);
  const readings = await readRest(input, first, deletionsIn(first, context, sessions));
  // `moved`: the stack file has another address than the ledger. `displaced`: recorded ids were found at another address.
  const displaced = displacedProblems(ledger, stack.targets, displacedIn(readings));
  const doubts = await dialectDoubts(sessions, readings, { ...context, connected });
  return {
    ...context,
    commitOrders: await commitOrders,
    files,
    documents,
    targets: stack.targets.map((declared) => {
      const { name } = declared;
      const found = connected.targets.find(({ target }) => target.name === name);
      if (found === undefined) return skippedTarget(declared, moved.get(name));
      const { target, dialect, connection } = found;
      const doubt = doubts.get(name);
      const other = doubt?.severity === 'error' ? doubt : undefined;
      return {
        target,
        dialect,
        ...comparable(readings.get(name), displaced.get(name) ?? moved.get(name) ?? other),
        warnings: [...(doubt === undefined || doubt === other ? [] : [doubt]), ...clearTextWarning(target)],
        requests: connection.requests() - (before.get(name) ?? 0),
      };
    }),
  };
}

/** A target that is not read, because the part has none of its resources. A changed address is found without reading. */
function skippedTarget(target: Target, moved: Diagnostic | undefined): PlanInput['targets'][number] {
  const dialect = findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect} for ${target.service}`);
  const unread = moved === undefined ? { skipped: true as const } : { unread: moved };
  return { target, dialect, sets: new Map(), requests: 0, ...unread };
}

function clearTextWarning({ name, url }: Target): Diagnostic[] {
  if (!sendsInClear(url)) return [];
  const message = `target ${quoted(name)}: ${clearText.message}`;
  return [{ code: 'tls-not-used', severity: 'warning', class: 'failure', ...clearText, message }];
}

// The dialect of each target is compared with the answers that a plan reads anyway.

/** The problem of a target whose dialect the answers so far contradict; undefined if none does. */
export function dialectProblem({ target, connection }: ConnectedTarget): Diagnostic | undefined {
  const spoken = connection.spokenDialect();
  const problem = otherDialect(target, spoken, `target ${quoted(target.name)}`);
  if (problem === undefined) return undefined;
  return spoken?.isCertain === false
    ? { code: 'dialect-unknown', severity: 'warning', class: 'invalid', ...problem }
    : { code: 'dialect-differs', severity: 'error', class: 'invalid', ...problem };
}

async function dialectDoubts(
  sessions: readonly Session[],
  readings: LiveReadings,
  { desired, connected: { targets } }: Pick<PlanRequest, 'desired' | 'connected'>,
): Promise<ReadonlyMap<string, Diagnostic>> {
  const found = await Promise.all(
    targets.map(async (connected): Promise<readonly [string, Diagnostic][]> => {
      const { name } = connected.target;
      const session = sessions.find(({ target }) => target === connected.target);
      const sets = [...(readings.get(name)?.sets.values() ?? [])];
      const isEmpty = sets.length > 0 && sets.every(({ resources }) => resources.length === 0);
      const isFirstWrite = isEmpty && desired.some(({ address }) => address.target === name);
      const doubt =
        dialectProblem(connected) ??
        (session && isFirstWrite ? await unconfirmed(session, connected) : undefined);
      return doubt === undefined ? [] : [[name, doubt]];
    }),
  );
  return new Map(found.flat());
}

/**
 * The doubt about the dialect of an organization without workspaces. Before the first write, only a header that some services send shows
 * the dialect. An extra request reads it only if no answer had it.
 */
async function unconfirmed(session: Session, connected: ConnectedTarget): Promise<Diagnostic | undefined> {
  const { target, dialect, connection } = connected;
  const problem = unconfirmedDialect(dialect, `target ${quoted(target.name)}`);
  if (problem === undefined || connection.spokenDialect() !== undefined) return undefined;
  const isAnswered = (await isHosted(session)) !== undefined;
  if (!isAnswered || connection.spokenDialect() !== undefined) return dialectProblem(connected);
  return { code: 'dialect-unknown', severity: 'warning', class: 'invalid', ...problem };
}

/** The deletions to expect in each target, as far as the first readings show. */
function deletionsIn(
  first: LiveReadings,
  context: Omit<PlanContextInput, 'targets'>,
  sessions: readonly Session[],
): ReadonlyMap<string, ReadonlySet<AddressText>> {
  const targets = sessions.map(({ target, dialect }) => {
    const { sets = new Map(), ...rest } = first.get(target.name) ?? {};
    return { target, dialect, sets, requests: 0, ...rest };
  });
  const deletions = plannedDeletions({ ...context, targets });
  const byTarget = Map.groupBy(deletions, (text) => parseAddress(text).target);
  return new Map([...byTarget].map(([target, texts]) => [target, new Set(texts)] as const));
}

/**
 * Drops what was read of a target with another address than in the ledger, or with another dialect than declared: it must not be
 * compared with manifests or records. @param unread the problem of the target, if it has one
 */
function comparable(reading: LiveReading | undefined, unread: Diagnostic | undefined): LiveReading {
  if (reading !== undefined && (unread === undefined || reading.unread !== undefined)) return reading;
  return { sets: new Map(), ...(unread === undefined ? {} : { unread }) };
}

function displacedIn(readings: ReadonlyMap<string, LiveReading>): Displaced {
  const found = [...readings].map(([name, { sets }]) => {
    const elsewhere = [...sets.values()].flatMap((set) => [...(set.elsewhere?.values() ?? [])]);
    return [name, elsewhere] as const;
  });
  return new Map(found.filter(([, elsewhere]) => elsewhere.length > 0));
}

// Asks the services what the tokens of a run may do, so that a plan predicts refusals.

/** Predicts refusals, with one request to each target that has changes and reports rights. */
async function predictRefusals(planning: PlanResult, { targets }: Connected): Promise<PlanResult> {
  const paths = pathsWithRights(planning);
  const asked = await Promise.all(
    targets.map(async ({ target, connection }): Promise<[string, AskedRights] | undefined> => {
      const wanted = paths.get(target.name);
      if (wanted === undefined || connection.askRights === undefined) return undefined;
      const before = connection.requests();
      const rights = await connection.askRights(wanted);
      return [target.name, { rights, paths: wanted.length, requests: connection.requests() - before }];
    }),
  );
  return withMissingRights(planning, new Map(asked.filter((one) => one !== undefined)));
}
