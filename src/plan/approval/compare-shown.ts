/**
 * Compares what a plan file shows beside the meaning that its digest covers with the plan that apply has made: the reason, place, id and
 * risks of each change, and the guards. The file's checksum has no key, so whoever writes the file can change these. Pure.
 */
import { canonicalText, type Json, sameJson } from '../../model/json/json.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Guard, GuardId } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Redact } from '../../model/redaction/stored-values.ts';
import { quoted } from '../../model/quoted.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { compareChanges } from './compare-plans.ts';

/** They follow from the checkout, which may be another one than that of the plan. */
const ofCheckout: ReadonlySet<GuardId> = new Set([
  'older-commit',
  'diverged-commit',
  'commit-unknown',
  'missing-file',
]);

/**
 * Only changes that are still the same are compared: of what is done in part, the rest has other reasons.
 * @param clean redacts the fresh plan as plan files are
 * @returns a clause about the first difference
 */
export function findOtherText(given: Plan, fresh: Plan, clean: Redact): string | undefined {
  const moved = new Set(
    compareChanges(fresh.stack, given.changes, fresh.changes).map(({ address }) => formatAddress(address)),
  );
  const shown = new Map(given.changes.map((change) => [formatAddress(change.address), change]));
  const isSame = ({ address }: Pick<Change, 'address'>) => !moved.has(formatAddress(address));
  const isSameCommit = isClean(given) && isClean(fresh) && given.made?.commit === fresh.made?.commit;
  for (const change of fresh.changes.filter(isSame)) {
    const other = shown.get(formatAddress(change.address));
    const what = other && otherMember(other, change, { isSameCommit, clean });
    if (what !== undefined) return `${what} of ${quoted(formatAddress(change.address))}`;
  }
  const isWhole = moved.size === 0;
  const hidden = fresh.guards
    .filter(({ id, concerns }) => !ofCheckout.has(id) && (isWhole || concerns.every(isSame)))
    .find((guard) => !given.guards.some((other) => isShown(other, guard, { isWhole, clean })));
  return hidden && `the guard ${quoted(hidden.id)}`;
}

function isClean({ made }: Plan): boolean {
  return made?.commit !== undefined && made.dirty !== true;
}

interface Comparing {
  readonly clean: Redact;
}

function otherMember(
  given: Change,
  fresh: Change,
  { isSameCommit, clean }: Comparing & { readonly isSameCommit: boolean },
): string | undefined {
  const isEqual = (one: Json, other: Json) => sameJson(one, clean([other])[0] ?? null);
  if (!isEqual(given.reason, fresh.reason)) return 'the reason';
  if (given.id !== fresh.id) return 'the id';
  if (given.createdBy !== fresh.createdBy) return 'the creator';
  if (!isSamePlace(given.place, fresh.place, isSameCommit)) return 'the place';
  const risks = ({ risks: all = [] }: Change): Json => all.map((risk) => ({ ...risk }));
  return isEqual(risks(given), risks(fresh)) ? undefined : 'the risks';
}

/** Another commit may have other lines, and another working directory another beginning of the path. */
function isSamePlace(given: Change['place'], fresh: Change['place'], isSameCommit: boolean): boolean {
  if (given === undefined || fresh === undefined) return given === fresh;
  const [one, other] = [given, fresh].map(({ file }) => `/${file.replace(/^(\.\.?\/)+/, '')}`);
  const isFile = one !== undefined && other !== undefined && (one.endsWith(other) || other.endsWith(one));
  return isFile && (!isSameCommit || (given.line === fresh.line && given.column === fresh.column));
}

/** While something is done already, counts are those of the rest, and a guard may be about less. */
function isShown(given: Guard, fresh: Guard, { isWhole, clean }: Comparing & { isWhole: boolean }): boolean {
  const cleaned = clean(fresh);
  const isSame = (['id', 'effect', 'kind', 'target'] as const).every((name) => given[name] === cleaned[name]);
  const known = new Set(concernTexts(given));
  const isAbout = concernTexts(cleaned).every((text) => known.has(text));
  const isCounted = cleaned.of !== undefined || given.counted !== cleaned.counted;
  const isSaid = (isCounted && !isWhole) || given.message === cleaned.message;
  return isSame && isAbout && isSaid;
}

function concernTexts({ concerns }: Guard): string[] {
  return concerns.map(({ address, messages }) => canonicalText([formatAddress(address), [...messages]]));
}
