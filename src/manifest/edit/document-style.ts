/**
 * The formatting of a document: quotes, indentation and gaps. New values are written in the same way, as far as the document shows it.
 */
import { beginsLine, columnOf, lineStart, type SourceEntry, type SourceNode } from './source-tree.ts';
import { type Gaps, type Formatting, isAmbiguousWord } from './value-text.ts';

export function formattingOf(text: string, root: SourceNode): Formatting {
  const all = [...nodesIn(root)];
  const collections = all.filter(({ style, entries }) => style === 'flow' && entries.length > 0);
  const json = isJson(text, root, all);
  const spread =
    json && collections.every(({ entries }) => entries.every(({ start }) => beginsLine(text, start)));
  const [first] = root.entries;
  const unit = first === undefined ? '' : text.slice(lineStart(text, first.start), first.start);
  return {
    json,
    ...(spread ? { spread: unit } : {}),
    step: stepOf(text, root),
    flush: isFlush(text, all),
    padding: { map: paddingOf(text, collections, 'map'), list: paddingOf(text, collections, 'list') },
    bare: all.some(({ style, start, end }) => style === 'plain' && isAmbiguousWord(text.slice(start, end))),
    ...gapsOf(text, collections, { colon: ' ', comma: ' ' }),
  };
}

/** A map counts as JSON if all its own keys are in double quotes; a list, if everything in it is JSON. */
function isJson(text: string, root: SourceNode, all: readonly SourceNode[]): boolean {
  if (root.style !== 'flow') return false;
  const hasQuotes = ({ entries }: SourceNode) =>
    entries.every(({ key, start }) => key === undefined || text[start] === '"');
  if (root.is === 'map') return hasQuotes(root);
  return all.every((node) => {
    const isWord = node.style === 'plain' && isJsonWord(text.slice(node.start, node.end));
    return isWord || node.style === 'double' || (node.style === 'flow' && hasQuotes(node));
  });
}

function isJsonWord(written: string): boolean {
  return /^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(written);
}

/** @param otherwise the gaps if these nodes have none */
export function gapsOf(text: string, nodes: readonly SourceNode[], otherwise: Gaps): Gaps {
  const members = nodes.flatMap(({ entries }) => entries);
  const colons = members.filter(
    ({ start, key, value }) => key !== undefined && isQuote(text[start]) && value.style !== 'empty',
  );
  const commas = nodes.flatMap(({ entries }) =>
    entries.slice(0, -1).flatMap((entry, index) => commaGap(text, entry, entries[index + 1])),
  );
  return {
    colon: colons.length === 0 ? otherwise.colon : gapIf(colons.some(({ lead }) => text[lead] === ' ')),
    comma: commas.length === 0 ? otherwise.comma : gapIf(commas.some((gap) => gap !== '')),
  };
}

function commaGap(text: string, { comma }: SourceEntry, next: SourceEntry | undefined): string[] {
  if (comma === undefined || next === undefined) return [];
  const gap = text.slice(comma + 1, next.start);
  return gap.includes('\n') ? [] : [gap];
}

/** The quotes of the keys of a map, if all keys that need none have the same quotes. */
export function keyQuotes(text: string, { entries }: SourceNode): 'single' | 'double' | undefined {
  const free = entries.filter(({ key }) => key !== undefined && /^[a-z][\w-]{3,}$/i.test(key));
  const [quote] = free.map(({ start }) => text[start]);
  if (!isQuote(quote) || free.some(({ start }) => text[start] !== quote)) return undefined;
  return quote === '"' ? 'double' : 'single';
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}

function gapIf(isThere: boolean): '' | ' ' {
  return isThere ? ' ' : '';
}

function* nodesIn(node: SourceNode): Generator<SourceNode> {
  yield node;
  for (const { value } of node.entries) yield* nodesIn(value);
}

/** The indentation of the first nested block; 2 if there is none. */
function stepOf(text: string, root: SourceNode): number {
  for (const entry of root.style === 'block' ? root.entries : []) {
    const step = columnOf(text, entry.value.start) - columnOf(text, entry.start);
    if (entry.value.style === 'block' && entry.value.is === 'map' && step > 0) return step;
  }
  return 2;
}

function isFlush(text: string, all: readonly SourceNode[]): boolean {
  const lists = all.flatMap(({ is, style, entries }) =>
    is === 'map' && style === 'block'
      ? entries.filter(({ value }) => value.is === 'list' && value.style === 'block')
      : [],
  );
  return (
    lists.length > 0 &&
    lists.every(({ start, value }) => columnOf(text, start) === columnOf(text, value.start))
  );
}

function paddingOf(text: string, collections: readonly SourceNode[], is: 'map' | 'list'): '' | ' ' {
  const one = collections.find((node) => node.is === is && !beginsLine(text, node.entries[0]?.start ?? 0));
  return gapIf(one !== undefined && text[one.start + 1] === ' ');
}
