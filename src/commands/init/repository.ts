/** Reads the folders around a new stack: its repository, the address of the remote, existing CI files, and names derived from them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { applyWorkflow, planWorkflow } from './pipelines.ts';

export interface Surroundings {
  /** absolute: the root of the repository, else the directory of the stack */
  readonly root: string;
  readonly isGit: boolean;
  /** the address of the remote "origin"; undefined without one */
  readonly remote?: string;
  /** existing CI files, relative to the root */
  readonly ciFiles: readonly string[];
  /** texts of the workflows that plan and apply; empty if the one that plans does not exist */
  readonly workflows: readonly string[];
}

/** @param directory absolute; it may not exist yet */
export async function readSurroundings(directory: string): Promise<Surroundings> {
  const { root, isGit } = await findRepository(directory);
  const remote = isGit ? originIn(join(root, '.git', 'config')) : undefined;
  const ciFiles = ['.github', planWorkflow, '.gitlab-ci.yml'].filter((name) => existsSync(join(root, name)));
  const workflows = ciFiles.includes(planWorkflow)
    ? [planWorkflow, applyWorkflow].map((name) => textOf(join(root, name)))
    : [];
  return { root, isGit, workflows, ...(remote === undefined ? {} : { remote }), ciFiles };
}

/** Empty for a file that cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The address of the remote "origin"; also undefined if `.git` is a file, as in a linked work tree. */
function originIn(config: string): string | undefined {
  try {
    const section = /^\[remote "origin"\]([^[]*)/m.exec(readFileSync(config, 'utf8'))?.[1] ?? '';
    return /^\s*url\s*=\s*(\S.*)$/m.exec(section)?.[1]?.trim();
  } catch {
    return undefined;
  }
}

/** A name with lower-case letters, digits and "-" only; it may be empty. */
export function nameFrom(text: string): string {
  const plain = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return plain.slice(0, 63).replaceAll(/^-+|-+$/g, '');
}
