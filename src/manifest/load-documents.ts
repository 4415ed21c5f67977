/**
 * Files in, documents out: the stack and every manifest it names, each file read and parsed once. Whatever could not be
 * read, and every pattern that stands for nothing, is a diagnostic of class `incomplete`.
 */
import { dirname, resolve } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { Dialect } from '../model/target.ts';
import { displayPath, findStack, standardInput } from './find-stack.ts';
import { listFiles, type PatternProblem } from './list-files.ts';
import { maskSecrets } from './mask-secrets.ts';
import { parseDocuments } from './parse-documents.ts';
import { readStack, type StackReading } from './read-stack.ts';
import { readText } from './read-text.ts';
import { createSourceText } from './source-text.ts';
import { placeIn, type YamlDocument } from './yaml-document.ts';

export interface LoadInput {
  readonly path?: string;
  readonly cwd: string;
  readonly stdin?: () => Promise<string>;
  readonly instead?: string;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly secrets: ReadonlySet<string>;
}

export interface Loaded {
  readonly stack?: StackReading;
  /** the manifests, in reading order: the stack file's own, then file by file */
  readonly documents: readonly YamlDocument[];
  /** files that manifests were looked for in */
  readonly files: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** One file's part of the whole. */
type Text = Pick<Loaded, 'documents' | 'diagnostics'>;

/** So many files are open at once. */
const readers = 32;

export async function loadDocuments(input: LoadInput): Promise<Loaded> {
  const piped = input.path === standardInput ? await readInput(input) : undefined;
  const own = piped === undefined ? undefined : takeStack(piped.documents);
  if (piped !== undefined && own?.stack !== undefined) {
    const stack = readStack(own.stack, { ...input, directory: resolve(input.cwd) });
    return loadManifests(input, stack, { ...piped, documents: own.rest, path: standardInput });
  }
  const path = await findStack(input.path, input.cwd);
  if (typeof path !== 'string')
    return { documents: [], files: 0, ...piped, diagnostics: [...(piped?.diagnostics ?? []), path] };
  const file = await readFileText(path, input);
  const taken = takeStack(file.documents, input.kinds);
  const context = { ...input, directory: dirname(path) };
  const stack = taken.stack === undefined ? undefined : readStack(taken.stack, context);
  const missing =
    stack === undefined && file.diagnostics.length === 0 ? [noStackDocument(path, input.cwd)] : [];
  const about = { documents: taken.rest, diagnostics: [...file.diagnostics, ...missing], path };
  if (stack === undefined) return { ...about, files: 0 };
  if (input.instead !== undefined) return { stack, files: 1, ...parse(standardInput, input.instead, input) };
  if (piped === undefined) return loadManifests(input, stack, about);
  return {
    stack,
    documents: [...about.documents, ...piped.documents],
    files: 1,
    diagnostics: [...about.diagnostics, ...stack.diagnostics, ...piped.diagnostics],
  };
}

/** The manifests that the stack's patterns stand for, behind those that came with it. */
async function loadManifests(
  input: LoadInput,
  stack: StackReading,
  own: Text & { readonly path: string },
): Promise<Loaded> {
  const directory = own.path === standardInput ? resolve(input.cwd) : dirname(own.path);
  const listed = await listFiles(stack.manifests, directory);
  const problems = [...listed].flatMap(([pattern, { problem }]) =>
    problem === undefined ? [] : [patternProblem(problem, stack, stack.manifests.indexOf(pattern))],
  );
  const paths = [...new Set([...listed.values()].flatMap(({ files }) => files))].filter(
    (path) => path !== own.path,
  );
  const texts: Text[] = [own];
  for (let start = 0; start < paths.length; start += readers) {
    const batch = paths.slice(start, start + readers);
    texts.push(...(await Promise.all(batch.map((path) => readFileText(path, input)))));
  }
  const asksInput = own.path !== standardInput && stack.manifests.includes(standardInput);
  if (asksInput) texts.push(await readInput(input));
  const documents = texts.flatMap((text) => text.documents);
  const hasOwn = own.documents.length > 0 || own.path === standardInput;
  return {
    stack,
    documents,
    files: paths.length + (hasOwn ? 1 : 0) + (asksInput ? 1 : 0),
    diagnostics: [...stack.diagnostics, ...problems, ...texts.flatMap((text) => text.diagnostics)],
  };
}

async function readFileText(path: string, input: LoadInput): Promise<Text> {
  const file = displayPath(path, input.cwd);
  const text = await readText(path, file);
  return typeof text === 'string' ? parse(file, text, input) : { documents: [], diagnostics: [text] };
}

async function readInput(input: LoadInput): Promise<Text> {
  const text = await input.stdin?.();
  if (text !== undefined) return parse(standardInput, text, input);
  const message = 'manifests are asked for from standard input, and there is none';
  return { documents: [], diagnostics: [incomplete('no-input', message)] };
}

function parse(file: string, text: string, { secrets }: LoadInput): Text {
  const parsed = parseDocuments(createSourceText(file, text, maskSecrets(secrets)));
  if (text.trim() !== '') return parsed;
  const fix = 'write manifests into it, or delete it';
  const message = `"${file}" is empty`;
  return { ...parsed, diagnostics: [{ ...incomplete('empty-file', message), severity: 'warning', fix }] };
}

interface Taken {
  readonly stack?: YamlDocument;
  readonly rest: readonly YamlDocument[];
}

/**
 * Tells the Stack from the manifests beside it.
 * @param kinds given where a Stack must be: then an only document is it, unless it is plainly a manifest
 */
function takeStack(documents: readonly YamlDocument[], kinds?: Registry): Taken {
  const only = documents.length === 1 ? documents[0] : undefined;
  const meant = only !== undefined && kinds !== undefined && !isManifest(only, kinds) ? only : undefined;
  const stack = documents.find(isStack) ?? meant;
  return stack === undefined
    ? { rest: documents }
    : { stack, rest: documents.filter((other) => other !== stack) };
}

function isManifest({ value }: YamlDocument, kinds: Registry): boolean {
  return isJsonObject(value) && typeof value['kind'] === 'string' && kinds.has(value['kind']);
}

export function isStack({ value }: YamlDocument): boolean {
  return isJsonObject(value) && typeof value['kind'] === 'string' && value['kind'].toLowerCase() === 'stack';
}

function noStackDocument(path: string, cwd: string): Diagnostic {
  const message = `"${displayPath(path, cwd)}" holds no document of kind "Stack"`;
  const fix = 'add one, or give the path of the stack';
  return { code: 'no-stack', severity: 'error', class: 'failure', message, fix };
}

function patternProblem(
  { code, message, fix }: PatternProblem,
  stack: StackReading,
  index: number,
): Diagnostic {
  return {
    ...incomplete(code, message),
    severity: code === 'no-manifests' ? 'warning' : 'error',
    place: placeIn(stack.document, ['spec', 'manifests', `${index}`]),
    ...(fix === undefined ? {} : { fix }),
  };
}

function incomplete(code: string, message: string): Diagnostic {
  return { code, severity: 'error', class: 'incomplete', message };
}
