/** What files would contain with the changes, and their patches. Nothing is written here. */
import { formatPatch, structuredPatch } from 'diff';
import { contentStart, type DocumentEdit, editText } from '../../manifest/edit/edit-document.ts';
import { applySplices, UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { displayPath, slashes } from '../../manifest/files/find-stack.ts';
import type { FileDrafts } from '../../manifest/load-documents.ts';
import { findHidden } from '../../manifest/yaml/hidden-parts.ts';
import type { SourceText } from '../../manifest/yaml/yaml-document.ts';
import { secretNames } from '../../manifest/yaml/secret-fields.ts';
import type { Registry } from '../../model/kind.ts';
import type { KnownSecrets } from '../../redaction/known-secrets.ts';
import { maskUrls, partsOfUrls } from '../../redaction/mask-text.ts';
import { type LocatedChange, notEditable, type Refusal, refuseSecret } from './locate-change.ts';

interface Drafted {
  readonly drafts: FileDrafts;
  /** changes that cannot be written; the drafts lack all changes of their files */
  readonly refusals: readonly Refusal[];
}

interface DraftContext {
  /** earlier drafts of files; the documents were read from these texts */
  readonly drafts: FileDrafts;
  readonly kinds: Registry;
  readonly secrets: Pick<KnownSecrets, 'isIn'>;
}

export function draftFiles(placed: readonly LocatedChange[], { drafts, ...context }: DraftContext): Drafted {
  const texts = new Map(drafts);
  const refusals: Refusal[] = [];
  for (const [file, members] of Map.groupBy(placed, (one) => one.file)) {
    const edited = edit(members);
    if (edited instanceof UnusualYaml) refusals.push(...findCulprits(members, edited));
    else if (addsHidden(members, edited, context)) refusals.push(...refuseHidden(members, context));
    else texts.set(file, edited);
  }
  return { drafts: texts, refusals };
}

function edit(members: readonly LocatedChange[]): string | undefined | UnusualYaml {
  try {
    const [first] = members;
    return first && editAll(first.source, members);
  } catch (error) {
    if (error instanceof UnusualYaml) return error;
    throw error;
  }
}

/** The changes that cannot be written alone either; all of them, if each alone can be written. */
function findCulprits(members: readonly LocatedChange[], error: UnusualYaml): Refusal[] {
  const alone = members.flatMap((one) => {
    const edited = edit([one]);
    return edited instanceof UnusualYaml ? [notEditable(one.accepted, edited, one.place)] : [];
  });
  return alone.length > 0 ? alone : members.map(({ accepted, place }) => notEditable(accepted, error, place));
}

/** Refuses the changes that add hidden text when they are made alone; all of them, if none does alone. */
function refuseHidden(members: readonly LocatedChange[], context: Omit<DraftContext, 'drafts'>): Refusal[] {
  const alone = members.filter((one) => {
    const edited = edit([one]);
    return !(edited instanceof UnusualYaml) && addsHidden([one], edited, context);
  });
  const refused = alone.length > 0 ? alone : members;
  return refused.map(({ accepted, place }) => refuseSecret(accepted, place));
}

/** Whether a new text has something that its patch would hide, or a secret of this run, and the old text had not. */
function addsHidden(
  members: readonly LocatedChange[],
  after: string | undefined,
  { kinds, secrets }: Omit<DraftContext, 'drafts'>,
): boolean {
  const before = textOf(members);
  if (after === undefined) return false;
  // Users choose keys of maps, and one of them may be a secret, too.
  const isKnown = members.some(
    ({ accepted: { path, value } }) => value !== undefined && secrets.isIn([...path.map(String), value]),
  );
  return isKnown || hidesMore({ before, after }, kinds) || (secrets.isIn(after) && !secrets.isIn(before));
}

function textOf([first]: readonly LocatedChange[]): string {
  return first?.source.text ?? '';
}

/** The text of a file with all of its changes. A file has either documents or cells. */
function editAll(source: SourceText, members: readonly LocatedChange[]): string | undefined {
  const cells = members.flatMap(({ edit }) => ('cell' in edit ? [edit] : []));
  if (cells.length === 0) return editText(source, editsOf(members));
  const byStart = new Map(cells.map(({ cell, text }) => [cell.start, { ...cell, text }]));
  return applySplices(source.text, [...byStart.values()]);
}

function editsOf(members: readonly LocatedChange[]): DocumentEdit[] {
  const edits = members.flatMap(({ edit }) => ('document' in edit ? [edit] : []));
  const byDocument = Map.groupBy(edits, ({ document }) => document);
  return [...byDocument].map(([document, changes]): DocumentEdit => {
    const at = contentStart(document);
    if (changes.some(({ values }) => values === 'remove')) return { at, remove: true };
    return { at, values: changes.flatMap(({ values }) => (values === 'remove' ? [] : values)) };
  });
}

// The patches of files, as `git diff` shows them. Parts that no excerpt may show are hidden in them, too.

export interface FilePatch {
  /** as the user would type it */
  readonly file: string;
  readonly patch: string;
  readonly removed: boolean;
}

/** @param texts `before` is undefined for a new file, `after` for a file that is removed */
export function patchOf(
  file: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
  { cwd, kinds }: { readonly cwd: string; readonly kinds: Registry },
): FilePatch {
  const shown = displayPath(file, cwd);
  const name = slashes(shown);
  const [old, now] = [before ?? '', after ?? ''].map((text) => maskUrls(withoutHidden(text, kinds).shown));
  const patch = formatPatch({
    oldFileName: before === undefined ? '/dev/null' : `a/${name}`,
    newFileName: after === undefined ? '/dev/null' : `b/${name}`,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: hunksOf(old ?? '', now ?? ''),
  });
  return { file: shown, patch: patch.replace(/^=+\n/, ''), removed: after === undefined };
}

type Hunk = ReturnType<typeof structuredPatch>['hunks'][number];

/** The differences of two texts, compared part by part, because the time of a comparison grows with the square of the differences. */
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

/** Characters of a part: so many that a small file is one part, in which each change shows the lines around it. */
const partLength = 8_000;

/** Groups consecutive documents into parts; one part, if the number of documents changed. */
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

/** Whether a patch would hide something that the new text adds: text that was not shown is never written. */
function hidesMore(
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
  return [...hidden, ...partsOfUrls(shown).map(({ start, end }) => shown.slice(start, end))];
}

/** The text with its hidden parts replaced. Line breaks stay, so that line numbers do not change. */
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
