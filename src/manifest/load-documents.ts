/**
 * Files in, documents out: the stack and every manifest it names, each file read and parsed once. Whatever could not be
 * read, and every pattern that stands for nothing, is a diagnostic of class `incomplete`.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonObject, type Path } from '../model/json/json.ts';
import type { Registry } from '../model/kind/kind.ts';
import type { Dialect } from '../model/stack/target.ts';
import { findRepository, liesIn, type Repository } from './files/find-repository.ts';
import { displayPath, findStack, stackFileName, standardInput } from './files/find-stack.ts';
import { findHidden } from './explain/hidden-parts.ts';
import { listFiles, onlyLeavesOut, type PatternProblem } from './files/list-files.ts';
import { apiVersion } from './schema/manifest-schema.ts';
import { parseDocuments } from './yaml/parse-documents.ts';
import { readStack, type StackReading } from './stack/read-stack.ts';
import { decodeText, foreignFile, mostBytes, readText } from './files/read-text.ts';
import { secretNames } from './secret-names.ts';
import { createSourceText } from './yaml/source-text.ts';
import { placeIn, type YamlDocument } from './yaml/yaml-document.ts';

export interface LoadInput {
  readonly path?: string;
  readonly cwd: string;
  /** @param most after one byte more than this the rest need not be read */
  readonly stdin?: (most: number) => Promise<Uint8Array>;
  readonly inputIsWhole?: boolean;
  readonly instead?: string;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly secrets: ReadonlySet<string>;
}

