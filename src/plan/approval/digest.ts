/**
 * The digest of what a plan means (rule 27): stack, targets, selection and a set of atoms, hashed in a fixed order.
 * Times, order, notes, coverage, permissions and calls are not part of it, so it is the same on every machine.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { type DigestedChange, removedIdentity } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { Plan, PlanTarget } from '../../model/plan/plan.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { formatIdentity } from '../../model/stack/target-identity.ts';

/** Must be raised whenever the meaning of an atom changes, so that digests of two versions are never equal by accident. */
export const digestVersion = 2;

/** The parts of a plan that enter its digest. */
export type PlanMeaning = Pick<Plan, 'stack' | 'targets' | 'selection'> & {
  readonly changes: readonly DigestedChange[];
};

/**
 * One indivisible meaning of a plan, as canonical text: (address, action), for a removal with the remote id or the
 * fingerprint, or (address, path, before, after).
 */
export type Atom = string;

export function atomsOf(changes: readonly DigestedChange[]): ReadonlySet<Atom> {
  return new Set(
    changes.flatMap((change) => [
      actionAtom(change),
      ...change.fields.map((field) => fieldAtom(change.address, field)),
    ]),
  );
}

/** What the plan does with one resource as a whole. */
export function actionAtom(change: DigestedChange): Atom {
  const identity = removedIdentity(change);
  return canonicalText([
    formatAddress(change.address),
    change.action,
    ...(identity === undefined ? [] : [identity]),
  ]);
}

/** What the plan does with one field. */
export function fieldAtom(address: Address, { path, before, after, unknown }: FieldChange): Atom {
  return canonicalText([
    formatAddress(address),
    path,
    unknown === undefined ? (before === undefined ? {} : { is: before }) : { unknown },
    after === undefined ? {} : { is: after },
  ]);
}

/** What a target means in a digest: its name, identity and dialect. */
export function targetMeaning(target: PlanTarget): string {
  return canonicalText([target.name, formatIdentity(target), target.dialect]);
}

/** The fingerprint of the whole canonical content of a live resource. @returns 32 hexadecimal characters */
export function fingerprintOf(content: Spec): string {
  return shortHash(canonicalText(content));
}

/** 32 hexadecimal characters. */
export function digestOf({ stack, targets, selection, changes }: PlanMeaning): string {
  const meaning = canonicalText([
    digestVersion,
    stack,
    targets.map(targetMeaning).sort(),
    selection === undefined ? null : [...selection].sort(),
    [...atomsOf(changes)].sort(),
  ]);
  return shortHash(meaning);
}

/** The first 128 bits of a SHA-256. */
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
