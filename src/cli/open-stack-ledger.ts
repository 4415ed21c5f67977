/** For commands about the ledger alone: finds the stack and opens its store. Mistakes in manifests are none of theirs. */
import type { StackStore } from '../model/ledger.ts';
import type { Stack } from '../model/target.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { loadManifests } from './load-manifests.ts';
import { openLedger } from './open-ledger.ts';
import { printDiagnostics, type Screen } from './screen.ts';
import type { World } from './world.ts';

export interface StackLedger {
  readonly stack: Stack;
  /** to be closed */
  readonly store: StackStore;
}

/** An exit code when there is no valid stack; everything has been told then. */
export async function openStackLedger(
  path: string | undefined,
  { world, screen }: { readonly world: World; readonly screen: Screen },
): Promise<StackLedger | ExitCode> {
  const { stack, diagnostics } = await loadManifests(path, world);
  if (stack !== undefined) return { stack, store: await openLedger(stack, world) };
  printDiagnostics(screen, diagnostics);
  return exitCodeOf(diagnostics) || exitCodes.error;
}
