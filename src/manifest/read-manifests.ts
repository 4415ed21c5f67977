/**
 * From text to desired resources: finds the stack, reads and parses its manifests, validates and resolves them, and checks them
 * against each other. All problems of all files are returned together, sorted, with the lint at the level that the stack chose.
 */
import { relative } from 'node:path';
import type { MissingFiles } from '../model/checkout.ts';
import { asReported, type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { isJsonObject, memberOf } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { lintCodeNames } from '../model/lint-codes.ts';
import { quoted } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Dialect, Lint, Stack } from '../model/stack.ts';
import { maskAddresses, maskPrivateKeys } from '../redaction/mask-text.ts';
import { checkDuplicates } from './check-duplicates.ts';
import { checkResources } from './check-resources.ts';
import { chooseTargets } from './choose-targets.ts';
import { type Declaration, declare } from './declaration.ts';
import { groupTargets, StackDefaults } from './stack-defaults.ts';
import { slashes } from './files/find-stack.ts';
import type { ReadIgnored } from './files/private-files.ts';
import type { ReadIndex } from './files/tracked-files.ts';
import {
  type FileDrafts,
  isStack,
  type LearnVariables,
  loadDocuments,
  type Loaded,
} from './load-documents.ts';
import { diagnose, quotedMasked, serviceSpellings } from './problem.ts';
import type { AdjustStack, StackReading } from './read-stack.ts';
import { type Entry, resolve } from './resolve-resources.ts';
import { validate, validateHeader } from './validate-manifest.ts';
import { secretFields } from './yaml/secret-fields.ts';
import { isTemplate, placeIn, type YamlDocument } from './yaml/yaml-document.ts';

interface ManifestInput {
  /** a directory that holds `trueup.yaml`, a stack file, or `-`; by default `trueup.yaml` in `cwd` or a parent */
  readonly path?: string;
  /** absolute */
  readonly cwd: string;
  /** id of the current user; a stack file of another user above `cwd` is refused. Undefined where files have no such owners */
  readonly userId?: number | undefined;
  /** Called only when manifests come from standard input. @param max reading may stop after one byte more than this */
  readonly stdin?: (max: number) => Promise<Uint8Array>;
  /** the manifests on standard input are the whole stack, even when the stack has files of its own */
  readonly inputIsWhole?: boolean;
  /** text of manifests to read instead of those that the stack names; places in it have the file name `-` */
  readonly replacementText?: string;
  /** texts to use instead of files, by absolute path; undefined for a file that counts as removed */
  readonly drafts?: FileDrafts | undefined;
  readonly adjust?: AdjustStack | undefined;
  /** reads what a repository tracks; without it, a partial checkout is not noticed */
  readonly readIndex?: ReadIndex;
  /** without it, a list may be a file that git ignores */
  readonly readIgnored?: ReadIgnored;
  readonly learnVariables?: LearnVariables;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** milliseconds since 1970; without it, no check uses the time */
  readonly now?: number;
}

export interface Manifests {
  /** only when it is valid */
  readonly stack?: Stack;
  /** the same without the targets that have errors; only when all other parts are valid */
  readonly partial?: Stack;
  /** of the valid manifests, in reading order, removal requests included */
  readonly resources: readonly DesiredResource[];
  /** where each address is declared, also by manifests that are not valid */
  readonly entries: readonly Entry[];
  /** the resources, read from `-`, are only a part of the stack; the others are left as they are */
  readonly isSelection: boolean;
  /** how many files were searched for manifests; standard input counts as one */
  readonly files: number;
  /** absolute paths of those on disk, the stack file included; empty when manifests are piped into a stack */
  readonly paths: readonly string[];
  /** those of them that are files of lists, relative to the stack's folder, with slashes */
  readonly lists: readonly string[];
  readonly documents: number;
  /** tracked files that the work tree lacks; absent where no files were listed */
  readonly missing?: MissingFiles | undefined;
  /** sorted */
  readonly diagnostics: readonly Diagnostic[];
  /** false when something could not be read, a pattern matches nothing, or there is an error: then nothing may be pruned */
  readonly complete: boolean;
}

