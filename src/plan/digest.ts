/**
 * The digest of what a plan means (rule 27): stack, targets, selection and a set of items, hashed in a fixed order, and the
 * changes of an approved plan from the items that the ledger keeps (rule 28). Times, order, notes, coverage, permissions and
 * calls are not part of it.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import { type Action, approvedIdentity, type DigestedChange, type Identity } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import { canonicalText, type Json, type Path } from '../model/json.ts';
import type { Plan, PlanTarget } from '../model/plan.ts';
import type { Spec } from '../model/resource.ts';
import { formatIdentity } from '../model/stack.ts';
import { secretPlaceholder } from '../redaction/known-secrets.ts';
import { sideHash, type ValuePlace } from '../redaction/stored-values.ts';

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
type DigestItem = string;

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

// The inverse of `atomsOf`: the changes of an approved plan, from the atoms that the ledger keeps (rule 28).

type ParsedDigestItem =
  | readonly [address: string, action: Action, meant?: Partial<Identity> & Pick<DigestedChange, 'references'>]
  | readonly [
      address: string,
      path: Path,
      before: FieldSide & { readonly unknown?: string },
      after: FieldSide,
    ];

interface DigestItemGroup {
  readonly address: Address;
  readonly fields: FieldChange[];
  action?: Action;
  id?: string;
  fingerprint?: string;
  references?: NonNullable<DigestedChange['references']>;
}

interface FieldSide {
  readonly is?: Json;
  /** of a redacted value */
  readonly hash?: string;
}

/**
 * One change for each address. Atoms hold no shape, so every field is a `scalar`.
 * @throws when a text is no atom: a bug, because the ledger's checksum was correct
 */
export function readDigestItems(atoms: Iterable<DigestItem>): DigestedChange[] {
  const found = new Map<string, DigestItemGroup>();
  for (const atom of atoms) {
    const parsed: ParsedDigestItem = JSON.parse(atom);
    const address = parseAddress(parsed[0]);
    const change = found.get(parsed[0]) ?? { address, fields: [] };
    found.set(parsed[0], change);
    if (parsed.length === 4) change.fields.push(readField(parsed));
    else Object.assign(change, { action: parsed[1], ...parsed[2] });
  }
  return [...found.values()].map(({ action, ...change }) => {
    if (action === undefined)
      throw new Error(`no atom tells what becomes of ${formatAddress(change.address)}`);
    return { ...change, action };
  });
}

function readField([, path, before, after]: Extract<ParsedDigestItem, { length: 4 }>): FieldChange {
  const redacted = {
    ...(before.hash === undefined ? {} : { before: before.hash }),
    ...(after.hash === undefined ? {} : { after: after.hash }),
  };
  return {
    path,
    ...readSide('before', before),
    ...(before.unknown === undefined ? {} : { unknown: before.unknown }),
    ...readSide('after', after),
    shape: 'scalar',
    ...(Object.keys(redacted).length === 0 ? {} : { redacted }),
  };
}

function readSide(side: 'before' | 'after', { is, hash }: FieldSide): Pick<FieldChange, typeof side> {
  const value = hash === undefined ? is : secretPlaceholder;
  return value === undefined ? {} : { [side]: value };
}
