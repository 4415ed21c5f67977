/** Finds why a value cannot be written where it is used: it stands elsewhere, or others use what stands there. */
import type { Path } from '../../model/json/json.ts';
import type { Span } from '../yaml/locate.ts';
import type { YamlDocument } from '../yaml/yaml-document.ts';
import { treeOf } from './edit-document.ts';
import type { SourceNode } from './source-tree.ts';
import { valueAt } from './value-at.ts';

interface SharedValue {
  /** `alias`: the value comes from an anchor; `anchor`: aliases repeat it */
  readonly by: 'alias' | 'anchor';
  readonly name: string;
  /** in the text of the file */
  readonly span: Span;
}

/** @throws UnusualYaml */
export function findShared(document: YamlDocument, path: Path): SharedValue | undefined {
  const { root, base } = treeOf(document);
  const found = findIn(root, document, path);
  if (found === undefined) return undefined;
  const { start, end } = found.span;
  return { ...found, span: { start: base + start, end: base + end } };
}

function findIn(root: SourceNode, document: YamlDocument, path: Path): SharedValue | undefined {
  const repeated = new Set(aliasesIn(root));
  let node = root;
  for (const [depth, name] of path.entries()) {
    const shared = sharedBy(node, repeated);
    if (shared !== undefined) return shared;
    const entry =
      node.is === 'list' ? node.entries[Number(name)] : node.entries.find(({ key }) => key === name);
    if (entry === undefined)
      return mergedAt(node, valueAt(document.value, path.slice(0, depth + 1)) !== undefined);
    node = entry.value;
  }
  return sharedBy(node, repeated) ?? anchorsIn(node).find(({ name }) => repeated.has(name));
}

function sharedBy(
  { alias, anchor, start, end }: SourceNode,
  repeated: ReadonlySet<string>,
): SharedValue | undefined {
  if (alias !== undefined) return { by: 'alias', name: alias, span: { start, end } };
  return anchor !== undefined && repeated.has(anchor.name)
    ? { by: 'anchor', name: anchor.name, span: anchor }
    : undefined;
}

/** A member that only a merge key brings. */
function mergedAt({ entries }: SourceNode, isThere: boolean): SharedValue | undefined {
  const merge = isThere ? entries.find(({ key }) => key === '<<') : undefined;
  if (merge === undefined) return undefined;
  const [name = '<<'] = aliasesIn(merge.value);
  return { by: 'alias', name, span: { start: merge.start, end: merge.end } };
}

function aliasesIn(node: SourceNode): string[] {
  const own = node.alias === undefined ? [] : [node.alias];
  return [...own, ...node.entries.flatMap(({ value }) => aliasesIn(value))];
}

function anchorsIn(node: SourceNode): SharedValue[] {
  const own =
    node.anchor === undefined ? [] : [{ by: 'anchor', name: node.anchor.name, span: node.anchor } as const];
  return [...own, ...node.entries.flatMap(({ value }) => anchorsIn(value))];
}
