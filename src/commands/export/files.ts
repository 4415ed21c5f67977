/** Groups manifests into files and writes them. An existing file is overwritten only with `--force`. */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { makeFolder, type PreparedFile, prepareFile } from '../../files/write-file.ts';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { type ManifestDraft, writeManifests } from '../../manifest/yaml/write-manifests.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { kebabCase } from '../../model/field.ts';
import type { Stack } from '../../model/stack.ts';
import { withPath } from '../../model/error-message.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';
import type { DraftedManifest } from './draft.ts';

const groupings = ['per-resource', 'per-kind', 'one-file'] as const;
export type Grouping = (typeof groupings)[number];

interface ExportedFile {
  /** relative to the directory of the export, with slashes */
  readonly path: string;
  readonly manifests: readonly ManifestDraft[];
}

/** `acme/workspace/network-prod.yaml`, `acme/workspace.yaml` or `acme.yaml`; the same for the same resources every time. */
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
  const location = relative(from, join(schemas, `${schema}.schema.json`))
    .split(sep)
    .join('/');
  return writeManifests(manifests, location).text;
}

/**
 * The first path that leads over a symbolic link of the repository or below the directory; the directory itself is `.`. An export
 * follows no such link: otherwise, somebody who writes to the repository could choose which file is replaced.
 * @param directory absolute, without a link above the repository @param root of the repository, without a link in it
 */
function linkedPath(files: readonly ExportedFile[], directory: string, root: string): string | undefined {
  if (isWithin(directory, root) && realOf(directory) !== directory) return '.';
  return files.map(({ path }) => path).find((path) => isLinked(path, directory));
}

function isLinked(path: string, directory: string): boolean {
  const names = path.split('/');
  return names.some((_, at) =>
    lstatSync(join(directory, ...names.slice(0, at + 1)), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
}

/** The real path, as far as it exists. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realOf(dirname(path)), basename(path));
  }
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
 * @param force replaces existing files, each as a whole and none before all new texts have room; without it, a file that appears
 * meanwhile is a system error
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

/** An incomplete manifest is removed. */
async function writeNew(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await writeFile(path, text, { flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'write') await rm(path, { force: true }).catch(() => {});
    throw withPath(error, path);
  });
}

/**
 * The directory of the JSON Schemas for editors: those of this program when it is installed around the stack, else where
 * `npm install` would put them. A path must mean the same on every machine, so other installations are not used.
 */
function schemaDirectory(stack: string): string {
  const ours = ownSchemas();
  const root = ours === undefined ? undefined : dirname(ours);
  const installed = join(stack, 'node_modules', 'trueup', 'schemas');
  if (ours === undefined || root === undefined) return installed;
  const modules = dirname(root);
  const above = basename(modules) === 'node_modules' ? dirname(modules) : root;
  return isWithin(stack, above) ? ours : installed;
}

/** The schemas of this program; undefined when it comes without them. */
function ownSchemas(): string | undefined {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const schemas = join(at, 'schemas');
    if (existsSync(join(schemas, 'manifest.schema.json'))) return schemas;
    if (at === dirname(at)) return undefined;
  }
}

function isWithin(path: string, directory: string): boolean {
  return !relative(directory, path).startsWith('..');
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
  const schemas = schemaDirectory(stack.directory);
  if (options.out === '-') {
    host.stdout.write(textOf({ path: '-', manifests }, host.cwd, schemas));
    return;
  }
  const directory = resolve(host.cwd, options.out);
  const files = groupFiles(manifests, options.group);
  const { root } = await findRepository(host.cwd);
  const linked = linkedPath(files, resolve(await realpath(host.cwd), options.out), root);
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
