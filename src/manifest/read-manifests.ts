/**
 * From text to desired resources: finds the stack, reads and parses its manifests, validates and resolves them, and checks them
 * against each other. All problems of all files are returned together, sorted; findings of the lint have the levels of the stack.
 */
import { relative } from 'node:path';
import { formatAddress } from '../model/address.ts';
import type { MissingFiles } from '../model/checkout.ts';
import { asReported, type Diagnostic, hasErrors, type Place } from '../model/diagnostic.ts';
import { isJsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { lintCodeNames } from '../model/lint-codes.ts';
import { quoted } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import { type Dialect, formatIdentity, identityOf, type Lint, type Stack } from '../model/stack.ts';
import { maskUrls, maskPrivateKeys } from '../redaction/mask-text.ts';
import { checkResources } from './check-resources.ts';
import { slashes } from './files/find-stack.ts';
import type { ReadIgnored } from './files/private-files.ts';
import type { ReadIndex } from './files/tracked-files.ts';
import { type FileDrafts, type OnSecretVariables, loadDocuments, type Loaded } from './load-documents.ts';
import { diagnosticKey, quotedMasked } from './problem.ts';
import type { AdjustStack } from './read-stack.ts';
import { type Entry, placeOfEntry } from './resolve-resources.ts';
import { validateDocuments } from './validate-manifest.ts';
import { secretFields } from './yaml/secret-fields.ts';
import { isTemplate, type YamlDocument } from './yaml/yaml-document.ts';

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
  /** finds the files that git ignores, which must not be lists of templates; without it, this is not checked */
  readonly readIgnored?: ReadIgnored;
  /** receives the names of the environment variables that hold secrets */
  readonly onSecretVariables?: OnSecretVariables;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** milliseconds since 1970; without it, no check uses the time */
  readonly now?: number;
}

export interface Manifests {
  /** absent when it is invalid */
  readonly stack?: Stack;
  /** the same without the targets that have errors; absent when another part is invalid */
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
  /** of `paths`, the list files of templates, relative to the stack's folder, with slashes */
  readonly lists: readonly string[];
  /** how many documents the files contain; a template counts once */
  readonly documents: number;
  /** tracked files that the work tree lacks; absent where no files were listed */
  readonly missing?: MissingFiles | undefined;
  /** sorted */
  readonly diagnostics: readonly Diagnostic[];
  /** false when something could not be read, a pattern matches nothing, or there is an error: then nothing may be removed */
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
    documents: loaded.documentsInFiles ?? loaded.documents.length,
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

/**
 * Removes hidden values from the texts of diagnostics. A message may repeat a URL in a wrong field, and an alias may bring a secret into
 * a field whose value is shown.
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
  const ofDocuments = [...documents, ...(stack === undefined ? [] : [stack.document])].map(sourceOf);
  const sources = new Set([...ofDocuments, ...listTexts]);
  const hidden = [...sources].flatMap((source) => (files.has(source.file) ? source.hiddenValues() : []));
  // Messages contain a value as it is, or quoted.
  const shown = hidden.flatMap((value) => [
    value,
    ...[quoted, quotedMasked].map((inQuotes) => inQuotes(value).slice(1, -1)),
  ]);
  const values = shown.filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
  const masked = (text: string) =>
    maskPrivateKeys(maskUrls(values.reduce((rest, value) => rest.replaceAll(value, '***'), text)));
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

/** Applies the levels of the stack to findings of the lint: raises them to errors, or leaves them out. Other diagnostics stay. */
function applyLint(diagnostics: readonly Diagnostic[], { raise = [], allow = [] }: Lint = {}): Diagnostic[] {
  const [raised, allowed] = [new Set<string>(raise), new Set<string>(allow)];
  return diagnostics.flatMap((diagnostic) => {
    const { code } = diagnostic;
    if (!lintCodeNames.includes(code)) return [diagnostic];
    if (allowed.has(code)) return [];
    return [raised.has(code) ? { ...diagnostic, severity: 'error' } : diagnostic];
  });
}

/**
 * Checks that no resource is declared twice: by two documents, by a document and a short form, under two spellings of its name, or for
 * two targets that are the same place.
 * @param entries also of invalid manifests, in reading order
 */
function checkDuplicates(entries: readonly Entry[]): Diagnostic[] {
  const first = new Map<string, Entry>();
  const found = new Map<string | Entry, [first: Entry, again: Entry, times: number]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, entry);
    else if (!isReportedForParent(earlier, entry)) {
      // A template without an expression in its name makes one duplicate of each item, which is one mistake.
      const cause = isOneTemplate(earlier, entry) && isSameName(earlier, entry) ? key : entry;
      const [, again = entry, times = 1] = found.get(cause) ?? [];
      found.set(cause, [earlier, again, times + 1]);
    }
  }
  return [...found.values()].map(([earlier, again, times]) => duplicate(earlier, again, times));
}

