/** `trueup unlock --id ID [path]`: takes away a lock whose run is over. The id says which one, so that no other can go. */
import { lockLines } from '../../report/lock-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { openStackLedger } from '../open-stack-ledger.ts';
import { printError, type Screen } from '../screen.ts';
import type { World } from '../world.ts';

export async function unlock(
  path: string | undefined,
  { id }: { readonly id: string },
  place: { readonly world: World; readonly screen: Screen },
): Promise<ExitCode> {
  const { world, screen } = place;
  const opened = await openStackLedger(path, place);
  if (typeof opened === 'number') return opened;
  const { stack, store } = opened;
  try {
    const removed = await store.unlock(id);
    if (removed !== undefined) {
      world.stdout.write(
        `Unlocked stack "${stack.name}"; removed the lock of\n${lockLines(removed).join('\n')}\n`,
      );
      return exitCodes.done;
    }
    const held = await store.readLock();
    const why =
      held === undefined ? 'nobody holds it' : `it is held under another one:\n${lockLines(held).join('\n')}`;
    printError(screen, `stack "${stack.name}" is not locked with this id: ${why}`);
    return exitCodes.error;
  } finally {
    await store.close();
  }
}
