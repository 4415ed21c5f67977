/**
 * `trueup fmt [path...]`: formats stack files and manifests. A file that cannot be formatted without losing something is left as it
 * is. Sends no requests.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { dialects } from '../api/dialects.ts';
import {
  displayPath,
  findRepository,
  findStack,
  liesIn,
  type Repository,
  stackFileName,
  standardInput,
} from '../manifest/files/find-stack.ts';
import { listFiles } from '../manifest/files/list-files.ts';
import { decodeText, fileOutsideRepository, maxTextBytes, readText } from '../manifest/files/read-text.ts';
import { loadDocuments } from '../manifest/load-documents.ts';
import { secretFields } from '../manifest/yaml/secret-fields.ts';
import { type Diagnostic, sortDiagnostics } from '../model/diagnostic.ts';
import { counted, quoted } from '../model/quoted.ts';
import { printable } from '../report/view/printable.ts';
import { addExamples, type CommandEnd, type CommonOptions } from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { readInput } from '../run/load-manifests.ts';
import { patchOf } from '../run/manifest-edits/draft-files.ts';
import {
  byteOrderMark,
  type FileChange,
  partlyWritten,
  writeFiles,
} from '../run/manifest-edits/write-files.ts';
import { type CommandContext, printWarnings } from '../run/terminal.ts';
import { openFormat, type Origin } from './fmt-text.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument(
      '[path...]',
      'directories with a trueup.yaml, other directories (their manifests), files, or - to format standard input to standard output (default: the stack of trueup.yaml here or in a parent)',
    )
    .option(
      '--check',
      'write nothing, and list the files that are not formatted; exits with 2 if there are any',
    )
    .option('--diff', 'the same as --check, and show what would change as a patch')
    .action(async (paths: readonly string[], options: FmtOptions) => {
      end(await fmt(paths, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup fmt', 'format the stack file and the manifests of the stack'],
    ['trueup fmt --check', 'in CI: list the files that are not formatted'],
    ['trueup fmt --diff manifests', 'show what would change below a directory'],
    ['trueup fmt - < app.yaml', 'print one file formatted, for an editor'],
  );
}

interface FmtOptions extends CommonOptions {
  readonly check?: boolean;
  readonly diff?: boolean;
}

async function fmt(
  paths: readonly string[],
  options: FmtOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  if (paths.includes(standardInput) && paths.length > 1)
    throw new CommandStop('usage', 'with - for standard input, give no other path');
  const formatted = paths[0] === standardInput ? await formatInput(host) : await formatFiles(paths, host);
  const { changes, diagnostics, files, skipped } = formatted;
  printWarnings(terminal, sortDiagnostics(diagnostics));
  const problemCode = exitCodeOf(diagnostics);
  const writesNothing = options.check === true || options.diff === true;
  if (formatted.input !== undefined && !writesNothing) host.stdout.write(formatted.input);
  else if (writesNothing) showUnformatted(changes, options, host);
  else if (changes.length > 0) await write(changes, host);
  if (files > 0 && formatted.input === undefined)
    host.stderr.write(`${resultText({ changes, files }, writesNothing)}\n`);
  if (skipped > 0) host.stderr.write(`${skippedText(skipped)}\n`);
  if (problemCode !== exitCodes.done) return problemCode;
  return writesNothing && changes.length > 0 ? exitCodes.changesPending : exitCodes.done;
}

interface Formatted {
  readonly changes: readonly FileChange[];
  /** how many files could be formatted */
  readonly files: number;
  /** how many files of directories are not manifests */
  readonly skipped: number;
  readonly diagnostics: readonly Diagnostic[];
  /** the formatted standard input */
  readonly input?: string;
}

async function formatFiles(paths: readonly string[], host: CliHost): Promise<Formatted> {
  const { files, diagnostics } = await chooseFiles(paths, host);
  const problems = [...diagnostics];
  const changes: FileChange[] = [];
  const format = openFormat(host);
  let formatted = 0;
  let skipped = 0;
  for (const { path, repository, origin } of files) {
    const file = displayPath(path, host.cwd);
    const before = await readText(path, { file, repository });
    const after = typeof before === 'string' ? format(file, before, origin) : [before];
    if (after === undefined) {
      skipped++;
      continue;
    }
    if (typeof before !== 'string' || typeof after !== 'string') {
      problems.push(...(typeof after === 'string' ? [] : after));
      continue;
    }
    formatted++;
    if (before !== after) changes.push({ file: path, repository, before, after });
  }
  return { changes, files: formatted, skipped, diagnostics: problems };
}

async function formatInput(host: CliHost): Promise<Formatted> {
  const bytes = await readInput(host, maxTextBytes, {});
  const before = decodeText(standardInput, bytes);
  const after = typeof before === 'string' ? openFormat(host)(standardInput, before, 'name') : [before];
  if (typeof before !== 'string' || typeof after !== 'string')
    return { changes: [], files: 0, skipped: 0, diagnostics: typeof after === 'object' ? after : [] };
  const change = { file: standardInput, repository: { root: host.cwd, isGit: false }, before, after };
  const mark = Buffer.from(bytes).subarray(0, 3).equals(Buffer.from(byteOrderMark)) ? byteOrderMark : '';
  const changes = before === after ? [] : [change];
  return { changes, files: 1, skipped: 0, diagnostics: [], input: mark + after };
}

function showUnformatted(
  changes: readonly FileChange[],
  { diff = false }: FmtOptions,
  { cwd, kinds, stdout }: CliHost,
): void {
  for (const { file, before, after } of changes) {
    if (diff) stdout.write(patchOf(file, { before, after }, { cwd, kinds }).patch);
    else stdout.write(`${nameOf(file, cwd)}\n`);
  }
}

/** Lists each file that was written. */
async function write(changes: readonly FileChange[], { cwd, stdout }: CliHost): Promise<void> {
  const { files, failure } = await writeFiles(changes);
  for (const file of files) stdout.write(`${nameOf(file, cwd)}\n`);
  if (failure !== undefined) throw partlyWritten(files, failure, cwd);
}

function nameOf(file: string, cwd: string): string {
  return file === standardInput ? file : printable(displayPath(file, cwd));
}

function resultText(
  { changes, files }: Pick<Formatted, 'changes' | 'files'>,
  writesNothing: boolean,
): string {
  const all = counted(files, 'file');
  if (changes.length === 0) return `formatted already: ${all}`;
  return writesNothing
    ? `not formatted: ${changes.length} of ${all}; run "trueup fmt" to format them`
    : `formatted: ${changes.length} of ${all}`;
}

function skippedText(skipped: number): string {
  return skipped === 1
    ? '1 file that is not a manifest was skipped'
    : `${skipped} files that are not manifests were skipped`;
}

interface ChosenFile {
  /** absolute */
  readonly path: string;
  /** the repository that must contain the file */
  readonly repository: Repository;
  readonly origin: Origin;
}

interface ChosenFiles {
  /** each once */
  readonly files: readonly ChosenFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A file that is chosen twice gets the origin that is later in this list. */
const origins: readonly Origin[] = ['directory', 'name', 'stack'];

/** @param paths as typed; without one, the stack of the current directory */
async function chooseFiles(paths: readonly string[], host: CliHost): Promise<ChosenFiles> {
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

/** Reports files that cannot be read, but not problems of the manifests themselves. */
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
