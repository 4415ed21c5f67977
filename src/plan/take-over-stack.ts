/**
 * Takes over the ledger of a renamed stack: as long as the former ledger is not closed, its records take precedence.
 * Also makes the notes of a plan about its ledger. Pure.
 */
import { type Address, type AddressText, parseAddress } from '../model/address.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { type LiveResource, ownOwnershipTag } from '../model/resource.ts';
import type { IdentityText, Stack } from '../model/stack.ts';
import { identitiesOf, unknownPlace } from './moved-targets.ts';
import type { PlanContext } from './plan-context.ts';
import { movingFrom } from './moved-ownership.ts';
import type { FormerStack } from './our-tags.ts';

interface TakenOver {
  readonly ledger: Ledger;
  readonly former: FormerStack;
}

/** The commits of both ledgers except the one that counts as applied last. */
function commitsOfBoth(own: Ledger, former: Ledger): NonNullable<Ledger['otherCommits']> {
  const formerCommit = own.commit === undefined || former.commit === undefined ? [] : [former.commit];
  return [...(own.otherCommits ?? []), ...formerCommit, ...(former.otherCommits ?? [])];
}

/** @param former the ledger of the former name; empty when there was none */
export function takeOver(
  own: Ledger,
  former: Ledger,
  stack: Pick<Stack, 'name' | 'renamedFrom' | 'targets'>,
): TakenOver {
  const name = stack.renamedFrom ?? '';
  const places = { own: placesOf(own, stack), former: placesOf(former, stack) };
  const conflicts = conflictingTargets(own, former, places);
  const taken = [...former.records].filter(([text]) => !conflicts.has(parseAddress(text).target));
  const { closedFor: _, ...rest } = own;
  const { commit = former.commit, stackId = former.stackId, repository = former.repository } = own;
  const isImported = former.closedFor !== undefined && former.records.size === 0;
  const otherCommits = isImported ? own.otherCommits : commitsOfBoth(own, former);
  const movedAway = new Map([...(former.movedAway ?? []), ...(own.movedAway ?? [])]);
  return {
    ledger: {
      ...rest,
      known: own.known || former.known,
      records: new Map<AddressText, LedgerRecord>([...own.records, ...taken]),
      targets: new Map([...places.former, ...places.own]),
      ...(commit === undefined ? {} : { commit }),
      ...(otherCommits === undefined ? {} : { otherCommits }),
      ...(movedAway.size === 0 ? {} : { movedAway }),
      ...(stackId === undefined ? {} : { stackId }),
      ...(repository === undefined ? {} : { repository }),
    },
    former: {
      name,
      hasLedger: former.known,
      ...(former.stackId === undefined ? {} : { stackId: former.stackId }),
      records: new Set(taken.map(([text]) => text)),
      problems: [...conflicts].map(([target, { ours, theirs }]) => ({
        code: 'target-moved',
        severity: 'error',
        class: 'conflict',
        message: `stack ${quoted(name)} applied target ${quoted(target)} at another address than ${quoted(stack.name)}, so its records cannot be taken over`,
        found: ours ?? unknownPlace,
        allowed: theirs ?? unknownPlace,
        fix: 'give one of the two targets another name in its stack, and apply that stack first',
      })),
    },
  };
}

/** A ledger without identities is assumed to be about the current targets. */
function placesOf(
  { known, targets }: Ledger,
  stack: Pick<Stack, 'targets'>,
): ReadonlyMap<string, IdentityText> {
  if (!known) return new Map();
  return targets ?? identitiesOf(stack.targets);
}

interface Conflict {
  readonly ours: IdentityText | undefined;
  readonly theirs: IdentityText | undefined;
}

/** Targets of which both ledgers have records, but with different addresses. */
function conflictingTargets(
  own: Ledger,
  former: Ledger,
  places: {
    readonly own: ReadonlyMap<string, IdentityText>;
    readonly former: ReadonlyMap<string, IdentityText>;
  },
): ReadonlyMap<string, Conflict> {
  const theirs = targetsOf(former);
  const both = [...targetsOf(own)].filter((target) => theirs.has(target));
  return new Map(
    both
      .map((target) => [target, { ours: places.own.get(target), theirs: places.former.get(target) }] as const)
      .filter(([, conflict]) => conflict.ours !== conflict.theirs),
  );
}

function targetsOf({ records }: Ledger): ReadonlySet<string> {
  return new Set([...records.keys()].map((text) => parseAddress(text).target));
}

/**
 * Whether a resource belonged to the former stack, or to another one that it moves from, until now: by its ownership tag, or by a
 * record that is taken over.
 */
export function isTakenOver(context: PlanContext, address: Address, live: LiveResource | undefined): boolean {
  const { former } = context;
  if (movingFrom(context, address, live) !== undefined) return true;
  if (former === undefined) return false;
  const recorded = context.recordedAt(address);
  if (recorded !== undefined && former.records.has(recorded)) return true;
  return live !== undefined && ownOwnershipTag(live.evidence)?.stack === former.name;
}

/** Addresses of the records that are taken over, without children. */
export function takenOverAddresses(context: PlanContext): readonly Address[] {
  return [...(context.former?.records ?? []), ...context.moves.from.keys()]
    .map(parseAddress)
    .filter(
      ({ kind }) => !context.kinds().some(({ name, ownership }) => name === kind && ownership.by === 'child'),
    );
}

// The notes of a plan about its ledger. Pure.

/** Sentences without a full stop; empty for an ordinary ledger. */
export function ledgerNotes(context: PlanContext): string[] {
  const { ledger, former } = context;
  return [
    ...(ledger.known && ledger.targets === undefined && ledger.records.size > 0
      ? [context.hasMovedTarget ? placesUnknown : placesAssumed]
      : []),
    ...(former === undefined ? [] : formerNotes(context, former)),
  ];
}

const placesAssumed =
  'from an earlier version: its records are assumed to be of the current addresses of the targets, which the next apply records';

const placesUnknown = 'from an earlier version: it does not have the addresses of its targets';

function formerNotes(context: PlanContext, { name, hasLedger, records }: FormerStack): string[] {
  if (!hasLedger) {
    const isOwnedByTag = [...context.live.values()].some(
      ({ evidence: { ownershipTag } }) => ownershipTag?.stack === name,
    );
    return isOwnedByTag
      ? [
          `the ledger of stack ${quoted(name)} was not found where this stack keeps its own: resources with its ownership tag are not deleted`,
        ]
      : [];
  }
  if (records.size === 0) return [];
  const taken = records.size === 1 ? '1 record was' : `${records.size} records were`;
  return [`${taken} taken over from stack ${quoted(name)}: the next apply closes its ledger`];
}
