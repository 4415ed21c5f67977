/**
 * Finds drift from the reading of a plan: live against the ledger, and, apart from it, manifests against the ledger (rule 49).
 * After an incomplete look it never says that there is none.
 */
import { hasErrors } from '../../model/diagnostic.ts';
import type { Notice } from '../../model/plan/change.ts';
import type { Drift, DriftedResource, MovedField, PendingResource } from '../../model/plan/drift.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from '../context/plan-context.ts';
import { findPending, recordOf } from './find-pending.ts';
import { findUnmanaged } from './find-unmanaged.ts';
import { compareRecorded, type RecordedVerdict } from './judge-recorded.ts';
import { recordedContext } from './recorded-context.ts';

interface DriftInput extends PlanContextInput {
  /** also find changes of fields that no manifest mentions */
  readonly unmanaged?: boolean | undefined;
}

/** @param plan that was made from the same input */
export function findDrift(
  input: DriftInput,
  { stack, targets, selection, coverage }: Pick<Plan, 'stack' | 'targets' | 'selection' | 'coverage'>,
): Drift {
  const declared = makePlanContext(input);
  const recorded = recordedContext(input);
  const selected = selectedRecords(declared);
  const looked = [...recorded.desired.values()].filter(
    ({ address }) => selected === undefined || selected.has(formatAddress(address)),
  );
  const verdicts = looked.map((resource) => [resource, compareRecorded(recorded, resource)] as const);
  const renamed = renamedIn(declared);
  const drifted = verdicts.flatMap(([{ address }, verdict]) => {
    if (verdict.is !== 'drifted') return [];
    const declaredAs = renamed.get(formatAddress(address));
    return [{ ...verdict.drifted, ...(declaredAs === undefined ? {} : { declaredAs }) }];
  });
  const pending = findPending(declared);
  const untold = verdicts.flatMap(([resource, verdict]) => unreportedIn(resource, verdict));
  const unrecorded = findUnrecorded(declared);
  const problems = [
    ...(input.repositoryProblem ? [input.repositoryProblem] : []),
    ...input.targets.flatMap(({ unread }) => unread ?? []),
  ];
  return {
    stack,
    targets,
    ...(selection === undefined ? {} : { selection }),
    ...markBoth(declared, drifted, pending),
    ...(input.unmanaged ? { unmanaged: findUnmanaged(recorded, looked, drifted) } : {}),
    unrecorded: unrecorded.map(({ mention }) => mention),
    unchanged: verdicts.filter(([, { is }]) => is === 'same').length,
    untold,
    complete:
      coverage.complete &&
      untold.length === 0 &&
      !unrecorded.some(({ isOurs }) => isOurs) &&
      !hasErrors(problems),
    problems,
    coverage,
  };
}

/** The records that a selection is about; undefined for the whole stack (rule 41). */
function selectedRecords(declared: PlanContext): ReadonlySet<AddressText> | undefined {
  if (!declared.isSelection) return undefined;
  const all = [...declared.desired.values(), ...declared.tombstones.values()];
  return new Set(all.flatMap((resource) => recordOf(declared, resource)?.text ?? []));
}

function unreportedIn({ address }: DesiredResource, verdict: RecordedVerdict): Notice[] {
  return verdict.is === 'untold' ? [{ address, message: verdict.why }] : [];
}

interface Unrecorded {
  readonly mention: Notice;
  /** it is live and was ours, so that its record was lost */
  readonly isOurs: boolean;
}

/** Live resources that are declared, or bear our claim, and that the ledger does not know. */
function findUnrecorded(context: PlanContext): Unrecorded[] {
  const { ledger, live, desired, isSelection } = context;
  return [...live].flatMap(([text, { address, witness }]) => {
    if (context.record(address) !== undefined) return [];
    const isClaimed = context.bearsOurClaim(witness) && context.kind(address.kind).ownership.by === 'claim';
    if (!desired.has(text) && (isSelection || !isClaimed)) return [];
    if (isPartOfUnrecorded(context, address)) return [];
    const why = ledger.known ? 'the ledger has no record of it' : 'there is no ledger';
    const message = `${why}: what was applied last is not known, so its drift cannot be told`;
    return [{ mention: { address, message }, isOurs: isClaimed || !ledger.known }];
  });
}

/** The whole tells it. */
function isPartOfUnrecorded(context: PlanContext, address: Address): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'part') return false;
  const whole = ownership.of(address);
  return context.live.has(formatAddress(whole)) && context.record(whole) === undefined;
}

/** Marks the fields that moved on both sides, whether to the same value or not. */
function markBoth(
  context: PlanContext,
  drifted: readonly DriftedResource[],
  pending: readonly PendingResource[],
): Pick<Drift, 'drifted' | 'pending'> {
  const recordedAt = ({ address }: PendingResource) => recordTextOf(context, address);
  const byFiles = new Map(pending.map((one) => [recordedAt(one), one.fields] as const));
  const byTarget = new Map(drifted.map((one) => [formatAddress(one.address), one.fields] as const));
  return {
    drifted: drifted.map((one) => ({
      ...one,
      fields: marked(one.fields, byFiles.get(formatAddress(one.address))),
    })),
    pending: pending.map((one) => ({ ...one, fields: marked(one.fields, byTarget.get(recordedAt(one))) })),
  };
}

/** The address in the ledger of a declared resource; its own where there is no record. */
function recordTextOf(context: PlanContext, address: Address): AddressText {
  const resource = context.desired.get(formatAddress(address));
  return (resource && recordOf(context, resource)?.text) ?? formatAddress(address);
}

/** By address in the ledger, where manifests declare the resources that have another name there. */
function renamedIn(context: PlanContext): ReadonlyMap<AddressText, Address> {
  return new Map(
    [...context.desired.values()].flatMap(({ address }) => {
      const text = recordTextOf(context, address);
      return text === formatAddress(address) ? [] : [[text, address] as const];
    }),
  );
}

function marked(fields: readonly MovedField[], others: readonly MovedField[] = []): MovedField[] {
  return fields.map((field) => {
    const isMoved = others.some(({ path }) => overlaps(path, field.path));
    return isMoved ? { ...field, both: true as const } : field;
  });
}

/** Whether one path is the other, or lies in it. */
function overlaps(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((segment, at) => segment === other[at]);
}
