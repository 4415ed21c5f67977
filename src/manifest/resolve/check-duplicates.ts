/**
 * Checks that no resource is declared twice (rules 4, 37): by two documents, by a document and a short form, under two spellings
 * of its name, or for two targets that are the same place.
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import { isJsonObject } from '../../model/json/json.ts';
import { formatIdentity, identityOf } from '../../model/stack/target-identity.ts';
import { quoted } from '../../model/quoted.ts';
import { type Entry, placeOfEntry } from './resolve-resources.ts';

/** @param entries also of invalid manifests, in reading order */
export function checkDuplicates(entries: readonly Entry[]): Diagnostic[] {
  const first = new Map<string, Entry>();
  return entries.flatMap((entry) => {
    const key = keyOf(entry);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, entry);
    return earlier === undefined || isReportedForParent(earlier, entry) ? [] : [duplicate(earlier, entry)];
  });
}

/** A resource that exists once in a place has one key for all targets that are this place. */
function keyOf({ address, target, declaration, shortForm }: Entry): string {
  const { ownership } = declaration.kind;
  const isOnePerPlace = shortForm === undefined && ownership.by === 'ledger' && !ownership.named;
  return isOnePerPlace
    ? formatAddress({ ...address, target: formatIdentity(identityOf(target)) })
    : formatAddress(address);
}

/** When two documents declare one resource, their equal short forms are not reported again. */
function isReportedForParent(first: Entry, again: Entry): boolean {
  if (first.shortForm === undefined || again.shortForm === undefined) return false;
  const [one, other] = [first.declaration, again.declaration];
  return one !== other && one.kind === other.kind;
}

function duplicate(first: Entry, again: Entry): Diagnostic {
  const { kind, target, name } = again.address;
  if (first.address.target !== target) return duplicateInPlace(first, again);
  const sameName = first.writtenName === again.writtenName;
  return {
    code: sameName ? 'duplicate' : 'same-name',
    severity: 'error',
    class: 'invalid',
    message: sameName
      ? `${kind} ${quoted(name)} is declared twice for target ${quoted(target)}${byWhat(first, again)}`
      : `the names ${quoted(first.writtenName)} and ${quoted(again.writtenName)} fold to the same name: for target ${quoted(target)} both are ${kind} ${quoted(name)}`,
    place: placeOfEntry(again),
    fix: 'keep one of them',
    related: [{ message: 'first declared here', place: placeOfEntry(first) }],
  };
}

/** `: by "tags" of Workspace "app" and by a document of its own`. */
function byWhat(first: Entry, again: Entry): string {
  const short = [first, again].find(({ shortForm }) => shortForm !== undefined);
  if (short === undefined) return '';
  const other = short === first ? again : first;
  const owner = `by ${quoted(short.shortForm ?? '')} of ${short.declaration.kind.name} ${quoted(short.writtenName)}`;
  return other.shortForm === undefined ? `: ${owner} and by a document of its own` : `: ${owner} each time`;
}

function duplicateInPlace(first: Entry, again: Entry): Diagnostic {
  const { kind, target, name } = again.address;
  return {
    code: 'duplicate',
    severity: 'error',
    class: 'invalid',
    message: `${kind} ${quoted(name)} is declared for the targets ${quoted(first.address.target)} and ${quoted(target)}, which are one place`,
    place: placeOfTarget(again),
    fix: 'keep one of them',
    related: [{ message: 'first declared here', place: placeOfTarget(first) }],
  };
}

/** The place of the target's name when `metadata.targets` lists it; otherwise the place of the entry. */
function placeOfTarget(entry: Entry): Place {
  const { declaration, target } = entry;
  const metadata = declaration.value['metadata'];
  const targets = isJsonObject(metadata) ? metadata['targets'] : undefined;
  const index = Array.isArray(targets) ? targets.indexOf(target.name) : -1;
  return index === -1 ? placeOfEntry(entry) : declaration.where.place(['metadata', 'targets', `${index}`]);
}
