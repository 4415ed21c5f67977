/** The texts of the files of both stacks after a move. Comments move with their documents; nothing is written here. */
import { basename, join, relative, resolve } from 'node:path';
import picomatch from 'picomatch';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import {
  contentStart,
  type DocumentEdit,
  documentText,
  editText,
  type ValueEdit,
} from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { findRepository, type Repository, slashes } from '../../manifest/files/find-stack.ts';
import { matchStackFiles } from '../../manifest/files/match-files.ts';
import { createSourceText, type YamlDocument } from '../../manifest/yaml/yaml-document.ts';
import { valueAt } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { FileChange } from '../../run/manifest-edits/write-files.ts';
import type { Loaded, Moved } from './find-moved.ts';

export interface MoveEdit extends FileChange {
  /** what stands for a new file while the manifests are checked */
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

/** While the manifests are checked, no pattern finds a new file: its documents are checked as documents of the stack file. */
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

/** Edits of members that exist, and additions. */
function valuesFor({ value }: YamlDocument, edits: readonly ValueEdit[]): ValueEdit[] {
  return edits.filter((edit) => edit.value !== undefined || valueAt(value, edit.path) !== undefined);
}

function receivedValues(moved: Moved): ValueEdit[] {
  const { document } = moved.entry.declaration;
  return [
    ...valuesFor(document, [{ path: ['metadata', 'adopt'], value: undefined }]),
    ...targetValues(document, moved),
    { path: ['metadata', 'movedFrom'], value: moved.movedFrom },
  ];
}

function targetValues(document: YamlDocument, { target }: Moved): ValueEdit[] {
  return valuesFor(document, [
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
  return `${own.replace(/^\s*\n/, '')}${withOneEnd(body.slice(head.length))}`;
}

/** Without blank lines at the end, unless they may belong to a value: a block scalar with "+" keeps them. */
function withOneEnd(text: string): string {
  if (/[|>]\d?\+/.test(text)) return text.endsWith('\n') ? text : `${text}\n`;
  return `${text.trimEnd()}\n`;
}

function appended(before: string | undefined, documents: readonly string[]): string {
  const texts = before === undefined || before.trim() === '' ? documents : [withOneEnd(before), ...documents];
  return texts.join('---\n');
}

const metadataOfDocument = ['adopt', 'onRemove', 'protect', 'movedFrom', 'renamedFrom'];

/** In place of the document stays one that says where the resource goes; documents of its children are removed. */
function sourceEdits({ entry, file, children }: Moved, stack: string, repository: Repository): MoveEdit[] {
  const { document } = entry.declaration;
  const values = valuesFor(document, [
    ...metadataOfDocument.map((name) => ({ path: ['metadata', name], value: undefined })),
    { path: ['metadata', 'movedTo'], value: { stack } },
    { path: ['spec'], value: undefined },
  ]);
  const left = { file, document, edit: { at: contentStart(document), values } };
  const removed = children.map(({ entry: { declaration }, file: of }) => {
    const edit: DocumentEdit = { at: contentStart(declaration.document), remove: true };
    return { file: of, document: declaration.document, edit };
  });
  return [...Map.groupBy([left, ...removed], (one) => one.file)].flatMap(([edited, edits]) => {
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