/** Reads a stack and all its manifests. Reads only files and standard input; writes nothing. */
export async function readManifests(input: ManifestInput): Promise<Manifests> {
  const secrets = secretFields(input.kinds);
  const loaded = await withTemplates(await loadDocuments({ ...input, secrets }), input);
  const lists = (loaded.lists ?? []).map((path) => slashes(relative(loaded.directory ?? input.cwd, path)));
  const { stack, partial } = loaded.stack ?? {};
  const validated = validateDocuments(loaded, { ...input, secrets });
  const found = withoutDuplicates([
    ...loaded.diagnostics,
    ...validated.diagnostics,
    ...checkDuplicates(validated.entries),
    ...checkResources(validated.entries, { ...input, secrets, stack }),
  ]);
  const diagnostics = applyLint(found, stack?.lint);
  return {
    ...(stack === undefined ? {} : { stack: withLists(stack, lists) }),
    ...(partial === undefined ? {} : { partial: withLists(partial, lists) }),
    resources: validated.entries.flatMap(({ resource }) => (resource === undefined ? [] : [resource])),
    entries: validated.entries,
    isSelection: loaded.isSelection ?? false,
    files: loaded.files,
    paths: loaded.paths ?? [],
    lists,
    documents: loaded.written ?? loaded.documents.length,
    missing: loaded.missing,
    diagnostics: withoutHidden(asReported(diagnostics), loaded),
    complete: !hasErrors(diagnostics) && diagnostics.every((diagnostic) => diagnostic.class !== 'incomplete'),
  };
}

function withLists(stack: Stack, lists: readonly string[]): Stack {
  return lists.length === 0 ? stack : { ...stack, lists };
}

/** Templates are read by code that is loaded only for them: most stacks have none. */
async function withTemplates(loaded: Loaded, input: ManifestInput): Promise<Loaded> {
  if (!loaded.documents.some(isTemplate)) return loaded;
  const { expandTemplates } = await import('./expand-templates.ts');
  return expandTemplates(loaded, input);
}

interface ValidatedDocuments {
  readonly entries: readonly Entry[];
  readonly diagnostics: readonly Diagnostic[];
}

type ValidateContext = Pick<ManifestInput, 'kinds' | 'dialects'> & { readonly secrets: ReadonlySet<string> };

/** Validates each document separately, and resolves what it declares in each target. */
function validateDocuments(
  { stack, documents, isSelection = false }: Loaded,
  { kinds, dialects, secrets }: ValidateContext,
): ValidatedDocuments {
  const spellings = serviceSpellings(dialects);
  const entries: Entry[] = [];
  const diagnostics: Diagnostic[] = [];
  const reportedBefore = stack?.diagnostics ?? [];
  const reported = new Set(reportedBefore.map(diagnosticKey));
  const stackDefaults = stack && new StackDefaults(stack.document, stack.defaults, kinds);
  for (const document of documents) {
    const kind = kindOf(document, kinds);
    if (kind === undefined) {
      diagnostics.push(...validateUnknownKind(document, stack, kinds));
      continue;
    }
    const { value } = document;
    const choice = stack === undefined ? noTargets : chooseTargets({ kind, value }, stack);
    for (const { targets, defaultsOf } of groupTargets(value, choice.targets, stackDefaults)) {
      const declaration = declare(document, kind, { defaults: defaultsOf(kind.name), secrets, spellings });
      const problems = validate(declaration);
      diagnostics.push(...toDiagnostics(declaration, [...problems, ...choice.problems], reported));
      const valid = problems.every(({ severity }) => severity === 'warning');
      for (const target of targets)
        entries.push(...resolve(declaration, target, { valid, context: { kinds, defaultsOf } }));
    }
  }
  const isWhole = !isSelection && documents.length > 0 && !hasErrors([...reportedBefore, ...diagnostics]);
  return { entries, diagnostics: [...diagnostics, ...(isWhole ? (stackDefaults?.unused() ?? []) : [])] };
}

const noTargets = { targets: [], problems: [] };

function kindOf({ value }: YamlDocument, kinds: Registry) {
  const name = isJsonObject(value) ? value['kind'] : undefined;
  return typeof name === 'string' ? kinds.get(name) : undefined;
}

