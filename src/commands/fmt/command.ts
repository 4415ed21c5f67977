/**
 * `trueup fmt [path...]`: rewrites stack files and manifests in one form. A file that cannot be rewritten without losing something is
 * left as it is. Uses no service.
 */
import type { Command } from 'commander';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { displayPath, standardInput } from '../../manifest/files/find-stack.ts';
import { decodeText, maxTextBytes, readText } from '../../manifest/files/read-text.ts';
import { formatText, type SchemaOf, schemasOf } from '../../manifest/format/format-text.ts';
import { findHidden } from '../../manifest/yaml/hidden-parts.ts';
import { secretNames } from '../../manifest/yaml/secret-fields.ts';
import { createSourceText } from '../../manifest/yaml/yaml-document.ts';
import { type Diagnostic, sortDiagnostics } from '../../model/diagnostic.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { printable } from '../../report/view/printable.ts';
import { addExamples, type CommandEnd, type CommonOptions } from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { readInput } from '../../run/load-manifests.ts';
import { patchOf } from '../../run/manifest-edits/draft-files.ts';
import { type FileChange, partlyWritten, writeFiles } from '../../run/manifest-edits/write-files.ts';
import { type CommandContext, printWarnings } from '../../run/terminal.ts';
import { chooseFiles } from './choose-files.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument(
      '[path...]',
      'directories with a trueup.yaml, other directories, files, or - for standard input, whose form goes to standard output (default: the stack of trueup.yaml here or in a parent)',
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
    ['trueup fmt - < app.yaml', 'print the form of one file, for an editor'],
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
  const { changes, diagnostics, files } = formatted;
  printWarnings(terminal, sortDiagnostics(diagnostics));
  const stop = exitCodeOf(diagnostics);
  const writesNothing = options.check === true || options.diff === true;
  if (formatted.input !== undefined && !writesNothing) host.stdout.write(formatted.input);
  else if (writesNothing) showUnformatted(changes, options, host);
  else if (changes.length > 0) await write(changes, host);
  if (files > 0 && formatted.input === undefined)
    host.stderr.write(`${sayWhat({ changes, files }, writesNothing)}\n`);
  if (stop !== exitCodes.done) return stop;
  return writesNothing && changes.length > 0 ? exitCodes.changesPending : exitCodes.done;
}

interface Formatted {
  readonly changes: readonly FileChange[];
  /** how many files have a form */
  readonly files: number;
  readonly diagnostics: readonly Diagnostic[];
  /** the form of standard input */
  readonly input?: string;
}

async function formatFiles(paths: readonly string[], host: CliHost): Promise<Formatted> {
  const { files, diagnostics } = await chooseFiles(paths, host);
  const problems = [...diagnostics];
  const changes: FileChange[] = [];
  const format = formatter(host);
  let formatted = 0;
  for (const { path, repository } of files) {
    const file = displayPath(path, host.cwd);
    const before = await readText(path, { file, repository });
    const after = typeof before === 'string' ? format(file, before) : [before];
    if (typeof before !== 'string' || typeof after !== 'string') {
      problems.push(...(typeof after === 'string' ? [] : after));
      continue;
    }
    formatted++;
    if (before !== after) changes.push({ file: path, repository, before, after });
  }
  return { changes, files: formatted, diagnostics: problems };
}

async function formatInput(host: CliHost): Promise<Formatted> {
  const before = decodeText(standardInput, await readInput(host, maxTextBytes, {}));
  if (typeof before !== 'string') return { changes: [], files: 0, diagnostics: [before] };
  const after = formatter(host)(standardInput, before);
  if (typeof after !== 'string') return { changes: [], files: 0, diagnostics: after };
  const change = { file: standardInput, repository: { root: host.cwd, isGit: false }, before, after };
  return { changes: before === after ? [] : [change], files: 1, diagnostics: [], input: after };
}

/** @returns the form of a text, or why there is none */
function formatter({ kinds }: CliHost): (file: string, text: string) => string | readonly Diagnostic[] {
  const names = secretNames(kinds);
  const schemaOf: SchemaOf = schemasOf(kinds);
  return (file, text) => {
    try {
      return formatText(
        createSourceText(file, text, (whole) => findHidden(whole, names)),
        schemaOf,
      );
    } catch (error) {
      if (!(error instanceof UnusualYaml)) throw error;
      return [leftAsItIs(file, error)];
    }
  };
}

function leftAsItIs(file: string, { message }: UnusualYaml): Diagnostic {
  const shown = file === standardInput ? 'standard input' : quoted(printable(file));
  return {
    code: 'not-formattable',
    severity: 'error',
    class: 'failure',
    message: `${shown} cannot be formatted and is left as it is: ${message}`,
    fix: 'change what the message names; an anchor must be above its aliases when the members are in order',
  };
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

function sayWhat({ changes, files }: Pick<Formatted, 'changes' | 'files'>, writesNothing: boolean): string {
  const all = counted(files, 'file');
  if (changes.length === 0) return `formatted already: ${all}`;
  return writesNothing
    ? `not formatted: ${changes.length} of ${all}; run "trueup fmt" to format them`
    : `formatted: ${changes.length} of ${all}`;
}
