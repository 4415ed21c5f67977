/**
 * Computes what a move changes: the documents that move with a resource, its target and origin in the receiving stack, and the new
 * texts of the files of both stacks. Comments move with their documents. Writes nothing.
 */
import { basename, join, relative, resolve } from 'node:path';
import picomatch from 'picomatch';
import { megabyte, readRegularText } from '../files/read-file.ts';
import { stateFolderName } from '../files/write-file.ts';
import {
  contentStart,
  type DocumentEdit,
  documentText,
  editText,
  type ValueEdit,
} from '../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../manifest/edit/source-tree.ts';
import { findRepository, type Repository, slashes, standardInput } from '../manifest/files/find-stack.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import type { Manifests } from '../manifest/read-manifests.ts';
import { createSourceText, type YamlDocument } from '../manifest/yaml/yaml-document.ts';
import { formatAddress } from '../model/address.ts';
import { memberOf, textsOf, valueAt } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { ownsName } from '../model/name-pattern.ts';
import { quoted } from '../model/quoted.ts';
import type { MoveOrigin } from '../model/resource.ts';
import { formatIdentity, identityOf, type Stack, type Target } from '../model/stack.ts';
import { CommandStop } from '../run/command-stop.ts';
import type { FileChange } from '../run/manifest-edits/write-files.ts';

type Entry = Manifests['entries'][number];

interface Loaded extends Manifests {
  readonly stack: Stack;
}

export interface Moved {
  readonly entry: Entry;
  /** absolute */
  readonly file: string;
  /** documents of its children, which move with it */
  readonly children: readonly { readonly entry: Entry; readonly file: string }[];
  readonly movedFrom: MoveOrigin;
  /** the name of the target in the receiving stack; undefined if its document need not name one */
  readonly target: string | undefined;
}

interface FindContext {
  readonly source: Loaded;
  readonly receiver: Loaded;
  readonly kinds: Registry;
  /** absolute */
  readonly cwd: string;
}

/** @throws CommandStop when the resource cannot be moved by editing documents */
export function findMoved(address: string, { source, receiver, kinds, cwd }: FindContext): Moved {
  if (source.stack.name === receiver.stack.name)
    throw notMovable(`both stacks are called ${quoted(source.stack.name)}: name another one with --to`);
  const entry = source.entries.find((one) => formatAddress(one.address) === address);
  if (entry === undefined)
    throw new CommandStop(
      'unknown-address',
      `no manifest of stack ${quoted(source.stack.name)} declares ${quoted(address)}: write the address as the plan shows it`,
    );
  requireMovable(entry, address, kinds);
  const children = source.entries.filter(({ address: child, declaration: { kind }, shortForm }) => {
    const { ownership } = kind;
    return (
      shortForm === undefined && ownership.by === 'child' && formatAddress(ownership.of(child)) === address
    );
  });
  for (const child of children) requireMovableDocument(child, formatAddress(child.address));
  const fileOf = ({ declaration }: Entry) => resolve(cwd, declaration.document.source.file);
  const target = targetIn(receiver.stack, entry, kinds);
  const isOnly = receiver.stack.targets.filter(({ service }) => service === target.service).length === 1;
  return {
    entry,
    file: fileOf(entry),
    children: children.map((child) => ({ entry: child, file: fileOf(child) })),
    movedFrom: originIn(source.stack, receiver.stack),
    target: isOnly ? undefined : target.name,
  };
}

function notMovable(message: string): CommandStop {
  return new CommandStop('not-movable', `nothing was written: ${message}`);
}

function requireMovable(entry: Entry, address: string, kinds: Registry): void {
  const { resource } = entry;
  const ownership = kinds.get(entry.address.kind)?.ownership;
  if (ownership?.by === 'child')
    throw notMovable(
      `${quoted(address)} moves with ${quoted(formatAddress(ownership.of(entry.address)))}: move that one`,
    );
  const { remove, movedTo, movedFrom, renamedFrom } = resource?.metadata ?? {};
  if (remove !== undefined || movedTo !== undefined)
    throw notMovable(
      `the document of ${quoted(address)} ${remove === undefined ? 'moves it to another stack already' : 'asks for its removal'}`,
    );
  const pending = movedFrom === undefined ? renamedFrom && 'renamedFrom' : 'movedFrom';
  if (pending !== undefined)
    throw notMovable(
      `${quoted(address)} has ${quoted(`metadata.${pending}`)}: apply the stack, remove that line, and move it then`,
    );
  requireMovableDocument(entry, address);
}

