/** Into which files manifests go, and how these come onto the disk: never over a file that is there, unless asked to. */
import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { makeFolder } from '../../ledger/local/state-folder.ts';
import { type ManifestDraft, writeManifests } from '../../manifest/yaml/write-manifests.ts';
import { kebabCase } from '../../model/kind/field-names.ts';
import type { DraftedManifest } from './draft.ts';

export const groupings = ['per-resource', 'per-kind', 'one-file'] as const;
export type Grouping = (typeof groupings)[number];

export interface ExportedFile {
  /** below the directory of the export, with slashes */
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
    // Many file systems take "App" and "app" for one name.
    const before = taken.get(path.toLowerCase()) ?? 0;
    taken.set(path.toLowerCase(), before + 1);
    return `${path}${before === 0 ? '' : `.${before + 1}`}.yaml`;
  });
  return [...files].map(([path, members]) => ({ path, manifests: members }));
}

function fileWord(kind: string): string {
  return kebabCase(kind).replace(/^-/, '');
}

/** Names that services keep are file names nearly always; what could lead elsewhere is written as its code. */
function asFileName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]|^\./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** @param directory absolute @param schemas absolute path of the directory of JSON Schemas */
export function textOf({ path, manifests }: ExportedFile, directory: string, schemas: string): string {
  const kinds = [...new Set(manifests.map(({ kind }) => kind.name))];
  const schema = kinds.length === 1 ? fileWord(kinds[0] ?? '') : 'manifest';
  const from = dirname(join(directory, path));
  const location = relative(from, join(schemas, `${schema}.schema.json`))
    .split(sep)
    .join('/');
  return writeManifests(manifests, location).text;
}

/** Those of the files that are there already. */
export function existingFiles(files: readonly ExportedFile[], directory: string): string[] {
  return files.map(({ path }) => path).filter((path) => existsSync(join(directory, path)));
}

/** One in whose place a pipe, a device or a folder stands, which is not written to. */
export function irregularFile(files: readonly ExportedFile[], directory: string): string | undefined {
  return files
    .map(({ path }) => path)
    .find((path) => statSync(join(directory, path), { throwIfNoEntry: false })?.isFile() === false);
}

/** @param force writes over what is there; otherwise a file that appears meanwhile is an error of the system */
export async function writeFiles(
  files: readonly ExportedFile[],
  { directory, schemas, force }: { directory: string; schemas: string; force: boolean },
): Promise<void> {
  for (const file of files) {
    const path = join(directory, file.path);
    await makeFolder(dirname(path));
    await writeFile(path, textOf(file, directory, schemas), { flag: force ? 'w' : 'wx' });
  }
}

/**
 * Where an editor finds the schemas: those of this program when it stands in the stack's own tree, for a path must mean
 * the same on every machine; else where `npm install` puts them.
 */
export function schemaDirectory(stack: string): string {
  const ours = ownSchemas();
  const root = ours === undefined ? undefined : dirname(ours);
  const installed = join(stack, 'node_modules', 'trueup', 'schemas');
  if (ours === undefined || root === undefined) return installed;
  const modules = dirname(root);
  const above = basename(modules) === 'node_modules' ? dirname(modules) : root;
  return isWithin(stack, above) ? ours : installed;
}

/** Undefined when the program stands somewhere without them. */
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