/** Leaves out problems of the defaults that reading the stack has already reported. */
function toDiagnostics(
  { where }: Declaration,
  problems: readonly Parameters<typeof diagnose>[0][],
  reported: ReadonlySet<string>,
): Diagnostic[] {
  return problems.flatMap((problem) => {
    const diagnostic = diagnose(problem, where);
    return where.fromDefaults(problem.path) && reported.has(diagnosticKey(diagnostic)) ? [] : [diagnostic];
  });
}

function validateUnknownKind(
  document: YamlDocument,
  stack: StackReading | undefined,
  kinds: Registry,
): Diagnostic[] {
  if (isStack(document)) return [secondStack(document, stack)];
  const where = {
    place: (path: readonly string[], side?: 'key' | 'value') => placeIn(document, path, side),
    fromDefaults: () => false,
    isSecret: () => false,
  };
  const isPolicy = memberOf(document.value, 'kind') === 'Policy';
  const hint = isPolicy ? { fix: 'name the files of policies in "spec.policies" of the stack' } : {};
  return validateHeader(document, kinds).map((problem) => diagnose({ ...problem, ...hint }, where));
}

function secondStack(document: YamlDocument, stack: StackReading | undefined): Diagnostic {
  return {
    code: 'second-stack',
    severity: 'error',
    class: 'invalid',
    message: 'the manifests of a stack include another Stack',
    place: placeIn(document, ['kind']),
    fix: 'exclude this file from "spec.manifests", with a pattern such as "!other/**"',
    ...(stack === undefined
      ? {}
      : { related: [{ message: 'the stack that is read', place: placeIn(stack.document, ['kind']) }] }),
  };
}

function diagnosticKey({ code, place }: Diagnostic): string {
  const list = place?.list;
  const at = list === undefined ? [] : [list.file, list.line, list.column];
  return JSON.stringify([code, place?.file, place?.line, place?.column, ...at]);
}

/**
 * Removes hidden values from the texts of diagnostics. A message may repeat an address in a wrong field, and an alias may bring
 * a secret into a field whose value is shown.
 */
function withoutHidden(
  diagnostics: readonly Diagnostic[],
  { stack, documents, listTexts = [] }: Loaded,
): Diagnostic[] {
  const places = diagnostics.flatMap(({ place, related = [] }) => [
    place,
    ...related.map((one) => one.place),
  ]);
  const files = new Set(places.flatMap((place) => (place === undefined ? [] : [place.file])));
  const written = [...documents, ...(stack === undefined ? [] : [stack.document])].map(sourceOf);
  const sources = new Set([...written, ...listTexts]);
  const hidden = [...sources].flatMap((source) => (files.has(source.file) ? source.hiddenValues() : []));
  // Messages contain a value as it is, or quoted.
  const shown = hidden.flatMap((value) => [
    value,
    ...[quoted, quotedMasked].map((inQuotes) => inQuotes(value).slice(1, -1)),
  ]);
  const values = shown.filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
  const masked = (text: string) =>
    maskPrivateKeys(maskAddresses(values.reduce((rest, value) => rest.replaceAll(value, '***'), text)));
  return diagnostics.map((diagnostic) => {
    const { message, found, fix } = diagnostic;
    return {
      ...diagnostic,
      message: masked(message),
      ...(found === undefined ? {} : { found: masked(found) }),
      ...(fix === undefined ? {} : { fix: masked(fix) }),
    };
  });
}

function sourceOf({ source }: YamlDocument) {
  return source;
}

/** A problem that one default causes in a thousand manifests is reported once. */
function withoutDuplicates(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics) {
    const key = `${diagnosticKey(diagnostic)}${diagnostic.message}`;
    if (!unique.has(key)) unique.set(key, diagnostic);
  }
  return [...unique.values()];
}

/** Applies the levels of the stack to findings of the lint: raised to errors, or left out. Other diagnostics stay. */
function applyLint(diagnostics: readonly Diagnostic[], { raise = [], allow = [] }: Lint = {}): Diagnostic[] {
  const [raised, allowed] = [new Set<string>(raise), new Set<string>(allow)];
  return diagnostics.flatMap((diagnostic) => {
    const { code } = diagnostic;
    if (!lintCodeNames.includes(code)) return [diagnostic];
    if (allowed.has(code)) return [];
    return [raised.has(code) ? { ...diagnostic, severity: 'error' } : diagnostic];
  });
}