function requireMovableDocument({ declaration: { document } }: Entry, address: string): void {
  if (document.made !== undefined)
    throw notMovable(
      `${quoted(address)} is one of the resources of a template: give it a document of its own first, as "trueup render" prints it`,
    );
  if (document.source.file === standardInput)
    throw notMovable(`${quoted(address)} is declared on standard input, which is not written`);
  const targets = targetsIn(document);
  if (targets.length > 1)
    throw notMovable(
      `the document of ${quoted(address)} is for the targets ${targets.map(quoted).join(', ')}: give each target a document of its own first`,
    );
}

function targetsIn({ value }: YamlDocument): readonly string[] {
  return textsOf(memberOf(memberOf(value, 'metadata'), 'targets'));
}

/** The target of the receiving stack with the same identity. */
function targetIn({ name, targets }: Stack, { address, target }: Entry, kinds: Registry): Target {
  const identity = formatIdentity(identityOf(target));
  const same = targets.filter((one) => formatIdentity(identityOf(one)) === identity);
  const names = kinds.get(address.kind)?.names;
  const owning = same.find((one) => names !== undefined && ownsName(one, address.name, names));
  const found = owning ?? same[0];
  if (found !== undefined) return found;
  throw notMovable(
    `stack ${quoted(name)} has no target that is the same place as ${quoted(target.name)} here: add it to its "spec.targets"`,
  );
}

/** How the receiving stack finds the source's ledger. Both ledgers must be in the same store; local ones may be in two folders. */
function originIn(source: Stack, receiver: Stack): MoveOrigin {
  const [here = { in: 'local' as const }, there = { in: 'local' as const }] = [
    source.ledger,
    receiver.ledger,
  ];
  if (here.in !== there.in)
    throw notMovable(
      `stack ${quoted(source.name)} keeps its ledger in ${quoted(here.in)}, and stack ${quoted(receiver.name)} in ${quoted(there.in)}: give both "spec.ledger" the same place first`,
    );
  if (here.in !== 'local' || there.in !== 'local') return { stack: source.name };
  const sourceFolder = join(source.directory, here.folder ?? stateFolderName);
  const receiverFolder = join(receiver.directory, there.folder ?? stateFolderName);
  if (sourceFolder === receiverFolder) return { stack: source.name };
  return { stack: source.name, folder: slashes(relative(receiver.directory, sourceFolder)) };
}

export interface MoveEdit extends FileChange {
  /** replaces a new file while the manifests are checked */
  readonly draft?: FileDraft;
}

interface FileDraft {
  readonly file: string;
  readonly text: string;
}

interface FileChoice {
  readonly receiver: Loaded;
  /** as typed */
  readonly file: string | undefined;
  readonly cwd: string;
}

/**
 * The absolute path of the receiving file: the given one, else one with the name of the former file, else a file of the stack.
 * @throws CommandStop for a file that the stack does not read
 */
export function chooseFile({ file: former }: Moved, { receiver, file, cwd }: FileChoice): string {
  const { stack, paths } = receiver;
  const { isFile } = matchStackFiles(stack, false);
  const isRead = (path: string) => isFile(slashes(relative(stack.directory, path)));
  const stackFile = resolve(cwd, stack.file);
  const bases = stack.manifests
    .filter((pattern) => !pattern.startsWith('!'))
    .map((pattern) => picomatch.scan(pattern).base);
  const candidates =
    file === undefined
      ? [
          ...bases.map((base) => join(stack.directory, base, basename(former))),
          ...paths.filter((path) => path !== stackFile),
          ...bases.map((base) => join(stack.directory, base)),
        ]
      : [resolve(stack.directory, file)];
  const found = candidates.find((path) => isRead(path) && path !== stackFile);
  if (found !== undefined) return found;
  throw new CommandStop(
    'not-movable',
    file === undefined
      ? `nothing was written: no file of stack ${quoted(stack.name)} is known for the document: name one with --file that "spec.manifests" matches`
      : `nothing was written: "spec.manifests" of stack ${quoted(stack.name)} does not match ${quoted(file)}`,
  );
}

interface EditContext {
  readonly source: Loaded;
  readonly receiver: Loaded;
  /** absolute: the receiving file */
  readonly file: string;
  /** absolute */
  readonly cwd: string;
}

