/** `trueup validate [path]`: every problem of every file in one run, offline; of a selection, of that alone. */
import { counted } from '../../model/counted.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics, type Terminal } from '../terminal/terminal.ts';

export interface ValidateOptions {
  /** what standard input brings is all of the stack */
  readonly complete?: boolean;
  /** seconds that standard input may take */
  readonly timeout?: number;
}

export async function validate(
  path: string | undefined,
  { complete, timeout }: ValidateOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { host } = terminal;
  const manifests = await loadManifests(path, host, { complete, timeout });
  const { diagnostics, resources, files, documents, stack, isSelection } = manifests;
  if (diagnostics.length > 0 || terminal.format === 'json') printDiagnostics(terminal, diagnostics);
  if (hasErrors(diagnostics)) return exitCodeOf(diagnostics);
  if (terminal.format === 'text') {
    const counts = `${counted(files, 'file')}, ${counted(documents, 'document')}, ${counted(resources.length, 'resource')}`;
    const what = isSelection ? 'a selection of stack' : 'stack';
    host.stdout.write(`${terminal.paint.added('valid')}: ${what} ${stack?.name ?? ''}, ${counts}\n`);
  }
  return exitCodeOf(diagnostics);
}
