/**
 * `trueup recover --adopt-repository [path]` for an intact ledger: this repository continues the one that the ledger was
 * written from, and takes over resources whose ownership tags have another stack id. Reads the targets and writes only the
 * ledger.
 */
import { stackRepository } from '../../ledger/git/checkout.ts';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import type { Ledger, StackStore } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { ownOwnershipTag } from '../../model/resource.ts';
import type { Stack } from '../../model/stack.ts';
import type { PlanInput } from '../../plan/build-plan.ts';
import { printable } from '../../report/view/printable.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { describeRepository } from '../../run/ledger-head.ts';
import { endAfter, holdLock } from '../../run/lock.ts';
import { identifyRun } from '../../run/origin.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import type { CommandContext } from '../../run/terminal.ts';

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

// The ids of stacks in the ownership tags that were read, and how a ledger takes them over.

/** By id, the resources whose tag has it and names this stack. */
export function idsInTags({ targets, stack }: PlanInput): ReadonlyMap<string, readonly AddressText[]> {
  const tagged = targets.flatMap(({ sets }) =>
    [...sets.values()].flatMap(({ resources }) =>
      resources.flatMap(({ address, witness }) => {
        const claim = ownOwnershipTag(witness);
        const isOfStack = claim?.stack === stack.name || claim?.stack === stack.renamedFrom;
        return claim?.id !== undefined && isOfStack ? [{ id: claim.id, text: formatAddress(address) }] : [];
      }),
    ),
  );
  const byId = Map.groupBy(tagged, ({ id }) => id);
  return new Map([...byId].map(([id, some]) => [id, [...new Set(some.map(({ text }) => text))].sort()]));
}

/** The id that the tags agree on; several ids are taken over, and the next apply writes its own in their place. */
export function idMembers(ids: readonly string[], own?: string): Pick<Ledger, 'stackId' | 'takenIds'> {
  const others = ids.filter((id) => id !== own);
  const [only] = others;
  if (own === undefined && others.length === 1 && only !== undefined) return { stackId: only };
  return {
    ...(own === undefined ? {} : { stackId: own }),
    ...(others.length === 0 ? {} : { takenIds: others.toSorted() }),
  };
}

/** Where the stack file is now. */
export async function repositoryMember(
  { directory, file }: Stack,
  { env }: Pick<CliHost, 'env'>,
): Promise<Pick<Ledger, 'repository'>> {
  const { root, isGit } = await findRepository(directory);
  const found = isGit ? await stackRepository({ directory, env }, root, file) : undefined;
  return found === undefined ? {} : { repository: found.applied };
}
