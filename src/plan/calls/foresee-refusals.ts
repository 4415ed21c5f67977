/**
 * Foresees what services will refuse to a token, by what they tell of its rights on the paths of a plan's calls. A right that
 * is not told is not missing (rule 30). Pure.
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Coverage, Plan } from '../../model/plan/plan.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { TokenRights } from '../../model/wire.ts';
import { counted } from '../../model/counted.ts';
import { quoted } from '../../model/quoted.ts';
import { readOnlyNote } from './predict-refusal.ts';

/** What was asked about one target, with the number of requests that it took. */
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
  return new Map([...byTarget].map(([target, of]) => [target, [...new Set(of.map(pathOf))].sort()] as const));
}

/** Adds notes to the changes, errors for the apply of this token, and what was asked to the coverage. */
export function withForeseenRefusals<Checked extends CheckedPlan>(
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
    return rights.length === 0 ? change : { ...change, notes: [...change.notes, noteOf(rights)] };
  });
  return {
    ...planning,
    plan: { ...plan, changes, coverage: withQuestions(plan.coverage, asked) },
    refusals: [...refusals, ...refusedTogether(missing)],
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
    if (right === undefined || rights?.is !== 'told') return [];
    const held = rights.on.get(pathOf(call));
    const isMissing = held !== undefined && !held.has(right) && !held.has('root');
    return isMissing ? [{ change, right, path: pathOf(call) }] : [];
  });
}

/** The calls of services that tell rights by path hold no references. */
function pathOf({ path }: Call): string {
  return path.map(String).join('/');
}

const writing = ['create', 'update', 'delete', 'patch', 'sudo', 'root'];

/** Whether the token has no right to write on any of the paths that were asked about. */
function isReadOnly(rights: TokenRights | undefined): boolean {
  return (
    rights?.is === 'told' &&
    rights.on.size > 0 &&
    [...rights.on.values()].every((held) => !writing.some((right) => held.has(right)))
  );
}

function noteOf(rights: readonly string[]): string {
  return `the service will refuse this: this token lacks ${rights.map(quoted).join(' and ')}`;
}

/** One error for all that one right is missing for in a target: a read-only token lacks it for everything. */
function refusedTogether(missing: readonly MissingRight[]): Diagnostic[] {
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

function withQuestions(coverage: Coverage, asked: ReadonlyMap<string, AskedRights>): Coverage {
  return {
    ...coverage,
    targets: coverage.targets.map((covered) => {
      const question = asked.get(covered.target);
      if (question === undefined) return covered;
      return {
        ...covered,
        requests: covered.requests + question.requests,
        notes: [
          ...covered.notes,
          questionNote(question),
          ...(isReadOnly(question.rights) ? [readOnlyNote] : []),
        ],
      };
    }),
  };
}

function questionNote({ rights, paths }: AskedRights): string {
  return rights.is === 'told'
    ? `besides reads, one POST asked what this token may do on ${counted(paths, 'path')}`
    : `what this token may do was not told, so no refusal is foreseen: ${rights.why}`;
}
