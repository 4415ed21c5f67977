/** Finds the JSON Schemas that files name for editors. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { liesIn, slashes } from '../manifest/files/find-stack.ts';

/** The folder in a repository into which the guides install trueup. */
export const pinFolder = 'tools/trueup';

interface SchemaPlace {
  /** absolute path of the stack's directory */
  readonly stack: string;
  /** absolute path of its repository */
  readonly root: string;
  /** whether trueup is, or will be, installed in `pinFolder`; by default, whether that folder has a package.json */
  readonly isPinned?: boolean;
}

/** The first line of a file, for editors. @param directory of that file, absolute @param name such as `stack` */
export function schemaLine(name: string, directory: string, schemas: string): string {
  return `# yaml-language-server: $schema=${schemaLocation(name, directory, schemas)}\n`;
}

/** The path from a directory to a schema, with slashes. */
export function schemaLocation(name: string, directory: string, schemas: string): string {
  return slashes(relative(directory, join(schemas, `${name}.schema.json`)));
}

/**
 * The directory of the JSON Schemas for editors: those of this program when it is installed around the stack, else where
 * `npm install` would put them. A path must mean the same on every machine, so other installations are not used.
 */
export function schemaDirectory({ stack, root, isPinned = isPinnedIn(root) }: SchemaPlace): string {
  const folder = isPinned ? join(root, ...pinFolder.split('/')) : stack;
  const installed = join(folder, 'node_modules', 'trueup', 'schemas');
  const ours = ownSchemas();
  if (ours === undefined) return installed;
  const modules = dirname(dirname(ours));
  const above = basename(modules) === 'node_modules' ? dirname(modules) : dirname(ours);
  return liesIn({ root: above, isGit: false }, stack) ? ours : installed;
}

function isPinnedIn(root: string): boolean {
  return existsSync(join(root, ...pinFolder.split('/'), 'package.json'));
}

/** The schemas of this program; undefined when it comes without them. */
function ownSchemas(): string | undefined {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const schemas = join(at, 'schemas');
    if (existsSync(join(schemas, 'manifest.schema.json'))) return schemas;
    if (at === dirname(at)) return undefined;
  }
}
