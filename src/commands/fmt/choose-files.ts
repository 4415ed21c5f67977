/** Which files `fmt` is about: those of a stack, those below a directory, or a file by its name. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { dialects } from '../../api/dialects.ts';
import {
  displayPath,
  findRepository,
  findStack,
  liesIn,
  type Repository,
  stackFileName,
} from '../../manifest/files/find-stack.ts';
import { listFiles } from '../../manifest/files/list-files.ts';
import { fileOutsideRepository } from '../../manifest/files/read-text.ts';
import { loadDocuments } from '../../manifest/load-documents.ts';
import { secretFields } from '../../manifest/yaml/secret-fields.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import type { CliHost } from '../../run/host.ts';
import type { Origin } from './format-file.ts';

interface ChosenFile {
  /** absolute */
  readonly path: string;
  /** which the file must lie in */
  readonly repository: Repository;
  readonly origin: Origin;
}

interface ChosenFiles {
  /** each once */
  readonly files: readonly ChosenFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A file that is chosen twice has the origin that comes last. */
const origins: readonly Origin[] = ['directory', 'name', 'stack'];

/** @param paths as typed; without one, the stack of the current directory */
export async function chooseFiles(paths: readonly string[], host: CliHost): Promise<ChosenFiles> {
  const found = paths.length === 0 ? [await filesOfStack(undefined, host)] : [];
  for (const path of paths) found.push(await filesAt(path, host));
  const files = new Map<string, ChosenFile>();
  for (const origin of origins)
    for (const file of found.flatMap((each) => each.files))
      if (file.origin === origin) files.set(file.path, file);
  return { files: [...files.values()], diagnostics: found.flatMap(({ diagnostics }) => diagnostics) };
}

async function filesAt(path: string, host: CliHost): Promise<ChosenFiles> {
  const absolute = resolve(host.cwd, path);
  const real = await realpath(absolute).catch(() => undefined);
  if (real === undefined) return refused(noPath(path));
  const isDirectory = (await stat(real)).isDirectory();
  if (isDirectory && (await isFile(join(absolute, stackFileName)))) return filesOfStack(path, host);
  const here = await findRepository(host.cwd);
  if (!isDirectory && basename(path) === stackFileName)
    return chosen([absolute], await findRepository(dirname(absolute)), 'name');
  if (!liesIn(here, real)) return refused(fileOutsideRepository(displayPath(absolute, host.cwd), here));
  return isDirectory ? filesBelow(absolute, path) : chosen([absolute], here, 'name');
}

async function filesBelow(directory: string, path: string): Promise<ChosenFiles> {
  const pattern = { pattern: '**/*.{yaml,yml}', optional: true, path: [] };
  const [found] = await listFiles([pattern], directory);
  const { files = [], problem } = found ?? {};
  const { message = `there is no YAML file in ${quoted(path)}`, ...more } = problem ?? {};
  const { diagnostics } =
    problem === undefined && files.length > 0
      ? { diagnostics: [] }
      : refused({ code: 'no-file', severity: 'error', class: 'incomplete', message, ...more });
  return { ...chosen(files, await findRepository(directory), 'directory'), diagnostics };
}

/** Problems of the manifests themselves are not reported here, but those of reading them are. */
async function filesOfStack(path: string | undefined, host: CliHost): Promise<ChosenFiles> {
  const { cwd, kinds } = host;
  const { userId } = host.machine();
  const file = await findStack(path, cwd, userId);
  if (typeof file !== 'string') return refused(file);
  const secrets = secretFields(kinds);
  const { paths, diagnostics } = await loadDocuments({ path: file, cwd, userId, kinds, dialects, secrets });
  const repository = await findRepository(dirname(file));
  if (paths === undefined)
    return { ...chosen([file], repository, 'stack'), diagnostics: diagnostics.filter(isOfFiles) };
  const shown = displayPath(file, cwd);
  const ofPatterns = diagnostics.filter((found) => isOfFiles(found) && found.place?.file === shown);
  return { ...chosen(paths, repository, 'stack'), diagnostics: ofPatterns };
}

function isOfFiles({ code }: Diagnostic): boolean {
  return code === 'unreadable' || code === 'outside-repository' || code === 'no-stack';
}

function chosen(paths: readonly string[], repository: Repository, origin: Origin): ChosenFiles {
  return { files: paths.map((path) => ({ path, repository, origin })), diagnostics: [] };
}

function refused(problem: Diagnostic): ChosenFiles {
  return { files: [], diagnostics: [problem] };
}

function noPath(path: string): Diagnostic {
  return {
    code: 'no-file',
    severity: 'error',
    class: 'incomplete',
    message: `there is no file or directory ${quoted(path)}`,
    fix: 'correct the path',
  };
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
