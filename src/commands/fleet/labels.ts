/**
 * The labels of the stacks of a commit, from their stack files. Anybody who can push can write these files, so only a limited amount is
 * read. A file that is not a valid stack file has no labels, and its check reports why.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compileSchema } from '../../manifest/schema/compile-schema.ts';
import { type Labels, stackLabelsSchema } from '../../manifest/schema/label-schema.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../manifest/yaml/yaml-document.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import { type Json, memberOf } from '../../model/json.ts';

/** Bytes of one stack file, and characters of all with labels, at most: reading them must not hold up a worker. */
const longestFile = 100_000;
const longestTogether = 20_000_000;

/** Files that are read before other work of the worker gets a turn. */
const atOnce = 20;

const none: Labels = {};

interface StackFiles {
  /** of the checkout */
  readonly directory: string;
  /** of the stack files in it */
  readonly stacks: readonly { readonly path: string }[];
}

/** @returns the labels by the path of the stack file; stacks without labels are left out */
export async function readLabels({ directory, stacks }: StackFiles): Promise<ReadonlyMap<string, Labels>> {
  const found = new Map<string, Labels>();
  let length = 0;
  for (const [index, { path }] of stacks.entries()) {
    if (index % atOnce === 0) await nextTurn();
    const text = readText(join(directory, path));
    // Parsing takes much longer than reading, and most files have no labels.
    if (!text.includes('labels') || length + text.length > longestTogether) continue;
    length += text.length;
    const labels = labelsIn(text);
    if (Object.keys(labels).length > 0) found.set(path, labels);
  }
  return found;
}

/** Empty for a file that is not read. Synchronous, because asynchronous reads of thousands of small files take ten times as long. */
function readText(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= longestFile ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function labelsIn(text: string): Labels {
  const { documents, diagnostics } = parseDocuments(createSourceText('trueup.yaml', text));
  const stack = documents.find(({ value }) => memberOf(value, 'kind') === 'Stack');
  if (diagnostics.length > 0 || stack === undefined) return none;
  const labels = memberOf(memberOf(stack.value, 'metadata'), 'labels');
  return labels !== undefined && isLabels(labels) ? labels : none;
}

function isLabels(value: Json): value is Labels & Json {
  return compileSchema(stackLabelsSchema, () => jsonSchema(stackLabelsSchema))(value).length === 0;
}

/** Whether a stack has all of these. */
export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}
