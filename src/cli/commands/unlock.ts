/**
 * `trueup unlock --id ID [path]`: takes away a lock whose run is over. The id says which one, so that no other can go;
 * a run that was not over after all can write neither ledger nor targets afterwards.
 */
import type { LedgerLock, StackStore } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import { lockLines } from '../../report/terminal/lock-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { hearStops } from '../stop/stop-signals.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import { withStackLedger } from '../ledger/open-stack-ledger.ts';
import { raiseSerial } from '../ledger/raise-serial.ts';
import type { RunTime } from '../run/run-time.ts';
import { printError, type Screen } from '../terminal/terminal.ts';
import type { World } from '../cli-host.ts';

export interface UnlockOptions {
  readonly id: string;
  /** seconds that the run may take */
  readonly timeout?: number;
}

export async function unlock(
  path: string | undefined,
  { id, timeout }: UnlockOptions,
  place: { readonly world: World; readonly screen: Screen },
): Promise<ExitCode> {
  const { world, screen } = place;
  const tellRemoved = (name: string, lock: LedgerLock) => {
    world.stdout.write(`Unlocked stack "${name}"; removed the lock of\n${lockLines(lock).join('\n')}\n`);
    return exitCodes.done;
  };
  const stops = hearStops(world);
  return withStackLedger(path, { ...place, timeout, stops }, async ({ stack, store, time }) => {
    const removed = await takeAway(id, store, world);
    if (removed !== undefined) return tellRemoved(stack.name, removed);
    // An apply of a stack that goes on under another name holds the lock of the former one, too.
    const former = stack.renamedFrom;
    const formers =
      former === undefined ? undefined : await unlockFormer(id, { ...stack, name: former }, { world, time });
    if (former !== undefined && formers !== undefined) return tellRemoved(former, formers);
    const held = await store.readLock();
    const why =
      held === undefined ? 'nobody holds it' : `it is held under another one:\n${lockLines(held).join('\n')}`;
    printError(screen, `stack "${stack.name}" is not locked with this id: ${why}`);
    return exitCodes.error;
  });
}

/** The serial first: as soon as the lock is free, another run may begin. */
async function takeAway(
  id: string,
  store: StackStore,
  { stderr }: Pick<World, 'stderr'>,
): Promise<LedgerLock | undefined> {
  if ((await store.readLock())?.id !== id) return undefined;
  const unraised = await raiseSerial(store);
  if (unraised !== undefined) stderr.write(`${unraised}\n`);
  return store.unlock(id);
}

async function unlockFormer(
  id: string,
  stack: Stack,
  { world, time }: { readonly world: World; readonly time: RunTime },
): Promise<LedgerLock | undefined> {
  const store = await openLedger(stack, world, time);
  try {
    return await takeAway(id, store, world);
  } finally {
    await store.close();
  }
}
