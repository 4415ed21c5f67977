/**
 * Predicts which changes the service will refuse, from the live state and the rights of the token that the service reports. Only a
 * right that is certainly denied counts as missing. A plan has notes about refusals; an apply with the same token has errors.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Call } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { TokenRights } from '../model/http.ts';
import { ownMember } from '../model/json.ts';
import { refusalNote } from '../model/transient-notes.ts';
import type { Coverage, Plan } from '../model/plan.ts';
import { counted, quoted } from '../model/quoted.ts';
import type { LiveResource } from '../model/resource.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';

interface PlannedAttempt {
  readonly change: Pick<Change, 'address' | 'action' | 'calls'>;
  readonly live: LiveResource | undefined;
  /** `safe` or `force` of a removal request */
  readonly remove?: 'safe' | 'force';
}

/** Why the service will refuse the change, as clauses; empty if it will not. For a forced delete only missing rights count. */
function predictRefusal(
  context: PlanContext,
  { change, live, remove }: PlannedAttempt,
  { withRights } = { withRights: true },
): readonly string[] {
  const { address, action, calls } = change;
  if (live === undefined || action === 'none') return [];
  const { blockers } = context.kind(address.kind);
  const blocking = remove === 'force' ? [] : (blockers?.(live, action, context.record(address)) ?? []);
  return [...blocking, ...(withRights ? deniedRights(calls, live) : [])];
}

function deniedRights(calls: readonly Call[], { rights = {} }: LiveResource): string[] {
  const denied = new Map<string, readonly string[]>();
  const hints = new Set<string>();
  for (const { id, permission, refusalHints } of calls) {
    if (permission === undefined || ownMember(rights, permission) !== false) continue;
    denied.set(permission, [...(denied.get(permission) ?? []), nameOf(id)]);
    if (refusalHints?.[403] !== undefined) hints.add(refusalHints[403]);
  }
  const lacks = [...denied].map(
    ([right, names]) => `this token lacks ${quoted(right)}, needed for: ${names.join(', ')}`,
  );
  return [...lacks, ...hints];
}

/** The name of a call within its change: `lock` of `Kind/acme/app#lock`. */
function nameOf(id: Call['id']): string {
  return id.slice(id.lastIndexOf('#') + 1);
}

/** The predicted refusals as a note of the plan. A token without any write permission is noted only once, for its target. */
function refusalNotes(context: PlanContext, attempt: PlannedAttempt): string[] {
  const withRights = !readOnlyTargets(context).has(attempt.change.address.target);
  const reasons = predictRefusal(context, attempt, { withRights });
  return reasons.length === 0 ? [] : [refusalNote(reasons.join('; '))];
}

export const readOnlyNote = "this plan's token cannot write; apply needs one that can";

const readOnlyByContext = new WeakMap<PlanContext, ReadonlySet<string>>();

/** Targets whose services report that the token may change none of the stack's resources. */
export function readOnlyTargets(context: PlanContext): ReadonlySet<string> {
  const found = readOnlyByContext.get(context) ?? findReadOnly(context);
  readOnlyByContext.set(context, found);
  return found;
}

function findReadOnly({ live, desired, ledger }: PlanContext): ReadonlySet<string> {
  const ours = [...live].flatMap(([text, resource]) => {
    const hasRights = Object.keys(resource.rights ?? {}).length > 0;
    return hasRights && (desired.has(text) || ledger.records.has(text)) ? [resource] : [];
  });
  const byTarget = Map.groupBy(ours, ({ address }) => address.target);
  return new Set(
    [...byTarget].flatMap(([target, resources]) =>
      resources.every(({ mayWrite }) => mayWrite === false) ? target : [],
    ),
  );
}

// The predicted refusals of a plan. In a plan they are notes, because another token may apply it. In the plan that
// apply makes they are errors, because the same token would be refused.

type DraftsByAddress = ReadonlyMap<AddressText, Draft>;

/** Adds a note about predicted refusals to a change that has its calls already. */
export function withPredictedRefusals(context: PlanContext, change: Change, drafts: DraftsByAddress): Change {
  const draft = drafts.get(formatAddress(change.address));
  const refusals = draft === undefined ? [] : refusalNotes(context, { ...draft, change });
  return refusals.length === 0 ? change : { ...change, notes: [...change.notes, ...refusals] };
}

/** The predicted refusals as errors. @param changes with their calls */
export function predictedRefusals(
  context: PlanContext,
  changes: readonly Change[],
  drafts: DraftsByAddress,
): Diagnostic[] {
  return changes.flatMap((change) => {
    const { address, action, place } = change;
    const draft = drafts.get(formatAddress(address));
    const reasons = draft === undefined ? [] : predictRefusal(context, { ...draft, change });
    if (reasons.length === 0) return [];
    return {
      code: 'will-be-refused',
      severity: 'error' as const,
      class: 'failure' as const,
      message: `the service will refuse to ${action} ${quoted(formatAddress(address))}: ${reasons.join('; ')}`,
      ...(place === undefined ? {} : { place }),
      fix: 'give the token the permission, or apply with one that has it',
    };
  });
}

