/** `trueup validate [path]`: reports all problems of all files, or of a selection, without any service. */
import type { Command } from 'commander';
import type { Manifests } from '../manifest/read-manifests.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import { counted } from '../model/quoted.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../run/command-options.ts';
import { type ExitCode, exitCodeOf } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { loadManifests } from '../run/load-manifests.ts';
import { learnSources, secretNameErrors } from '../run/needed-secrets.ts';
import { filePolicyProblems } from '../run/policies.ts';
import { printDiagnostics, type Terminal, textOutput } from '../run/terminal.ts';

export function defineCommand(command: Command, _: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'github', 'sarif'))
    .addOption(completeOption())
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions) => {
      end(await validate(path, options, terminalOf(options)));
    });
  addExamples(
    command,
    ['trueup validate', 'check the stack in this directory'],
    ['trueup validate stacks/payments', 'check the stack in another directory'],
    ['trueup validate --format sarif > problems.sarif', 'for code scanning in CI'],
  );
}

async function validate(
  path: string | undefined,
  options: CommonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const manifests = await loadManifests(path, terminal.host, options);
  const { resources, files, documents, stack, isSelection } = manifests;
  const diagnostics = sortDiagnostics([
    ...manifests.diagnostics,
    ...(await secretsInNames(manifests, terminal)),
    ...(stack === undefined ? [] : await filePolicyProblems(stack, terminal.host)),
  ]);
  if (stack !== undefined) terminal.result.stackFile = stack.file;
  const counts = `${counted(files, 'file')}, ${counted(documents, 'document')}, ${counted(resources.length, 'resource')}`;
  const what = `${isSelection ? 'a selection of stack' : 'stack'} ${stack?.name ?? ''}, ${counts}`;
  const checked = { files, documents, resources: resources.length };
  printDiagnostics(terminal, diagnostics, { said: `valid: ${what}`, checked });
  if (!hasErrors(diagnostics)) textOutput(terminal)?.write(`${terminal.paint.added('valid')}: ${what}\n`);
  return exitCodeOf(diagnostics);
}

/** Problems of names that contain a secret. Only secrets from environment variables are known, because no file is read for this. */
async function secretsInNames({ stack, resources }: Manifests, { host }: Terminal): Promise<Diagnostic[]> {
  if (stack === undefined) return [];
  await learnSources(stack, resources, host, { files: 'none' });
  return secretNameErrors(resources, host);
}
