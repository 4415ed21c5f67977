/** No resource is declared twice (RULES 4): by two documents, by a short form beside its document, or by two spellings. */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type Entry, placeOfEntry } from './resolve.ts';

/** @param entries also of invalid manifests, in reading order */
export function checkDuplicates(entries: readonly Entry[]): Diagnostic[] {
  const first = new Map<AddressText, Entry>();
  return entries.flatMap((entry) => {
    const address = formatAddress(entry.address);
    const earlier = first.get(address);
    if (earlier === undefined) first.set(address, entry);
    return earlier === undefined || isToldAlready(earlier, entry) ? [] : [duplicate(earlier, entry)];
  });
}

/** Two documents that are one resource have their short forms in common: that is one mistake, told at the documents. */
function isToldAlready(first: Entry, again: Entry): boolean {
  if (first.shortForm === undefined || again.shortForm === undefined) return false;
  const [one, other] = [first.declaration, again.declaration];
  return one !== other && one.kind === other.kind;
}

function duplicate(first: Entry, again: Entry): Diagnostic {
  const { kind, target, name } = again.address;
  const sameName = first.writtenName === again.writtenName;
  return {
    code: sameName ? 'duplicate' : 'same-name',
    severity: 'error',
    class: 'invalid',
    message: sameName
      ? `${kind} "${name}" is declared twice for target "${target}"${byWhat(first, again)}`
      : `the names "${first.writtenName}" and "${again.writtenName}" fold to the same name: for target "${target}" both are ${kind} "${name}"`,
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
  const owner = `by "${short.shortForm}" of ${short.declaration.kind.name} "${short.writtenName}"`;
  return other.shortForm === undefined ? `: ${owner} and by a document of its own` : `: ${owner} each time`;
}