/** The receiving file comes first: if only that one is written, two stacks declare the resource, and none deletes it. */
export async function moveEdits(
  moved: Moved,
  { source, receiver, file, cwd }: EditContext,
): Promise<MoveEdit[]> {
  try {
    const documents = [
      receivedText(moved.entry.declaration.document, receivedValues(moved)),
      ...moved.children.map(({ entry: { declaration } }) =>
        receivedText(declaration.document, targetValues(declaration.document, moved)),
      ),
    ];
    const before = await textOf(file);
    const { stack } = receiver;
    const repository = await findRepository(stack.directory);
    const received = { file, repository, before, after: appended(before, documents) };
    return [
      before === undefined
        ? { ...received, draft: await newFileDraft(resolve(cwd, stack.file), documents) }
        : received,
      ...sourceEdits(moved, stack.name, await findRepository(source.stack.directory)),
    ];
  } catch (error) {
    if (!(error instanceof UnusualYaml)) throw error;
    throw new CommandStop(
      'not-editable',
      `nothing was written: the document cannot be moved in place: ${error.message}; move it by hand, with "metadata.movedFrom" there and "metadata.movedTo" here`,
    );
  }
}

/** Patterns cannot find a file before it is written, so the documents of a new file are checked as documents of the stack file. */
async function newFileDraft(stackFile: string, documents: readonly string[]): Promise<FileDraft> {
  return { file: stackFile, text: appended(await textOf(stackFile), documents) };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readRegularText(file, 32 * megabyte);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Leaves out removals of members that do not exist. */
function applicableEdits({ value }: YamlDocument, edits: readonly ValueEdit[]): ValueEdit[] {
  return edits.filter((edit) => edit.value !== undefined || valueAt(value, edit.path) !== undefined);
}

function receivedValues(moved: Moved): ValueEdit[] {
  const { document } = moved.entry.declaration;
  return [
    ...applicableEdits(document, [{ path: ['metadata', 'adopt'], value: undefined }]),
    ...targetValues(document, moved),
    { path: ['metadata', 'movedFrom'], value: moved.movedFrom },
  ];
}

function targetValues(document: YamlDocument, { target }: Moved): ValueEdit[] {
  return applicableEdits(document, [
    { path: ['metadata', 'targets'], value: undefined },
    { path: ['metadata', 'target'], value: target },
  ]);
}

/** The text of a document for the receiving file, without what belongs to the file that it came from. */
function receivedText(document: YamlDocument, values: readonly ValueEdit[]): string {
  const { text, at } = documentText(document);
  const edited = editText(createSourceText('', text), [{ at, values }]) ?? '';
  const isFirst = !text.startsWith('---');
  const body = edited.replace(/^---(?=\s|$)[ \t]*\n?/, '').replace(/^#\s*yaml-language-server:.*\n/gm, '');
  const [head = ''] = /^(?:[ \t]*(?:#.*)?\r?\n)*/.exec(body) ?? [];
  // Comments above a blank line at the beginning of a file are about the file.
  const own = isFirst ? head.replace(/^[\s\S]*\n[ \t]*\r?\n/, '') : head;
  return `${own.replace(/^\s*\n/, '')}${withOneNewline(body.slice(head.length))}`;
}

/** Removes blank lines at the end, unless they may belong to a value: a block scalar with "+" keeps them. */
function withOneNewline(text: string): string {
  if (/[|>]\d?\+/.test(text)) return text.endsWith('\n') ? text : `${text}\n`;
  return `${text.trimEnd()}\n`;
}

function appended(before: string | undefined, documents: readonly string[]): string {
  const texts =
    before === undefined || before.trim() === '' ? documents : [withOneNewline(before), ...documents];
  return texts.join('---\n');
}

const removedMetadata = ['adopt', 'onRemove', 'protect', 'movedFrom', 'renamedFrom'];

/** Replaces the document by one with `movedTo`, and removes the documents of its children. */
function sourceEdits({ entry, file, children }: Moved, stack: string, repository: Repository): MoveEdit[] {
  const { document } = entry.declaration;
  const values = applicableEdits(document, [
    ...removedMetadata.map((name) => ({ path: ['metadata', name], value: undefined })),
    { path: ['metadata', 'movedTo'], value: { stack } },
    { path: ['spec'], value: undefined },
  ]);
  const remaining = { file, document, edit: { at: contentStart(document), values } };
  const removed = children.map(({ entry: { declaration }, file: of }) => {
    const edit: DocumentEdit = { at: contentStart(declaration.document), remove: true };
    return { file: of, document: declaration.document, edit };
  });
  return [...Map.groupBy([remaining, ...removed], (one) => one.file)].flatMap(([edited, edits]) => {
    const [first] = edits;
    if (first === undefined) return [];
    const { source } = first.document;
    const after = editText(
      source,
      edits.map(({ edit }) => edit),
    );
    return [{ file: edited, repository, before: source.text, after }];
  });
}
