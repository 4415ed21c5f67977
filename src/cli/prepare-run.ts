/** What `plan` and `apply` do before they differ: manifests, ledger, connections. Stops with an exit code when it cannot go on. */
import { join } from 'node:path';
import type { ReaderConnection } from '../http/open-target.ts';
import { localLedger } from '../ledger/local-file.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Ledger, LedgerStore } from '../model/ledger.ts';
import type { Stack } from '../model/target.ts';
import type { Connected } from './connect.ts';
import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import { loadManifests } from './load-manifests.ts';
import type { PlanRequest } from './make-plan.ts';
import { printDiagnostics, type Screen } from './screen.ts';
import type { World } from './world.ts';

export interface Prepared<C extends ReaderConnection> {
  readonly request: PlanRequest;
  readonly connected: Connected<C>;
  readonly ledger: Ledger;
  readonly store: LedgerStore;
}

/** An exit code when the manifests are not fit to be planned; everything has been told then. */
export async function prepareRun<C extends ReaderConnection>(
  path: string | undefined,
  { world, screen }: { world: World; screen: Screen },
  connect: (stack: Stack, world: World) => Promise<Connected<C>>,
): Promise<Prepared<C> | ExitCode> {
  const manifests = await loadManifests(path, world);
  const { stack, diagnostics } = manifests;
  if (stack === undefined || hasErrors(diagnostics)) {
    printDiagnostics(screen, diagnostics);
    return exitCodeOf(diagnostics);
  }
  if (diagnostics.length > 0) printDiagnostics(screen, diagnostics);
  const store = localLedger(ledgerFile(stack.directory, stack.name), stack.name);
  const ledger = await store.read();
  const connected = await connect(stack, world);
  return {
    request: {
      stack,
      kinds: world.kinds,
      resources: manifests.resources,
      files: manifests.files,
      documents: manifests.documents,
      manifestsComplete: manifests.complete,
      ledger,
      connected,
    },
    connected,
    ledger,
    store,
  };
}

/** One ledger a stack, beside its file. */
export function ledgerFile(directory: string, stack: string): string {
  return join(directory, '.trueup', `${stack}.ledger.json`);
}