// The same for services that report the rights of a token by path, such as with `sys/capabilities-self`: compares them with the rights
// that a plan's calls need. A path whose rights were not reported counts as permitted. Pure.

/** The rights of the token in one target, with the number of requests that it took to read them. */
export interface AskedRights {
  readonly rights: TokenRights;
  readonly paths: number;
  readonly requests: number;
}

/** A plan, and what the services will refuse to the token that applies it. */
interface CheckedPlan {
  readonly plan: Plan;
  readonly refusals: readonly Diagnostic[];
}

/** The paths of calls that name a right, by target, each once. */
export function pathsWithRights({ plan }: Pick<CheckedPlan, 'plan'>): ReadonlyMap<string, readonly string[]> {
  const calls = plan.changes
    .flatMap((change) => change.calls)
    .filter(({ permission }) => permission !== undefined);
  const byTarget = Map.groupBy(calls, ({ target }) => target);
  return new Map(
    [...byTarget].map(([target, ofTarget]) => [target, [...new Set(ofTarget.map(pathOf))].sort()] as const),
  );
}

/** Adds notes to the changes, errors for the apply of this token, and the requests for rights to the coverage. */
export function withMissingRights<Checked extends CheckedPlan>(
  planning: Checked,
  asked: ReadonlyMap<string, AskedRights>,
): Checked {
  if (asked.size === 0) return planning;
  const { plan, refusals } = planning;
  const missing = plan.changes.flatMap((change) => missingRights(change, asked));
  const notes = Map.groupBy(
    missing.filter(({ change }) => !isReadOnly(asked.get(change.address.target)?.rights)),
    ({ change }) => change,
  );
  const changes = plan.changes.map((change) => {
    const rights = [...new Set((notes.get(change) ?? []).map(({ right }) => right))];
    return rights.length === 0 ? change : { ...change, notes: [...change.notes, missingRightsNote(rights)] };
  });
  return {
    ...planning,
    plan: { ...plan, changes, coverage: withCoverageNotes(plan.coverage, asked) },
    refusals: [...refusals, ...refusalErrors(missing)],
  };
}

interface MissingRight {
  readonly change: Change;
  readonly right: string;
  readonly path: string;
}

function missingRights(change: Change, asked: ReadonlyMap<string, AskedRights>): MissingRight[] {
  return change.calls.flatMap((call) => {
    const { permission: right, target } = call;
    const rights = asked.get(target)?.rights;
    if (right === undefined || rights?.is !== 'known') return [];
    const held = rights.on.get(pathOf(call));
    const isMissing = held !== undefined && !held.has(right) && !held.has('root');
    return isMissing ? [{ change, right, path: pathOf(call) }] : [];
  });
}

/** The calls of services that report rights by path contain no references. */
function pathOf({ path }: Call): string {
  return path.map(String).join('/');
}

const writing = ['create', 'update', 'delete', 'patch', 'sudo', 'root'];

/** Whether the token has no right to write on any of the paths that were asked about. */
function isReadOnly(rights: TokenRights | undefined): boolean {
  return (
    rights?.is === 'known' &&
    rights.on.size > 0 &&
    [...rights.on.values()].every((held) => !writing.some((right) => held.has(right)))
  );
}

function missingRightsNote(rights: readonly string[]): string {
  return refusalNote(`this token lacks ${rights.map(quoted).join(' and ')}`);
}

/** One error for each missing right in a target: a read-only token lacks it for everything. */
function refusalErrors(missing: readonly MissingRight[]): Diagnostic[] {
  const groups = Map.groupBy(missing, ({ change, right }) => `${change.address.target} ${right}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { change, right, path } = first;
    const what =
      group.length === 1
        ? `to ${change.action} ${quoted(formatAddress(change.address))}`
        : `${counted(group.length, 'change')} in target ${quoted(change.address.target)}`;
    const others = group.length === 1 ? '' : ` and ${counted(group.length - 1, 'other path')}`;
    return {
      code: 'will-be-refused' as const,
      severity: 'error' as const,
      class: 'failure' as const,
      message: `the service will refuse ${what}: this token lacks ${quoted(right)} on ${quoted(path)}${others}`,
      ...(group.length > 1 || change.place === undefined ? {} : { place: change.place }),
      fix: 'give the token the permission, or apply with one that has it',
    };
  });
}

function withCoverageNotes(coverage: Coverage, asked: ReadonlyMap<string, AskedRights>): Coverage {
  return {
    ...coverage,
    targets: coverage.targets.map((covered) => {
      const answer = asked.get(covered.target);
      if (answer === undefined) return covered;
      return {
        ...covered,
        requests: covered.requests + answer.requests,
        notes: [...covered.notes, coverageNote(answer), ...(isReadOnly(answer.rights) ? [readOnlyNote] : [])],
      };
    }),
  };
}

function coverageNote({ rights, paths }: AskedRights): string {
  return rights.is === 'known'
    ? `one POST, besides the reads, asked for the rights of this token on ${counted(paths, 'path')}`
    : `the rights of this token are unknown, so refusals are not predicted: ${rights.why}`;
}
