/** The patches of files, as `git diff` shows them. Parts that no excerpt may show are hidden in them, too. */
import { createTwoFilesPatch } from 'diff';
import { findHidden } from '../../manifest/explain/hidden-parts.ts';
import { displayPath } from '../../manifest/files/find-stack.ts';
import { slashes } from '../../manifest/files/list-files.ts';
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
  const patch = createTwoFilesPatch(
    `a/${name}`,
    after === undefined ? '/dev/null' : `b/${name}`,
    old ?? '',
    now ?? '',
    undefined,
    undefined,
    { context: 3 },
  );
  return { file: shown, patch: patch.replace(/^=+\n/, ''), removed: after === undefined };
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
