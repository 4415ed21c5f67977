/** `trueup render [path]`: prints each resource as a separate document, with everything that templates, lists and defaults add to it. */
import type { Command } from 'commander';
import { type ManifestDraft, writeManifests } from '../manifest/yaml/write-manifests.ts';
import type { Json } from '../model/json.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { type DesiredResource, isDeclaration } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  pathHelp,
  timeoutOption,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { loadManifests } from '../run/load-manifests.ts';
import { learnSources } from '../run/needed-secrets.ts';
import { printWarnings, type Terminal } from '../run/terminal.ts';

export function defineCommand(command: Command, _: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(completeOption())
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions) => {
      end(await render(path, options, terminalOf(options)));
    });
  addExamples(
    command,
    ['trueup render', 'print every resource of the stack in this directory as a manifest'],
    ['trueup render stacks/payments > all.yaml', 'the same of another stack, into a file'],
    ['trueup render | trueup plan - --complete', 'plan what was rendered: the plan is the same'],
  );
}

async function render(
  path: string | undefined,
  options: CommonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { host } = terminal;
  const { stack, resources, diagnostics } = await loadManifests(path, host, options);
  if (stack === undefined || hasErrors(diagnostics)) throw CommandStop.ofProblems(diagnostics);
  await learnSources(stack, resources, host, { files: 'none' });
  printWarnings(terminal, diagnostics);
  const drafts = resources.flatMap((resource) => draft(resource, stack, host) ?? []);
  host.stdout.write(writeManifests(drafts).text);
  return exitCodes.done;
}

/** The document has the values of all defaults that match. `defaults: false`: with these values, more defaults could match it. */
function draft(
  { address, metadata, spec }: DesiredResource,
  { defaults }: Stack,
  { kinds }: CliHost,
): ManifestDraft | undefined {
  const kind = kinds.get(address.kind);
  const { name, ...settings } = metadata;
  return (
    kind && {
      kind,
      metadata: {
        name,
        target: address.target,
        ...(defaults.length === 0 ? {} : { defaults: false }),
        ...(settings as Readonly<Record<string, Json>>),
      },
      ...(isDeclaration({ metadata }) ? { spec } : {}),
    }
  );
}
