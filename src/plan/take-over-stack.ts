/**
 * Takes over the ledger of a renamed stack (rule 44): as long as the former ledger is not closed, its records take precedence.
 * Also makes a plan's remarks about its ledger. Pure.
 */
import { type Address, type AddressText, parseAddress } from '../model/address.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { type LiveResource, ownOwnershipTag } from '../model/resource.ts';
import type { IdentityText, Stack } from '../model/stack.ts';
import { identitiesOf, unknownPlace } from './moved-targets.ts';
import type { FormerStack, PlanContext } from './plan-context.ts';

interface TakenOver {
  readonly ledger: Ledger;
  readonly former: FormerStack;
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
  const comes = [...former.records].filter(([text]) => !conflicts.has(parseAddress(text).target));
  const { closedFor: _, ...rest } = own;
  const { commit = former.commit, stackId = former.stackId, repository = former.repository } = own;
  return {
    ledger: {
      ...rest,
      known: own.known || former.known,
      records: new Map<AddressText, LedgerRecord>([...own.records, ...comes]),
      targets: new Map([...places.former, ...places.own]),
      ...(commit === undefined ? {} : { commit }),
      ...(stackId === undefined ? {} : { stackId }),
      ...(repository === undefined ? {} : { repository }),
    },
    former: {
      name,
      hasLedger: former.known,
      ...(former.stackId === undefined ? {} : { stackId: former.stackId }),
      records: new Set(comes.map(([text]) => text)),
      problems: [...conflicts].map(([target, { ours, theirs }]) => ({
        code: 'target-moved',
        severity: 'error',
        class: 'conflict',
        message: `stack ${quoted(name)} applied target ${quoted(target)} to another place than ${quoted(stack.name)} did, so what is recorded of it cannot come along`,
        found: ours ?? unknownPlace,
        allowed: theirs ?? unknownPlace,
        fix: 'give one of the two targets another name in its stack, and apply that stack, before one takes the other over',
      })),
    },
  };
}

/** A ledger without identities is taken to be about the current targets (rule 37). */
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

/** Targets of which both ledgers have records, but of different places. */
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
 * Whether a resource belonged to the former stack until now: by its claim, by its birth mark if it has no claim and we have
 * no record of it, or by a record that is taken over.
 */
export function isTakenOver(context: PlanContext, address: Address, live: LiveResource | undefined): boolean {
  const { former } = context;
  if (former === undefined) return false;
  const recorded = context.recordedAt(address);
  if (recorded !== undefined && former.records.has(recorded)) return true;
  const { witness = {} } = live ?? {};
  if (witness.claim !== undefined) return ownOwnershipTag(witness)?.stack === former.name;
  return witness.bornOf === former.name && context.record(address) === undefined;
}

/** Addresses of the records that are taken over, without parts. */
export function takenOverAddresses(context: PlanContext): readonly Address[] {
  return [...(context.former?.records ?? [])]
    .map(parseAddress)
    .filter(
      ({ kind }) => !context.kinds().some(({ name, ownership }) => name === kind && ownership.by === 'part'),
    );
}

// The remarks of a plan about its ledger. Pure.

/** Sentences without a full stop; empty for an ordinary ledger. */
export function ledgerNotes(context: PlanContext): string[] {
  const { ledger, former } = context;
  return [
    ...(ledger.known && ledger.targets === undefined && ledger.records.size > 0
      ? [context.isDisplaced ? placesUnknown : placesAssumed]
      : []),
    ...(former === undefined ? [] : formerNotes(context, former)),
  ];
}

const placesAssumed =
  'of an earlier version: its records are taken for those of the targets as the stack has them now, and the next apply writes that down';

const placesUnknown = 'of an earlier version: it does not know which places its records are of';

function formerNotes(context: PlanContext, { name, hasLedger, records }: FormerStack): string[] {
  if (!hasLedger) {
    const isClaimed = [...context.live.values()].some(({ witness: { claim } }) => claim?.stack === name);
    return isClaimed
      ? [
          `that of stack ${quoted(name)} is not where this stack keeps its own: of what bears its claim nothing is deleted`,
        ]
      : [];
  }
  if (records.size === 0) return [];
  const came = records.size === 1 ? '1 record comes' : `${records.size} records come`;
  return [`from stack ${quoted(name)} ${came} along: the next apply closes its ledger`];
}
