/**
 * Text in, desired resources out: find the stack, read and parse its manifests, validate each, choose targets, merge
 * defaults, expand short forms, and check what they say together. All problems of all files come back in one run,
 * sorted; nothing here is thrown that a user can cause.
 */
import { type Diagnostic, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import { isJsonObject } from '../model/json/json.ts';
import type { Registry } from '../model/kind/kind.ts';
import { maskAddresses } from '../model/mask-addresses.ts';
import type { DesiredResource } from '../model/resource/resource.ts';
import type { Dialect, Stack } from '../model/stack/target.ts';
import { checkDuplicates } from './resolve/check-duplicates.ts';
import { checkResources } from './resolve/check-resources.ts';
import { chooseTargets } from './resolve/choose-targets.ts';
import { type Declaration, type Defaults, declare } from './resolve/declaration.ts';
import { isStack, type Loaded, loadDocuments } from './load-documents.ts';
import { secretFields } from './explain/mask-secrets.ts';
import { diagnose, quoted } from './explain/problem.ts';
import type { StackReading } from './stack/read-stack.ts';
import { type Entry, resolve } from './resolve/resolve-resources.ts';
import { serviceSpellings } from './explain/service-spellings.ts';
import { validate, validateHeader } from './validate-manifest.ts';
import { placeIn, type YamlDocument } from './yaml/yaml-document.ts';

export interface ManifestInput {
  /** a directory that holds `trueup.yaml`, a stack file, or `-`; by default `trueup.yaml` in `cwd` or a parent */
  readonly path?: string;
  /** absolute */
  readonly cwd: string;
  /** Asked only when manifests are to come from there. @param most after one byte more than this the rest need not be read */
  readonly stdin?: (most: number) => Promise<Uint8Array>;
  /** what standard input brings is all of the stack, also where that has files of its own (rule 41) */
  readonly inputIsWhole?: boolean;
  /** the text of manifests that are to be judged in place of all that the stack names; their places are in `-` */
  readonly instead?: string;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
}

export interface Manifests {
  /** only when it is valid */
  readonly stack?: Stack;
  /** of the valid manifests, in reading order, tombstones included */
  readonly resources: readonly DesiredResource[];
  /** the resources are a part of the stack, and nothing is said about the rest: only of what `-` brings (rule 41) */
  readonly isSelection: boolean;
  /** files that manifests were looked for in; standard input counts as one */
  readonly files: number;
  /** absolute; those of them that are on disk, the stack's own too: empty where manifests are piped into a stack */
  readonly paths: readonly string[];
  readonly documents: number;
  /** sorted */
  readonly diagnostics: readonly Diagnostic[];
  /** false when something could not be read, stands for nothing, or is wrong: then nothing may be pruned */
  readonly complete: boolean;
}

/** Reads a stack and all its manifests. Only files are read, and nothing is written. */
export async function readManifests(input: ManifestInput): Promise<Manifests> {
  const secrets = secretFields(input.kinds);
  const loaded = await loadDocuments({ ...input, secrets });
  const stack = loaded.stack?.stack;
  const judged = judgeDocuments(loaded, { ...input, secrets });
  const diagnostics = withoutRepetition([
    ...loaded.diagnostics,
    ...judged.diagnostics,
    ...checkDuplicates(judged.entries),
    ...checkResources(judged.entries, { ...input, secrets, stack }),
  ]);
  return {
    ...(stack === undefined ? {} : { stack }),
    resources: judged.entries.flatMap(({ resource }) => (resource === undefined ? [] : [resource])),
    isSelection: loaded.isSelection ?? false,
    files: loaded.files,
    paths: loaded.paths ?? [],
    documents: loaded.documents.length,
    diagnostics: withoutHidden(sortDiagnostics(diagnostics), loaded),
    complete: !hasErrors(diagnostics) && diagnostics.every((diagnostic) => diagnostic.class !== 'incomplete'),
  };
}

interface Judged {
  readonly entries: readonly Entry[];
  readonly diagnostics: readonly Diagnostic[];
}

type JudgeContext = Pick<ManifestInput, 'kinds' | 'dialects'> & { readonly secrets: ReadonlySet<string> };

/** Each document by itself: is it a manifest, is it valid, and what does it declare in which target. */
function judgeDocuments({ stack, documents }: Loaded, { kinds, dialects, secrets }: JudgeContext): Judged {
  const spellings = serviceSpellings(dialects);
  const entries: Entry[] = [];
  const diagnostics: Diagnostic[] = [];
  const told = new Set((stack?.diagnostics ?? []).map(whereAndWhat));
  const defaultsOf = (kind: string) => defaultsIn(stack, kind);
  for (const document of documents) {
    const kind = kindOf(document, kinds);
    if (kind === undefined) {
      diagnostics.push(...judgeStranger(document, stack, kinds));
      continue;
    }
    const declaration = declare(document, kind, { defaults: defaultsOf(kind.name), secrets, spellings });
    const problems = validate(declaration);
    const choice = stack === undefined ? { targets: [], problems: [] } : chooseTargets(declaration, stack);
    diagnostics.push(...tell(declaration, [...problems, ...choice.problems], told));
    const valid = problems.every(({ severity }) => severity === 'warning');
    for (const target of choice.targets)
      entries.push(...resolve(declaration, target, { valid, context: { kinds, defaultsOf } }));
  }
  return { entries, diagnostics };
}

function kindOf({ value }: YamlDocument, kinds: Registry) {
  const name = isJsonObject(value) ? value['kind'] : undefined;
  return typeof name === 'string' ? kinds.get(name) : undefined;
}

/** Defaults that are wrong by themselves are told once, where the stack is read. */
function tell(
  { where }: Declaration,
  problems: readonly Parameters<typeof diagnose>[0][],
  told: ReadonlySet<string>,
): Diagnostic[] {
  return problems.flatMap((problem) => {
    const diagnostic = diagnose(problem, where);
    return where.fromDefaults(problem.path) && told.has(whereAndWhat(diagnostic)) ? [] : [diagnostic];
  });
}

function judgeStranger(
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
  return validateHeader(document, kinds).map((problem) => diagnose(problem, where));
}

function secondStack(document: YamlDocument, stack: StackReading | undefined): Diagnostic {
  return {
    code: 'second-stack',
    severity: 'error',
    class: 'invalid',
    message: 'a Stack stands among the manifests of another one',
    place: placeIn(document, ['kind']),
    fix: 'let "spec.manifests" leave this file out, with a pattern such as "!other/**"',
    ...(stack === undefined
      ? {}
      : { related: [{ message: 'the stack that is read', place: placeIn(stack.document, ['kind']) }] }),
  };
}

function defaultsIn(stack: StackReading | undefined, kind: string): Defaults | undefined {
  if (stack === undefined || !Object.hasOwn(stack.defaults, kind)) return undefined;
  const spec = stack.defaults[kind];
  return spec === undefined ? undefined : { document: stack.document, spec };
}

function whereAndWhat({ code, place }: Diagnostic): string {
  return JSON.stringify([code, place?.file, place?.line, place?.column]);
}

/**
 * An address may stand where none belongs, and be repeated there as a name or a value like any other; so may, by an alias, what
 * stands in the place of a secret.
 */
function withoutHidden(diagnostics: readonly Diagnostic[], { stack, documents }: Loaded): Diagnostic[] {
  const files = new Set(diagnostics.flatMap(({ place }) => (place === undefined ? [] : [place.file])));
  const sources = new Set([...documents, ...(stack === undefined ? [] : [stack.document])].map(sourceOf));
  const hidden = [...sources].flatMap((source) => (files.has(source.file) ? source.hiddenValues() : []));
  // As it is, and as messages quote it: cut, or with the ends of its lines escaped.
  const shown = hidden.flatMap((value) => [value, quoted(value).slice(1, -1)]);
  const values = shown.filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
  const said = (text: string) =>
    maskAddresses(values.reduce((told, value) => told.replaceAll(value, '***'), text));
  return diagnostics.map((diagnostic) => {
    const { message, found, fix } = diagnostic;
    return {
      ...diagnostic,
      message: said(message),
      ...(found === undefined ? {} : { found: said(found) }),
      ...(fix === undefined ? {} : { fix: said(fix) }),
    };
  });
}

function sourceOf({ source }: YamlDocument) {
  return source;
}

/** What a default causes in a thousand manifests is one problem. */
function withoutRepetition(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics) {
    const key = `${whereAndWhat(diagnostic)}${diagnostic.message}`;
    if (!unique.has(key)) unique.set(key, diagnostic);
  }
  return [...unique.values()];
}