/** Equal keys mean the same resource. One that exists once in a place, such as the config of a mount, has one key for all targets there. */
function keyOf({ address, target, declaration, shortForm }: Entry): string {
  const { ownership } = declaration.kind;
  const isOnePerPlace = shortForm === undefined && ownership.by === 'ledger' && !ownership.limitedByOwns;
  return isOnePerPlace
    ? formatAddress({ ...address, target: formatIdentity(identityOf(target)) })
    : formatAddress(address);
}

/** When two documents declare one resource, their equal short forms are not reported again. */
function isReportedForParent(first: Entry, again: Entry): boolean {
  if (first.shortForm === undefined || again.shortForm === undefined) return false;
  const [one, other] = [first.declaration, again.declaration];
  return one !== other && one.kind === other.kind;
}

function duplicate(first: Entry, again: Entry, times: number): Diagnostic {
  const { kind, target, name } = again.address;
  if (first.address.target !== target) return duplicateInPlace(first, again);
  const sameName = isSameName(first, again);
  return {
    code: sameName ? 'duplicate' : 'same-name',
    severity: 'error',
    class: 'invalid',
    message: sameName
      ? `${kind} ${quoted(name)} is declared ${times > 2 ? `${times} times` : 'twice'} for target ${quoted(target)}${byWhat(first, again)}`
      : `the names ${quoted(first.writtenName)} and ${quoted(again.writtenName)} fold to the same name: for target ${quoted(target)} both are ${kind} ${quoted(name)}`,
    place: placeWithItem(again),
    fix: isOneTemplate(first, again) ? fixInTemplate(first, again) : 'keep one of them',
    related: [{ message: 'first declared here', place: placeWithItem(first) }],
  };
}

function isSameName(one: Entry, other: Entry): boolean {
  return one.writtenName === other.writtenName;
}

/** If two items have the same key, `${each.key}` in the name does not help. */
function fixInTemplate(first: Entry, again: Entry): string {
  const [one, other] = [first, again].map(({ declaration }) => declaration.document.made?.key);
  return one === other
    ? 'give these items of the list different keys'
    : 'let the name differ for each item of the list: put ${each.key} into it';
}

/** If the name has no `${each…}`, its place does not include the item of the list, so it is added here. */
function placeWithItem(entry: Entry): Place {
  const place = placeOfEntry(entry);
  const item = entry.declaration.document.made?.item;
  return place.list !== undefined || item === undefined ? place : { ...place, list: item };
}

function isOneTemplate(one: Entry, other: Entry): boolean {
  const template = one.declaration.document.made?.from;
  return template !== undefined && template === other.declaration.document.made?.from;
}

/** The end of the message, if a short form declares one of them: `: by "tags" of Workspace "app" and by a separate document`. */
function byWhat(first: Entry, again: Entry): string {
  const short = [first, again].find(({ shortForm }) => shortForm !== undefined);
  if (short === undefined) return '';
  const other = short === first ? again : first;
  const owner = `by ${quoted(short.shortForm ?? '')} of ${short.declaration.kind.name} ${quoted(short.writtenName)}`;
  return other.shortForm === undefined ? `: ${owner} and by a separate document` : `: ${owner} each time`;
}

function duplicateInPlace(first: Entry, again: Entry): Diagnostic {
  const { kind, target, name } = again.address;
  return {
    code: 'duplicate',
    severity: 'error',
    class: 'invalid',
    message: `${kind} ${quoted(name)} is declared for the targets ${quoted(first.address.target)} and ${quoted(target)}, which are the same place`,
    place: placeOfTarget(again),
    fix: 'keep one of them',
    related: [{ message: 'first declared here', place: placeOfTarget(first) }],
  };
}

/** The place of the target's name when `metadata.targets` lists it; otherwise the place of the entry. */
function placeOfTarget(entry: Entry): Place {
  const { declaration, target } = entry;
  const metadata = declaration.value['metadata'];
  const targets = isJsonObject(metadata) ? metadata['targets'] : undefined;
  const index = Array.isArray(targets) ? targets.indexOf(target.name) : -1;
  return index === -1 ? placeOfEntry(entry) : declaration.where.place(['metadata', 'targets', `${index}`]);
}
