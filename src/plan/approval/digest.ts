/**
 * The digest of what a plan means (rule 27): stack, targets, selection and a set of atoms, hashed in a fixed order.
 * Times, order, notes, coverage, permissions and calls are not part of it, so it is the same on every machine. It is built from
 * hashes of values, so that it can be recomputed from a plan in which values are redacted.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { approvedIdentity, type DigestedChange } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { Plan, PlanTarget } from '../../model/plan/plan.ts';
import { sideHash, type ValuePlace } from '../../model/plan/redacted-values.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { formatIdentity } from '../../model/stack/target-identity.ts';

/** Must be raised whenever the meaning of an atom changes, so that digests of two versions are never equal by accident. */
export const digestVersion = 3;

/** The parts of a plan that enter its digest. */
export type PlanMeaning = Pick<Plan, 'stack' | 'targets' | 'selection'> & {
  readonly changes: readonly DigestedChange[];
};

/**
 * One indivisible meaning of a plan as the ledger keeps it, as canonical text: (address, action), with what identifies the
 * resources that it is about, or (address, path, before, after).
 */
export type DigestItem = string;

export function digestItemsOf(changes: readonly DigestedChange[]): ReadonlySet<DigestItem> {
  return new Set(
    changes.flatMap((change) => [
      actionItem(change),
      ...change.fields.map((field) => fieldItem(change.address, field)),
    ]),
  );
}

/** What the plan does with one resource as a whole. */
export function actionItem(change: DigestedChange): DigestItem {
  const { address, action, references } = change;
  const identity = { ...approvedIdentity(change), ...(references === undefined ? {} : { references }) };
  return canonicalText([
    formatAddress(address),
    action,
    ...(Object.keys(identity).length === 0 ? [] : [identity]),
  ]);
}

/** What the plan does with one field, with its values. */
function fieldItem(address: Address, field: FieldChange): DigestItem {
  const { path, before, after, unknown, redacted = {} } = field;
  const side = (value: typeof before, hash: string | undefined) =>
    hash === undefined ? (value === undefined ? {} : { is: value }) : { hash };
  return canonicalText([
    formatAddress(address),
    path,
    unknown === undefined ? side(before, redacted.before) : { unknown },
    side(after, redacted.after),
  ]);
}

/** What the plan does with one field, with hashes of its values: the same whether they are redacted or not. */
export function fieldMeaning(place: ValuePlace, field: FieldChange): string {
  const { path, unknown } = field;
  return canonicalText([
    formatAddress(place.address),
    path,
    unknown === undefined ? (sideHash(place, field, 'before') ?? null) : { unknown: true },
    sideHash(place, field, 'after') ?? null,
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
export function digestOf(meaning: PlanMeaning): string {
  const { stack, changes } = meaning;
  const meanings = changes.flatMap((change) => [
    actionItem(change),
    ...change.fields.map((field) => fieldMeaning({ stack, address: change.address }, field)),
  ]);
  return hashOf(digestVersion, meaning, new Set(meanings));
}

/**
 * The digest of a plan in version 2, with values in clear and without the ids of what is adopted or named. Plan files of that version
 * can still be shown and compared.
 */
export function formerDigestOf(meaning: PlanMeaning): string {
  const changes = meaning.changes.map(({ references: _, id, ...change }) =>
    id === undefined || change.action === 'adopt' ? change : { ...change, id },
  );
  return hashOf(2, meaning, digestItemsOf(changes));
}

function hashOf(version: number, { stack, targets, selection }: PlanMeaning, meanings: ReadonlySet<string>) {
  const text = canonicalText([
    version,
    stack,
    targets.map(targetMeaning).sort(),
    selection === undefined ? null : [...selection].sort(),
    [...meanings].sort(),
  ]);
  return shortHash(text);
}

/** The first 128 bits of a SHA-256. */
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
