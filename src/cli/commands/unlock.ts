/** `trueup unlock --id ID [path]`: takes away a lock whose run is over. The id says which one, so that no other can go. */
import type { LedgerLock } from '../../model/ledger.ts';
import type { Stack } from '../../model/target.ts';
import { lockLines } from '../../report/lock-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { openLedger } from '../open-ledger.ts';
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
  const tellRemoved = (name: string, lock: LedgerLock) => {
    world.stdout.write(`Unlocked stack "${name}"; removed the lock of\n${lockLines(lock).join('\n')}\n`);
    return exitCodes.done;
  };
  try {
    const removed = await store.unlock(id);
    if (removed !== undefined) return tellRemoved(stack.name, removed);
    // An apply of a stack that goes on under another name holds the lock of the former one, too.
    const former = stack.renamedFrom;
    const formers =
      former === undefined ? undefined : await unlockFormer(id, { ...stack, name: former }, world);
    if (former !== undefined && formers !== undefined) return tellRemoved(former, formers);
    const held = await store.readLock();
    const why =
      held === undefined ? 'nobody holds it' : `it is held under another one:\n${lockLines(held).join('\n')}`;
    printError(screen, `stack "${stack.name}" is not locked with this id: ${why}`);
    return exitCodes.error;
  } finally {
    await store.close();
  }
}

async function unlockFormer(id: string, stack: Stack, world: World): Promise<LedgerLock | undefined> {
  const store = await openLedger(stack, world);
  try {
    return await store.unlock(id);
  } finally {
    await store.close();
  }
}