export interface Loaded {
  readonly stack?: StackReading;
  /** the manifests, in reading order: the stack file's own, then file by file */
  readonly documents: readonly YamlDocument[];
  /** the documents are a part of the stack: what is not among them is as it was before (rule 41) */
  readonly isSelection?: boolean;
  /** files that manifests were looked for in */
  readonly files: number;
  /** absolute paths of those that are on disk, the stack's own among them */
  readonly paths?: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** One file's part of the whole. */
type Text = Pick<Loaded, 'documents' | 'diagnostics'>;

/** What stands in the file that the Stack is in, besides it. */
type OwnText = Text & { readonly path: string };

/** So many files are open at once. */
const readers = 32;

export async function loadDocuments(input: LoadInput): Promise<Loaded> {
  const piped = input.path === standardInput ? await readInput(input) : undefined;
  const brought = piped === undefined ? undefined : takeStack(piped.documents);
  if (piped !== undefined && brought?.stack !== undefined) {
    const stack = readStack(brought.stack, { ...input, directory: resolve(input.cwd) });
    return loadBrought(input, stack, { ...piped, documents: brought.rest, path: standardInput });
  }
  const path = await findStack(input.path, input.cwd);
  if (typeof path !== 'string')
    return { documents: [], files: 0, ...piped, diagnostics: [...(piped?.diagnostics ?? []), path] };
  const file = await readStackFile(path, input);
  const taken = takeStack(file.documents, input.kinds);
  const context = { ...input, directory: dirname(path) };
  const stack = taken.stack === undefined ? undefined : readStack(taken.stack, context);
  const missing =
    stack === undefined && file.diagnostics.length === 0 ? [noStackDocument(path, input.cwd)] : [];
  const about = { documents: taken.rest, diagnostics: [...file.diagnostics, ...missing], path };
  if (stack === undefined) return { ...about, files: 0 };
  if (input.instead !== undefined) return { stack, files: 1, ...parse(standardInput, input.instead, input) };
  if (piped === undefined) return loadManifests(input, stack, about);
  const isSelection = input.inputIsWhole !== true && hasOwnManifests(stack);
  return {
    stack,
    documents: isSelection ? piped.documents : [...about.documents, ...piped.documents],
    isSelection,
    files: 1,
    diagnostics: [...about.diagnostics, ...stack.diagnostics, ...piped.diagnostics],
  };
}

/** Whether the stack has manifests besides those that are piped into it. A list that only leaves out means some, too. */
function hasOwnManifests({ manifests }: StackReading): boolean {
  return manifests.some(({ pattern }) => pattern !== standardInput);
}

/** A stack that came through standard input, with the manifests that came with it. */
async function loadBrought(input: LoadInput, stack: StackReading, own: OwnText): Promise<Loaded> {
  const loaded = await loadManifests(input, stack, own);
  const isEmpty = own.documents.length === 0 && own.diagnostics.length === 0;
  return isEmpty && asksInput(stack)
    ? { ...loaded, diagnostics: [...loaded.diagnostics, nothingPiped('a Stack and no manifest')] }
    : loaded;
}

/** The manifests that the stack's patterns stand for, behind those that came with it. */
async function loadManifests(input: LoadInput, stack: StackReading, own: OwnText): Promise<Loaded> {
  const directory = own.path === standardInput ? resolve(input.cwd) : dirname(own.path);
  const { paths, problems } = await listManifests(stack, own, directory);
  const repository = await findRepository(directory);
  const texts: Text[] = [own];
  for (let start = 0; start < paths.length; start += readers) {
    const batch = paths.slice(start, start + readers);
    texts.push(...(await Promise.all(batch.map((path) => readManifestFile(path, input, repository)))));
  }
  const isInputLeft = own.path !== standardInput && asksInput(stack);
  if (isInputLeft) texts.push(await readInput(input));
  const documents = texts.flatMap((text) => text.documents);
  const hasOwn = own.documents.length > 0 || own.path === standardInput;
  return {
    stack,
    documents,
    files: paths.length + (hasOwn ? 1 : 0) + (isInputLeft ? 1 : 0),
    paths: own.path === standardInput ? paths : [own.path, ...paths],
    diagnostics: [...stack.diagnostics, ...problems, ...texts.flatMap((text) => text.diagnostics)],
  };
}

function asksInput({ manifests }: StackReading): boolean {
  return manifests.some(({ pattern }) => pattern === standardInput);
}

/** The files to read besides the stack's own, and what is amiss with the patterns that stand for them. */
async function listManifests(
  stack: StackReading,
  own: OwnText,
  directory: string,
): Promise<{ readonly paths: readonly string[]; readonly problems: readonly Diagnostic[] }> {
  const isBare = own.documents.length === 0 && own.diagnostics.length === 0;
  const listed = await listFiles(stack.manifests, directory, isBare ? own.path : undefined);
  const problems = listed.flatMap(({ pattern, problem }) =>
    problem === undefined ? [] : [patternProblem(problem, stack, pattern.path)],
  );
  const files = new Set(listed.flatMap((found) => found.files));
  return {
    paths: [...files].filter((path) => path !== own.path),
    problems: onlyLeavesOut(stack.manifests) ? [nothingNamed(stack), ...problems] : problems,
  };
}

/** A file in which nothing stands was cut off, or is being written: that is no word about what it held. */
async function readManifestFile(path: string, input: LoadInput, repository: Repository): Promise<Text> {
  const text = await readFileText(path, input, repository);
  if (text.documents.length > 0 || text.diagnostics.length > 0) return text;
  const message = `no document stands in "${displayPath(path, input.cwd)}"`;
  const fix = 'write manifests into it, or delete it';
  return { ...text, diagnostics: [{ ...incomplete('empty-file', message), severity: 'warning', fix }] };
}

/**
 * The file in which the Stack should be. Whoever gives the path of some other file has it judged like a manifest of the
 * folder that they are in: outside of its repository it is refused, for a problem would show a line of it (rules 42).
 */
async function readStackFile(path: string, input: LoadInput): Promise<Text> {
  const text = await readFileText(path, input, await findRepository(dirname(path)));
  if (basename(path) === stackFileName || text.documents.some(isStack)) return text;
  const here = await findRepository(input.cwd);
  const isHere = await realpath(path).then(
    (real) => liesIn(here, real),
    () => true,
  );
  if (isHere) return text;
  return { documents: [], diagnostics: [foreignFile(displayPath(path, input.cwd), here)] };
}

async function readFileText(path: string, input: LoadInput, repository: Repository): Promise<Text> {
  const file = displayPath(path, input.cwd);
  return parse(file, await readText(path, { file, repository }), input);
}

async function readInput(input: LoadInput): Promise<Text> {
  const bytes = await input.stdin?.(mostBytes);
  if (bytes === undefined) {
    const message = 'manifests are asked for from standard input, and there is none';
    return { documents: [], diagnostics: [incomplete('no-input', message)] };
  }
  const parsed = parse(standardInput, decodeText(standardInput, bytes), input);
  const isEmpty = parsed.documents.length === 0 && parsed.diagnostics.length === 0;
  return isEmpty ? { ...parsed, diagnostics: [nothingPiped('no document')] } : parsed;
}

/** @param text or why there is none */
function parse(file: string, text: string | Diagnostic, { kinds }: LoadInput): Text {
  if (typeof text !== 'string') return { documents: [], diagnostics: [text] };
  return parseDocuments(createSourceText(file, text, (whole) => findHidden(whole, secretNames(kinds))));
}

/** Most likely what should have written the manifests has failed. */
function nothingPiped(what: string): Diagnostic {
  return {
    code: 'no-document',
    severity: 'error',
    class: 'invalid',
    message: `standard input holds ${what}`,
    fix: 'pipe manifests into it; a stack that is to have none says "manifests: []"',
  };
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
  const file = displayPath(path, cwd);
  return {
    code: 'no-stack',
    severity: 'error',
    class: 'invalid',
    message: `"${file}" holds no document of kind "Stack"`,
    place: { file, line: 1, column: 1, length: 1, text: '' },
    allowed: `a document with "apiVersion: ${apiVersion}", "kind: Stack", "metadata.name", "spec.manifests" and "spec.targets"`,
    fix: 'add one, or give the path of the stack',
  };
}

function nothingNamed(stack: StackReading): Diagnostic {
  const message = '"spec.manifests" only leaves out, and nothing says where the manifests are';
  const fix = 'add where they are; a stack that is to have none says "manifests: []"';
  return patternProblem({ code: 'no-manifests', message, fix }, stack, ['spec', 'manifests']);
}

function patternProblem(
  { code, message, fix }: PatternProblem,
  { document }: StackReading,
  path: Path,
): Diagnostic {
  return {
    ...incomplete(code, message),
    severity: code === 'no-manifests' ? 'warning' : 'error',
    class: code === 'outside-repository' ? 'invalid' : 'incomplete',
    place: placeIn(document, path),
    ...(fix === undefined ? {} : { fix }),
  };
}

function incomplete(code: Diagnostic['code'], message: string): Diagnostic {
  return { code, severity: 'error', class: 'incomplete', message };
}
