/**
 * The digest of what a plan means (RULES 27): stack, targets and a set of atoms, hashed in a fixed order. Times,
 * order, notes, coverage, permissions and calls stand outside it, so it is the same on every machine.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress } from '../model/address.ts';
import type { MeantChange } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import { canonicalText } from '../model/json.ts';
import type { PlanTarget } from '../model/plan.ts';

/** Raised whenever the meaning of an atom changes, so that digests of two versions never compare equal by accident. */
const digestVersion = 1;

/** One indivisible meaning of a plan, as canonical text: (address, action), or (address, path, before, after). */
export type Atom = string;

export function atomsOf(changes: readonly MeantChange[]): ReadonlySet<Atom> {
  return new Set(
    changes.flatMap(({ address, action, fields }) => [
      canonicalText([formatAddress(address), action]),
      ...fields.map((field) => fieldAtom(address, field)),
    ]),
  );
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

/** 32 hexadecimal characters: the first 128 bits of a SHA-256. */
export function digestOf(
  stack: string,
  targets: readonly PlanTarget[],
  changes: readonly MeantChange[],
): string {
  const meaning = canonicalText([
    digestVersion,
    stack,
    targets.map(({ name, url, place, dialect }) => canonicalText([name, url, place, dialect])).sort(),
    [...atomsOf(changes)].sort(),
  ]);
  return createHash('sha256').update(meaning).digest('hex').slice(0, 32);
}
