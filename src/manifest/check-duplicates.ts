/**
 * Checks that no resource is declared twice: by two documents, by a document and a short form, under two spellings of its name, or for
 * two targets that are the same place.
 */
import { formatAddress } from '../model/address.ts';
import type { Diagnostic, Place } from '../model/diagnostic.ts';
import { isJsonObject } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import { formatIdentity, identityOf } from '../model/stack.ts';
import { type Entry, placeOfEntry } from './resolve-resources.ts';

/** @param entries also of invalid manifests, in reading order */
export function checkDuplicates(entries: readonly Entry[]): Diagnostic[] {
  const first = new Map<string, Entry>();
  const found = new Map<string | Entry, [first: Entry, again: Entry, times: number]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, entry);
    else if (!isReportedForParent(earlier, entry)) {
      // A template without an expression in its name makes one duplicate of each item, which is one mistake.
      const cause = isOneTemplate(earlier, entry) && isSameName(earlier, entry) ? key : entry;
      const [, again = entry, times = 1] = found.get(cause) ?? [];
      found.set(cause, [earlier, again, times + 1]);
    }
  }
  return [...found.values()].map(([earlier, again, times]) => duplicate(earlier, again, times));
}

/** A resource that exists once in a place has one key for all targets at this place. */
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

function duplicate(first: Entry, again: Entry, times: number): Diagnostic {
  const { kind, target, name } = again.address;
  if (first.address.target !== target) return duplicateInPlace(first, again);
  const sameName = isSameName(first, again);
  return {
    code: sameName ? 'duplicate' : 'same-name',
    severity: 'error',
    class: 'invalid',
    message: sameName
      ? `${kind} ${quoted(name)} is declared ${times > 2 ? `${times} times` : 'twice'} for target ${quoted(target)}${byWhat(first, again)}`
      : `the names ${quoted(first.writtenName)} and ${quoted(again.writtenName)} fold to the same name: for target ${quoted(target)} both are ${kind} ${quoted(name)}`,
    place: placeWithItem(again),
    fix: isOneTemplate(first, again) ? fixInTemplate(first, again) : 'keep one of them',
    related: [{ message: 'first declared here', place: placeWithItem(first) }],
  };
}

function isSameName(one: Entry, other: Entry): boolean {
  return one.writtenName === other.writtenName;
}

/** Where two items have one key, `${each.key}` in the name does not help. */
function fixInTemplate(first: Entry, again: Entry): string {
  const [one, other] = [first, again].map(({ declaration }) => declaration.document.made?.key);
  return one === other
    ? 'give these items of the list different keys'
    : 'let the name differ for each item of the list: put ${each.key} into it';
}

/** The name of a template may have no expression that leads to its list. */
function placeWithItem(entry: Entry): Place {
  const place = placeOfEntry(entry);
  const item = entry.declaration.document.made?.item;
  return place.list !== undefined || item === undefined ? place : { ...place, list: item };
}

function isOneTemplate(one: Entry, other: Entry): boolean {
  const template = one.declaration.document.made?.from;
  return template !== undefined && template === other.declaration.document.made?.from;
}

/** `: by "tags" of Workspace "app" and by a separate document`. */
function byWhat(first: Entry, again: Entry): string {
  const short = [first, again].find(({ shortForm }) => shortForm !== undefined);
  if (short === undefined) return '';
  const other = short === first ? again : first;
  const owner = `by ${quoted(short.shortForm ?? '')} of ${short.declaration.kind.name} ${quoted(short.writtenName)}`;
  return other.shortForm === undefined ? `: ${owner} and by a separate document` : `: ${owner} each time`;
}

function duplicateInPlace(first: Entry, again: Entry): Diagnostic {
  const { kind, target, name } = again.address;
  return {
    code: 'duplicate',
    severity: 'error',
    class: 'invalid',
    message: `${kind} ${quoted(name)} is declared for the targets ${quoted(first.address.target)} and ${quoted(target)}, which are the same place`,
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
