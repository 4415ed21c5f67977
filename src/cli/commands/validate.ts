/** `trueup validate [path]`: reports all problems of all files, or of a selection, without any service. */
import { counted } from '../../model/counted.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics, type Terminal, textOutput } from '../terminal/terminal.ts';

export interface ValidateOptions {
  /** the manifests on standard input are the whole stack */
  readonly complete?: boolean;
  /** seconds that standard input may take */
  readonly timeout?: number;
}

export async function validate(
  path: string | undefined,
  { complete, timeout }: ValidateOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const manifests = await loadManifests(path, terminal.host, { complete, timeout });
  const { diagnostics, resources, files, documents, stack, isSelection } = manifests;
  if (stack !== undefined) terminal.pending.stackFile = stack.file;
  const counts = `${counted(files, 'file')}, ${counted(documents, 'document')}, ${counted(resources.length, 'resource')}`;
  const what = `${isSelection ? 'a selection of stack' : 'stack'} ${stack?.name ?? ''}, ${counts}`;
  printDiagnostics(terminal, diagnostics, `valid: ${what}`);
  if (!hasErrors(diagnostics)) textOutput(terminal)?.write(`${terminal.paint.added('valid')}: ${what}\n`);
  return exitCodeOf(diagnostics);
}
