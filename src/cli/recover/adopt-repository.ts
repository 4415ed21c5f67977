/**
 * `trueup recover --adopt-repository [path]`, where the ledger is whole: this repository continues the one that the ledger was written
 * from, and takes over resources whose ownership tags have another id. Reads the targets and writes only the ledger.
 */
import type { CommandContext } from '../command-context.ts';
import { describeRepository } from '../ledger/repository-problem.ts';
import { holdLock, endAfter } from '../ledger/hold-lock.ts';
import { identifyRun } from '../run/identify-run.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { RunTime } from '../run/run-time.ts';
import type { Ledger, StackStore } from '../../model/stack/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanInput } from '../../plan/build-plan.ts';
import { printable } from '../../report/format/printable.ts';
import { idMembers, idsInTags, repositoryMember } from './tag-ids.ts';

interface Adoption {
  readonly input: PlanInput;
  readonly ledger: Ledger;
  readonly store: StackStore;
  readonly path: string | undefined;
  readonly stop: AbortSignal;
  readonly time: RunTime;
  /** @returns an exit code when the ledger may not be written */
  ask(): Promise<ExitCode | undefined>;
}

export async function adoptRepository(
  { input, ledger, store, path, stop, time, ask }: Adoption,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const { stack } = input;
  const print = (line: string) => host.stdout.write(`${line}\n`);
  const tags = idsInTags(input);
  const foreign = [...tags].filter(([id]) => id !== ledger.stackId);
  const repository = await repositoryMember(stack, host);
  const was =
    ledger.repository === undefined ? 'an unknown repository' : describeRepository(ledger.repository);
  const is =
    repository.repository === undefined ? 'no repository' : describeRepository(repository.repository);
  print(`The ledger was written from ${printable(was)}. From now on it belongs to ${printable(is)}.`);
  for (const [id, texts] of foreign)
    print(
      `These have the id ${quoted(id)} in their ownership tag, and become this stack's:\n  ${texts.map(printable).join('\n  ')}`,
    );
  const refusal = await ask();
  if (refusal !== undefined) return refusal;
  const run = identifyRun(host);
  const { deadline } = time;
  const held = await holdLock({ store, stack: stack.name, run, timeout: 0, path, stop, deadline }, terminal);
  if (typeof held === 'number') return held;
  const writing = async () => {
    const ids = [...(ledger.takenIds ?? []), ...foreign.map(([id]) => id)];
    const { takenIds: _, stackId: __, ...rest } = await store.read();
    await store.write({ ...rest, ...repository, ...idMembers([...new Set(ids)], ledger.stackId) });
    print('The ledger was written. The next apply writes the id of this stack into those tags.');
    return exitCodes.done;
  };
  return endAfter(writing, held.release);
}
