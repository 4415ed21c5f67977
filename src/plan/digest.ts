/**
 * Computes the digest of what a plan means: its stack, targets, selection and digest items, hashed in a fixed order. Times, notes,
 * coverage, permissions, calls and the order of changes are not part of it. Also reads the changes of an approved plan back from the
 * items in the ledger.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import { type Action, approvedIdentity, type DigestedChange, type Identity } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import { canonicalText, type Json, type Path } from '../model/json.ts';
import type { PlanPart } from '../model/part.ts';
import type { ChangedName, Plan, PlanTarget } from '../model/plan.ts';
import type { Spec } from '../model/resource.ts';
import { formatIdentity } from '../model/stack.ts';
import { secretPlaceholder } from '../redaction/known-secrets.ts';
import { sideHash, type ValuePlace } from '../redaction/stored-values.ts';

/** Must be raised whenever the meaning of a digest item changes, so that digests of two versions are never equal by accident. */
export const digestVersion = 3;

/** The parts of a plan that enter its digest. */
export type PlanMeaning = Pick<Plan, 'stack' | 'targets' | 'selection'> & {
  readonly part?: Pick<PlanPart, 'selectors'>;
} & ApprovedWork;

/** What a plan does, and the names that refer to other resources than before: together its digest items. */
export type ApprovedWork = Pick<Plan, 'changedNames'> & { readonly changes: readonly DigestedChange[] };

/**
 * The smallest unit of a plan's meaning, as the canonical text that the ledger keeps. It has one of three forms: (address, action, the ids
 * or hashes of the resources), (address, path, before, after), or (address, `changedNameWord`, the name with its ids).
 */
type DigestItem = string;

export function digestItemsOf({ changes, changedNames }: ApprovedWork): ReadonlySet<DigestItem> {
  return new Set([
    ...changes.flatMap((change) => [
      actionItem(change),
      ...approvedFields(change).map((field) => fieldItem(change.address, field)),
    ]),
    ...changedNames.map(nameItem),
  ]);
}

/** The name under which a digest holds the risks of a change. No kind has a field of this name. */
const risksName = 'shown risks';

/**
 * The fields of a change, and one more field with the texts of its risks, because undeclared values affect the risks, too. Risks that
 * narrow access are left out. A change that names other resources needs no texts: the ids of these resources cover the same.
 */
export function approvedFields({ fields, references, risks = [] }: DigestedChange): readonly FieldChange[] {
  const texts = risks.flatMap(({ effect, message }) => (effect === 'narrows' ? [] : [message])).toSorted();
  if (texts.length === 0 || references !== undefined) return fields;
  return [...fields, { path: [risksName], after: texts, shape: 'scalar' }];
}

/** Whether this is the field that `approvedFields` adds for the risks. */
export function isShownRisks({ path }: Pick<FieldChange, 'path'>): boolean {
  return path[0] === risksName;
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

/** In the place of an action. No action has this name, so a version of trueup that does not know the word finds no approved action here. */
const changedNameWord = 'changed name';

/** The resource that a name refers to, with its current and recorded ids: an approval does not cover the name with any other id. */
export function nameItem({ address, ...meant }: ChangedName): DigestItem {
  return canonicalText([formatAddress(address), changedNameWord, { ...meant }]);
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

/** The digest of a plan: 32 hexadecimal characters. */
export function digestOf(meaning: PlanMeaning): string {
  const { stack, changes, changedNames } = meaning;
  const meanings = changes.flatMap((change) => [
    actionItem(change),
    ...approvedFields(change).map((field) => fieldMeaning({ stack, address: change.address }, field)),
  ]);
  return hashOf(digestVersion, meaning, new Set([...meanings, ...changedNames.map(nameItem)]));
}

/**
 * The digest of a plan in version 2, with plain values and without the ids of adopted or referenced resources. Plan files of that version
 * can still be shown and compared.
 */
export function formerDigestOf(meaning: PlanMeaning): string {
  const changes = meaning.changes.map(({ references: _, risks: __, id, ...change }) =>
    id === undefined || change.action === 'adopt' ? change : { ...change, id },
  );
  return hashOf(2, meaning, digestItemsOf({ changes, changedNames: [] }));
}

function hashOf(
  version: number,
  { stack, targets, selection, part }: PlanMeaning,
  meanings: ReadonlySet<string>,
) {
  const text = canonicalText([
    version,
    stack,
    targets.map(targetMeaning).sort(),
    selection === undefined ? null : [...selection].sort(),
    [...meanings].sort(),
    ...(part === undefined ? [] : [[...part.selectors].sort()]),
  ]);
  return shortHash(text);
}

/** The first 128 bits of a SHA-256. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

type ParsedDigestItem =
  | readonly [address: string, action: Action, meant?: Partial<Identity> & Pick<DigestedChange, 'references'>]
  | readonly [address: string, word: typeof changedNameWord, name: Omit<ChangedName, 'address'>]
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
 * The inverse of `digestItemsOf`: the changes of an approved plan, one for each address, and its changed names. Items have no shape,
 * so every field is a `scalar`.
 * @throws when a text is not a digest item: a bug, because the ledger's checksum was correct
 */
export function readDigestItems(items: Iterable<DigestItem>): ApprovedWork {
  const found = new Map<string, DigestItemGroup>();
  const changedNames: ChangedName[] = [];
  for (const item of items) {
    const parsed: ParsedDigestItem = JSON.parse(item);
    const address = parseAddress(parsed[0]);
    if (isNameItem(parsed)) {
      changedNames.push({ ...parsed[2], address });
      continue;
    }
    const change = found.get(parsed[0]) ?? { address, fields: [] };
    found.set(parsed[0], change);
    if (parsed.length === 4) change.fields.push(readField(parsed));
    else Object.assign(change, { action: parsed[1], ...parsed[2] });
  }
  const changes = [...found.values()].map(({ action, ...change }) => {
    if (action === undefined)
      throw new Error(`no digest item has the action of ${formatAddress(change.address)}`);
    return withRisks({ ...change, action });
  });
  return { changes, changedNames };
}

function isNameItem(
  parsed: ParsedDigestItem,
): parsed is readonly [string, typeof changedNameWord, Omit<ChangedName, 'address'>] {
  return parsed[1] === changedNameWord;
}

/** The inverse of `approvedFields`; of the risks only their texts are known. */
function withRisks(change: DigestedChange): DigestedChange {
  const texts = change.fields.filter(isShownRisks).flatMap(({ after }) => after as string[]);
  if (texts.length === 0) return change;
  const fields = change.fields.filter((field) => !isShownRisks(field));
  return { ...change, fields, risks: texts.map((message) => ({ path: [], effect: 'widens', message })) };
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
