/** `trueup validate [path]`: every problem of every file in one run, offline; of a selection, of that alone. */
import { counted } from '../../model/counted.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics, type Screen } from '../terminal/terminal.ts';

export async function validate(
  path: string | undefined,
  { complete }: { readonly complete?: boolean },
  screen: Screen,
): Promise<ExitCode> {
  const { world } = screen;
  const manifests = await loadManifests(path, world, { complete });
  const { diagnostics, resources, files, documents, stack, isSelection } = manifests;
  if (diagnostics.length > 0 || screen.format === 'json') printDiagnostics(screen, diagnostics);
  if (hasErrors(diagnostics)) return exitCodeOf(diagnostics);
  if (screen.format === 'text') {
    const counts = `${counted(files, 'file')}, ${counted(documents, 'document')}, ${counted(resources.length, 'resource')}`;
    const what = isSelection ? 'a selection of stack' : 'stack';
    world.stdout.write(`${screen.paint.added('valid')}: ${what} ${stack?.name ?? ''}, ${counts}\n`);
  }
  return exitCodeOf(diagnostics);
}
