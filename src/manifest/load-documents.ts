/**
 * Reads and parses the stack and every manifest that it names, each file once. A file that cannot be read and a pattern that
 * matches no file are diagnostics of class `incomplete`.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { type Diagnostic, incomplete } from '../model/diagnostic.ts';
import { quoted } from '../model/quoted.ts';
import { isJsonObject, type Path } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { MissingFiles } from '../model/checkout.ts';
import type { Dialect } from '../model/stack.ts';
import {
  displayPath,
  findRepository,
  findStack,
  liesIn,
  type Repository,
  slashes,
  stackFileName,
  standardInput,
} from './files/find-stack.ts';
import { namedVariables } from './check-secret-sources.ts';
import { findHidden } from './yaml/hidden-parts.ts';
import { hasOnlyExclusions, listFiles, type PatternProblem } from './files/list-files.ts';
import { apiVersion } from './schema/manifest-schema.ts';
import { parseDocuments } from './yaml/parse-documents.ts';
import { type AdjustStack, readStack, type StackReading } from './read-stack.ts';
import { matchFiles } from './files/match-files.ts';
import { missingProblems, type ReadIndex, TrackedFiles } from './files/tracked-files.ts';
import type { ReadIgnored } from './files/private-files.ts';
import { decodeText, fileOutsideRepository, maxTextBytes, readText } from './files/read-text.ts';
import { secretNames } from './yaml/secret-fields.ts';
import { createSourceText, placeIn, type SourceText, type YamlDocument } from './yaml/yaml-document.ts';

export interface LoadInput {
  readonly path?: string;
  readonly cwd: string;
  readonly userId?: number | undefined;
  /** @param max reading may stop after one byte more than this */
  readonly stdin?: (max: number) => Promise<Uint8Array>;
  /** the manifests on standard input are the whole stack */
  readonly inputIsWhole?: boolean;
  /** manifests to read instead of those of the stack */
  readonly replacementText?: string;
  readonly drafts?: FileDrafts | undefined;
  readonly adjust?: AdjustStack | undefined;
  readonly readIndex?: ReadIndex | undefined;
  readonly readIgnored?: ReadIgnored | undefined;
  readonly onSecretVariables?: OnSecretVariables | undefined;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly secrets: ReadonlySet<string>;
}

/** Receives the names of the environment variables that a text may name as sources of secrets, even if it is invalid. */
export type OnSecretVariables = (names: ReadonlySet<string>) => void;

/** Texts to use instead of files, by absolute path; undefined for a file that counts as removed. */
export type FileDrafts = ReadonlyMap<string, string | undefined>;

