/**
 * The digest of what a plan means (rule 27): stack, targets, selection and a set of atoms, hashed in a fixed order.
 * Times, order, notes, coverage, permissions and calls stand outside it, so it is the same on every machine.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { type MeantChange, meantParticular } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { Plan, PlanTarget } from '../../model/plan/plan.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { formatIdentity } from '../../model/stack/target-identity.ts';

/** Raised whenever the meaning of an atom changes, so that digests of two versions never compare equal by accident. */
export const digestVersion = 2;

/** All of a plan that its digest is made of. */
export type PlanMeaning = Pick<Plan, 'stack' | 'targets' | 'selection'> & {
  readonly changes: readonly MeantChange[];
};

/**
 * One indivisible meaning of a plan, as canonical text: (address, action), with the remote id or the fingerprint of what
 * is taken away, or (address, path, before, after).
 */
export type Atom = string;

export function atomsOf(changes: readonly MeantChange[]): ReadonlySet<Atom> {
  return new Set(
    changes.flatMap((change) => [
      actionAtom(change),
      ...change.fields.map((field) => fieldAtom(change.address, field)),
    ]),
  );
}

/** What becomes of one resource as a whole: equal texts are one meaning. */
export function actionAtom(change: MeantChange): Atom {
  const particular = meantParticular(change);
  return canonicalText([
    formatAddress(change.address),
    change.action,
    ...(particular === undefined ? [] : [particular]),
  ]);
}

/** What one field change means: equal texts are one meaning. */
export function fieldAtom(address: Address, { path, before, after, unknown }: FieldChange): Atom {
  return canonicalText([
    formatAddress(address),
    path,
    unknown === undefined ? (before === undefined ? {} : { is: before }) : { unknown },
    after === undefined ? {} : { is: after },
  ]);
}

/** What a target means: its name, what it is, and how it is spoken to. */
export function targetMeaning(target: PlanTarget): string {
  return canonicalText([target.name, formatIdentity(target), target.dialect]);
}

/** Of the whole canonical content of a live resource: the same on every machine. @returns 32 hexadecimal characters */
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
