/** Groups manifests into files and writes them. An existing file is overwritten only with `--force`. */
import { existsSync, lstatSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type PreparedFile, prepareFile } from '../../files/write-file.ts';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { type ManifestDraft, writeManifests } from '../../manifest/yaml/write-manifests.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { kebabCase } from '../../model/field.ts';
import type { Stack } from '../../model/stack.ts';
import { CommandStop } from '../command-stop.ts';
import { schemaDirectory, schemaLocation } from '../editor-schemas.ts';
import type { CliHost } from '../host.ts';
import { linkedPath, writeNew } from '../new-files.ts';
import type { DraftedManifest } from './draft.ts';

const groupings = ['per-resource', 'per-kind', 'one-file'] as const;
export type Grouping = (typeof groupings)[number];

interface ExportedFile {
  /** relative to the directory of the export, with slashes */
  readonly path: string;
  readonly manifests: readonly ManifestDraft[];
}

/** `acme/workspace/network-prod.yaml`, `acme/workspace.yaml` or `acme.yaml`; always the same for the same resources. */
export function groupFiles(manifests: readonly DraftedManifest[], grouping: Grouping): ExportedFile[] {
  const taken = new Map<string, number>();
  const files = Map.groupBy(manifests, ({ address: { target, name }, kind }) => {
    if (grouping === 'one-file') return `${target}.yaml`;
    if (grouping === 'per-kind') return `${target}/${fileWord(kind.name)}.yaml`;
    const path = `${target}/${fileWord(kind.name)}/${asFileName(name)}`;
    // Many file systems ignore the case of names.
    const before = taken.get(path.toLowerCase()) ?? 0;
    taken.set(path.toLowerCase(), before + 1);
    return `${path}${before === 0 ? '' : `.${before + 1}`}.yaml`;
  });
  return [...files].map(([path, members]) => ({ path, manifests: members }));
}

function fileWord(kind: string): string {
  return kebabCase(kind).replace(/^-/, '');
}

/** Nearly all names are valid file names; other characters, and a leading dot, are replaced by their code. */
function asFileName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]|^\./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** @param directory absolute @param schemas absolute path of the directory of JSON Schemas */
function textOf({ path, manifests }: ExportedFile, directory: string, schemas: string): string {
  const kinds = [...new Set(manifests.map(({ kind }) => kind.name))];
  const schema = kinds.length === 1 ? fileWord(kinds[0] ?? '') : 'manifest';
  const from = dirname(join(directory, path));
  return writeManifests(manifests, schemaLocation(schema, from, schemas)).text;
}

/** The files that exist already. */
function existingFiles(files: readonly ExportedFile[], directory: string): string[] {
  return files.map(({ path }) => path).filter((path) => existsSync(join(directory, path)));
}

/** The first path that is a pipe, a device or a folder, and so cannot be written. */
function irregularFile(files: readonly ExportedFile[], directory: string): string | undefined {
  return files
    .map(({ path }) => path)
    .find((path) => statSync(join(directory, path), { throwIfNoEntry: false })?.isFile() === false);
}

/**
 * @param force replaces existing files, each atomically, and only after all new texts were stored beside them; without it, a file that
 * appears meanwhile is a system error
 */
async function writeFiles(
  files: readonly ExportedFile[],
  { directory, schemas, force }: { directory: string; schemas: string; force: boolean },
): Promise<void> {
  const prepared: PreparedFile[] = [];
  try {
    for (const file of files) {
      const path = join(directory, file.path);
      const text = textOf(file, directory, schemas);
      const existing = force ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
      if (existing === undefined) await writeNew(path, text);
      else prepared.push(await prepareFile(path, text, existing.mode & 0o7777));
    }
    for (const file of prepared) await file.replace();
  } catch (error) {
    for (const file of prepared) await file.discard();
    throw error;
  }
}

interface ExportWriting {
  readonly options: { readonly out: string; readonly group: Grouping; readonly force?: boolean };
  readonly host: CliHost;
}

/** Writes the manifests where `--out` says. @throws CommandStop where nothing was written */
export async function writeExport(
  manifests: readonly DraftedManifest[],
  stack: Pick<Stack, 'directory'>,
  { options, host }: ExportWriting,
): Promise<void> {
  if (manifests.length === 0) return;
  const here = await findRepository(host.cwd);
  const stackRepository = await findRepository(stack.directory);
  const schemas = schemaDirectory({ stack: stack.directory, root: stackRepository.root });
  if (options.out === '-') {
    host.stdout.write(textOf({ path: '-', manifests }, host.cwd, schemas));
    return;
  }
  const directory = resolve(host.cwd, options.out);
  const files = groupFiles(manifests, options.group);
  const paths = files.map(({ path }) => path);
  const linked = linkedPath(paths, resolve(await realpath(host.cwd), options.out), here.root);
  if (linked !== undefined)
    throw new CommandStop(
      'output-refused',
      `nothing was written: ${quoted(join(options.out, linked))} leads over a symbolic link, which an export does not follow; remove the link, or give another --out`,
    );
  const irregular = irregularFile(files, directory);
  if (irregular !== undefined)
    throw new CommandStop(
      'output-refused',
      `nothing was written: ${quoted(join(options.out, irregular))} is not a regular file; remove it, or give another --out`,
    );
  const existing = options.force ? [] : existingFiles(files, directory);
  if (existing.length > 0) throw new CommandStop('files-exist', whyNotOverwritten(existing, options.out));
  await writeFiles(files, { directory, schemas, force: options.force ?? false });
}

function whyNotOverwritten([first = '', ...more]: readonly string[], out: string): string {
  const others = more.length === 0 ? 'exists' : `and ${counted(more.length, 'more file')} exist`;
  return `nothing was written: ${quoted(join(out, first))} ${others} already; pass --force to write over them, or another --out`;
}