export interface Loaded {
  readonly stack?: StackReading;
  /** the manifests, in reading order: the stack file's own, then file by file */
  readonly documents: readonly YamlDocument[];
  /** the documents are only a part of the stack; resources without a document here stay as they are */
  readonly isSelection?: boolean;
  /** how many files were searched for manifests */
  readonly files: number;
  /** absolute paths of those on disk, the stack file included */
  readonly paths?: readonly string[];
  /** tracked files that the work tree lacks; absent where no files were listed */
  readonly missing?: MissingFiles | undefined;
  /** files of lists that templates name, absolute */
  readonly lists?: readonly string[];
  readonly listTexts?: readonly SourceText[];
  /** how many documents the files contain; present if templates were replaced by the documents that they make */
  readonly documentsInFiles?: number;
  /** the stack's folder, absolute; absent where no stack was found */
  readonly directory?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** The documents and problems of one file. */
type FileDocuments = Pick<Loaded, 'documents' | 'diagnostics'>;

/** The manifests in the file of the Stack. */
type StackFileDocuments = FileDocuments & { readonly path: string };

/** How many files are open at once. */
const maxOpenFiles = 32;

export async function loadDocuments(input: LoadInput): Promise<Loaded> {
  const piped = input.path === standardInput ? await readInput(input) : undefined;
  const pipedParts = piped === undefined ? undefined : splitStack(piped.documents);
  if (piped !== undefined && pipedParts?.stack !== undefined) {
    const directory = resolve(input.cwd);
    const stack = readStack(pipedParts.stack, { ...input, directory });
    const own = { ...piped, documents: pipedParts.rest, path: standardInput };
    return { ...(await loadPipedStack(input, stack, own)), directory };
  }
  const path = await findStack(input.path, input.cwd, input.userId);
  if (typeof path !== 'string')
    return { documents: [], files: 0, ...piped, diagnostics: [...(piped?.diagnostics ?? []), path] };
  const file = await readStackFile(path, input);
  const parts = splitStack(file.documents, input.kinds);
  const directory = dirname(path);
  const stack = parts.stack === undefined ? undefined : readStack(parts.stack, { ...input, directory });
  const noStack =
    stack === undefined && file.diagnostics.length === 0 ? [noStackDocument(path, input.cwd)] : [];
  const own = { documents: parts.rest, diagnostics: [...file.diagnostics, ...noStack], path };
  if (stack === undefined) return { ...own, files: 0 };
  if (input.replacementText !== undefined)
    return { stack, directory, files: 1, ...parse(standardInput, input.replacementText, input) };
  if (piped === undefined) return { ...(await loadManifests(input, stack, own)), directory };
  const isSelection = input.inputIsWhole !== true && hasOwnManifests(stack);
  return {
    stack,
    directory,
    documents: isSelection ? piped.documents : [...own.documents, ...piped.documents],
    isSelection,
    files: 1,
    diagnostics: [...own.diagnostics, ...stack.diagnostics, ...piped.diagnostics],
  };
}

/** Whether the stack has manifests besides piped ones. A list of only exclusions counts as having some. */
function hasOwnManifests({ manifests }: StackReading): boolean {
  return manifests.some(({ pattern }) => pattern !== standardInput);
}

/** Loads a stack that was piped into standard input together with manifests. */
async function loadPipedStack(
  input: LoadInput,
  stack: StackReading,
  own: StackFileDocuments,
): Promise<Loaded> {
  const loaded = await loadManifests(input, stack, own);
  const isEmpty = own.documents.length === 0 && own.diagnostics.length === 0;
  return isEmpty && readsInput(stack)
    ? { ...loaded, diagnostics: [...loaded.diagnostics, nothingPiped('a Stack and no manifest')] }
    : loaded;
}

/** The manifests in the file of the stack, followed by those that its patterns match. */
async function loadManifests(
  input: LoadInput,
  stack: StackReading,
  own: StackFileDocuments,
): Promise<Loaded> {
  const directory = own.path === standardInput ? resolve(input.cwd) : dirname(own.path);
  const { paths, problems, missing } = await listManifests(stack, own, { ...input, directory });
  const repository = await findRepository(directory);
  const texts: FileDocuments[] = [own];
  for (let start = 0; start < paths.length; start += maxOpenFiles) {
    const batch = paths.slice(start, start + maxOpenFiles);
    texts.push(...(await Promise.all(batch.map((path) => readManifestFile(path, input, repository)))));
  }
  const isInputUnread = own.path !== standardInput && readsInput(stack);
  if (isInputUnread) texts.push(await readInput(input));
  const documents = texts.flatMap((text) => text.documents);
  const hasOwn = own.documents.length > 0 || own.path === standardInput;
  return {
    stack,
    documents,
    files: paths.length + (hasOwn ? 1 : 0) + (isInputUnread ? 1 : 0),
    paths: own.path === standardInput ? paths : [own.path, ...paths],
    missing,
    diagnostics: [...stack.diagnostics, ...problems, ...texts.flatMap((text) => text.diagnostics)],
  };
}

function readsInput({ manifests }: StackReading): boolean {
  return manifests.some(({ pattern }) => pattern === standardInput);
}

/** The files to read besides the stack file, those that the checkout lacks, and the problems of the patterns. */
async function listManifests(
  stack: StackReading,
  own: StackFileDocuments,
  {
    directory,
    drafts = new Map(),
    readIndex,
  }: Pick<LoadInput, 'drafts' | 'readIndex'> & { readonly directory: string },
): Promise<Pick<Loaded, 'missing'> & { readonly paths: readonly string[]; readonly problems: Diagnostic[] }> {
  const hasOnlyStack = own.documents.length === 0 && own.diagnostics.length === 0;
  const isRemoved = (path: string) => drafts.has(path) && drafts.get(path) === undefined;
  const policies = stack.policyFiles.length === 0 ? undefined : matchFiles(stack.policyFiles, directory);
  const isNoManifest = (path: string) =>
    isRemoved(path) ||
    (hasOnlyStack && path === own.path) ||
    policies?.isFile(slashes(relative(directory, path))) === true;
  const tracked = readIndex === undefined ? undefined : new TrackedFiles(readIndex, directory);
  const listed = await listFiles(stack.manifests, directory, { isNoManifest, tracked });
  const missing = await tracked?.missing();
  const problems = listed.flatMap(({ pattern, problem }) =>
    problem === undefined ? [] : [patternProblem(problem, stack, pattern.path)],
  );
  const files = new Set(listed.flatMap((found) => found.files));
  return {
    paths: [...files].filter((path) => path !== own.path),
    problems: [
      ...(hasOnlyExclusions(stack.manifests) ? [onlyExclusionsProblem(stack)] : []),
      ...(missing === undefined
        ? []
        : missingProblems(missing, placeIn(stack.document, ['spec', 'manifests']))),
      ...problems,
    ],
    missing,
  };
}

/** An empty file gets a warning and prevents removals: it may have been truncated, or may still be written. */
async function readManifestFile(
  path: string,
  input: LoadInput,
  repository: Repository,
): Promise<FileDocuments> {
  const text = await readFileText(path, input, repository);
  if (text.documents.length > 0 || text.diagnostics.length > 0) return text;
  const message = `${quoted(displayPath(path, input.cwd))} holds no document`;
  const fix = 'write manifests into it, or delete it';
  return { ...text, diagnostics: [{ ...incomplete('empty-file', message), severity: 'warning', fix }] };
}

/** Reads the file that should hold the Stack. Without one, it must lie in the repository of the current folder: messages show its lines. */
async function readStackFile(path: string, input: LoadInput): Promise<FileDocuments> {
  const text = await readFileText(path, input, await findRepository(dirname(path)));
  if (basename(path) === stackFileName || text.documents.some(isStack)) return text;
  const here = await findRepository(input.cwd);
  const isHere = await realpath(path).then(
    (real) => liesIn(here, real),
    () => true,
  );
  if (!isHere)
    return { documents: [], diagnostics: [fileOutsideRepository(displayPath(path, input.cwd), here)] };
  await readStackOf(path, input);
  return text;
}

/** Reads the stack that a manifest belongs to, only for the names of the variables whose values must not be shown. */
async function readStackOf(manifest: string, { stdin: _, adjust: __, ...input }: LoadInput): Promise<void> {
  const folders = [dirname(manifest), input.cwd];
  const found = await Promise.all(folders.map((folder) => findStack(undefined, folder, input.userId)));
  for (const path of new Set(found)) if (typeof path === 'string') await loadDocuments({ ...input, path });
}

async function readFileText(path: string, input: LoadInput, repository: Repository): Promise<FileDocuments> {
  const file = displayPath(path, input.cwd);
  const text = input.drafts?.get(path) ?? (await readText(path, { file, repository }));
  return parse(file, text, input);
}

async function readInput(input: LoadInput): Promise<FileDocuments> {
  const bytes = await input.stdin?.(maxTextBytes);
  if (bytes === undefined) {
    const message = 'manifests are expected on standard input, and there is none';
    return { documents: [], diagnostics: [incomplete('no-input', message)] };
  }
  const parsed = parse(standardInput, decodeText(standardInput, bytes), input);
  const isEmpty = parsed.documents.length === 0 && parsed.diagnostics.length === 0;
  return isEmpty ? { ...parsed, diagnostics: [nothingPiped('no document')] } : parsed;
}

/** @param text the text, or why it could not be read */
function parse(
  file: string,
  text: string | Diagnostic,
  { kinds, onSecretVariables }: LoadInput,
): FileDocuments {
  if (typeof text !== 'string') return { documents: [], diagnostics: [text] };
  const names = secretNames(kinds);
  const parsed = parseDocuments(createSourceText(file, text, (whole) => findHidden(whole, names)));
  const isWhole = parsed.diagnostics.length === 0;
  onSecretVariables?.(namedVariables(text, parsed.documents, { names, isWhole }));
  return parsed;
}

/** Empty input is an error: most likely the program that should write the manifests has failed. */
function nothingPiped(what: string): Diagnostic {
  return {
    code: 'no-document',
    severity: 'error',
    class: 'invalid',
    message: `standard input holds ${what}`,
    fix: 'pipe manifests into it; a stack without manifests has "manifests: []"',
  };
}

interface SplitDocuments {
  readonly stack?: YamlDocument;
  readonly rest: readonly YamlDocument[];
}

/**
 * Separates the Stack from the manifests beside it.
 * @param kinds given if there must be a Stack: then a single document counts as the Stack unless it has one of these kinds
 */
function splitStack(documents: readonly YamlDocument[], kinds?: Registry): SplitDocuments {
  const only = documents.length === 1 ? documents[0] : undefined;
  const assumed = only !== undefined && kinds !== undefined && !isManifest(only, kinds) ? only : undefined;
  const stack = documents.find(isStack) ?? assumed;
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
    message: `${quoted(file)} holds no document of kind "Stack"`,
    place: { file, line: 1, column: 1, length: 1, text: '' },
    allowed: `a document with ${quoted(`apiVersion: ${apiVersion}`)}, "kind: Stack", "metadata.name", "spec.manifests" and "spec.targets"`,
    fix: 'add one, or give the path of the stack',
  };
}

function onlyExclusionsProblem(stack: StackReading): Diagnostic {
  const message = '"spec.manifests" has only exclusions, and no pattern for manifests';
  const fix = 'add a pattern; a stack without manifests has "manifests: []"';
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
