/** `trueup validate [path]`: every problem of every file in one run, offline. */
import { hasErrors } from '../../model/diagnostic.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { printDiagnostics, type Screen } from '../screen.ts';
import type { World } from '../world.ts';

export async function validate(path: string | undefined, world: World, screen: Screen): Promise<ExitCode> {
  const { diagnostics, resources, files, documents, stack } = await loadManifests(path, world);
  if (diagnostics.length > 0 || screen.format === 'json') printDiagnostics(screen, diagnostics);
  if (hasErrors(diagnostics)) return exitCodeOf(diagnostics);
  if (screen.format === 'text') {
    const counts = `${count(files, 'file')}, ${count(documents, 'document')}, ${count(resources.length, 'resource')}`;
    world.stdout.write(`${screen.paint.added('valid')}: stack ${stack?.name ?? ''}, ${counts}\n`);
  }
  return exitCodeOf(diagnostics);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
