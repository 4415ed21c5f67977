/** The patches of files, as `git diff` shows them. Parts that no excerpt may show are hidden in them, too. */
import { formatPatch, structuredPatch } from 'diff';
import { findHidden } from '../../manifest/explain/hidden-parts.ts';
import { displayPath } from '../../manifest/files/find-stack.ts';
import { slashes } from '../../manifest/files/find-repository.ts';
import { secretNames } from '../../manifest/secret-names.ts';
import type { Registry } from '../../model/kind/kind.ts';
import { maskAddresses, partsOfAddresses } from '../../model/mask-addresses.ts';

export interface FilePatch {
  /** as the user would type it */
  readonly file: string;
  readonly patch: string;
  readonly removed: boolean;
}

/** @param text undefined where the file goes */
export function patchOf(
  file: string,
  { before, after }: { readonly before: string; readonly after: string | undefined },
  { cwd, kinds }: { readonly cwd: string; readonly kinds: Registry },
): FilePatch {
  const shown = displayPath(file, cwd);
  const name = slashes(shown);
  const [old, now] = [before, after ?? ''].map((text) => maskAddresses(withoutHidden(text, kinds).shown));
  const patch = formatPatch({
    oldFileName: `a/${name}`,
    newFileName: after === undefined ? '/dev/null' : `b/${name}`,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: hunksOf(old ?? '', now ?? ''),
  });
  return { file: shown, patch: patch.replace(/^=+\n/, ''), removed: after === undefined };
}

type Hunk = ReturnType<typeof structuredPatch>['hunks'][number];

/** Part by part: the time that a comparison takes grows with the square of what differs in it. */
function hunksOf(before: string, after: string): Hunk[] {
  let [oldLine, newLine] = [0, 0];
  return partsOf(before, after).flatMap(({ old, now }) => {
    const { hunks } = structuredPatch('', '', old, now, undefined, undefined, { context: 3 });
    const [oldAbove, newAbove] = [oldLine, newLine];
    oldLine += old.split('\n').length - 1;
    newLine += now.split('\n').length - 1;
    return hunks.map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + oldAbove,
      newStart: hunk.newStart + newAbove,
    }));
  });
}

/** Long enough that a small file is one part, of which every change shows the lines around it. */
const partLength = 20_000;

/** Documents that follow each other, in parts; one part, if they are not as many as before. */
function partsOf(before: string, after: string): { readonly old: string; readonly now: string }[] {
  const [olds, nows] = [before, after].map((text) => text.split(/^(?=---(?:\s|$))/m));
  if (olds === undefined || nows === undefined || olds.length !== nows.length)
    return [{ old: before, now: after }];
  const parts: { old: string; now: string }[] = [];
  for (const [index, old] of olds.entries()) {
    const now = nows[index] ?? '';
    const last = parts.at(-1);
    if (last === undefined || last.old.length + old.length > partLength) parts.push({ old, now });
    else parts[parts.length - 1] = { old: last.old + old, now: last.now + now };
  }
  return parts;
}

/** Whether a patch would not show all that a text has more than the one before: nothing unseen is ever written. */
export function hidesMore(
  { before, after }: { readonly before: string; readonly after: string },
  kinds: Registry,
): boolean {
  const left = new Map<string, number>();
  for (const part of hiddenIn(before, kinds)) left.set(part, (left.get(part) ?? 0) + 1);
  return hiddenIn(after, kinds).some((part) => {
    const count = left.get(part) ?? 0;
    left.set(part, count - 1);
    return count <= 0;
  });
}

function hiddenIn(text: string, kinds: Registry): string[] {
  const { shown, hidden } = withoutHidden(text, kinds);
  return [...hidden, ...partsOfAddresses(shown).map(({ start, end }) => shown.slice(start, end))];
}

/** Line breaks stay, so that the lines have their numbers. */
function withoutHidden(
  text: string,
  kinds: Registry,
): { readonly shown: string; readonly hidden: readonly string[] } {
  const { spans } = findHidden(text, secretNames(kinds));
  const hidden: string[] = [];
  let shown = '';
  let at = 0;
  for (const { start, end } of spans) {
    if (start < at) continue;
    hidden.push(text.slice(start, end));
    shown += `${text.slice(at, start)}***${text.slice(start, end).replace(/[^\n]/g, '')}`;
    at = end;
  }
  return { shown: shown + text.slice(at), hidden };
}
