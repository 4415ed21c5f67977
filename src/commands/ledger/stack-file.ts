/** Changes "spec.ledger" in the stack file: every other character stays as it is. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { contentStart, editText } from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { findRepository, standardInput } from '../../manifest/files/find-stack.ts';
import { ledgerDocument } from '../../manifest/ledger-place.ts';
import { isStack } from '../../manifest/load-documents.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../manifest/yaml/yaml-document.ts';
import { quoted } from '../../model/quoted.ts';
import type { LedgerPlace, Stack } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { FileChange } from '../../run/manifest-edits/write-files.ts';

/** @throws CommandStop when the file cannot be changed in place */
export async function draftStackFile(
  { file, directory }: Pick<Stack, 'file' | 'directory'>,
  place: LedgerPlace,
  cwd: string,
): Promise<FileChange> {
  if (file === standardInput)
    throw new CommandStop('stack-file-needed', '--write needs a stack file: this stack is on standard input');
  const path = resolve(cwd, file);
  const before = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const source = createSourceText(file, before);
  const { documents } = parseDocuments(source);
  // Without the member "kind", the only document is the stack.
  const document = documents.find(isStack) ?? documents[0];
  if (document === undefined) throw notEditable(file, 'it has no stack');
  const value = ledgerDocument(place);
  try {
    const edit = { at: contentStart(document), values: [{ path: ['spec', 'ledger'], value }] };
    return {
      file: path,
      repository: await findRepository(directory),
      before,
      after: editText(source, [edit]),
    };
  } catch (error) {
    if (error instanceof UnusualYaml) throw notEditable(file, error.message);
    throw error;
  }
}

function notEditable(file: string, why: string): CommandStop {
  return new CommandStop(
    'not-editable',
    `nothing was moved: ${quoted(file)} cannot be changed in place: ${why}; leave out --write, and edit it by hand`,
  );
}
