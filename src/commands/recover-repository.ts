/**
 * `trueup recover --adopt-repository [path]` for an intact ledger: this repository continues the one that the ledger was
 * written from, and takes over resources whose ownership tags have another stack id. Reads the targets and writes only the
 * ledger.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Ledger } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { ownOwnershipTag } from '../model/resource.ts';
import type { PlanInput } from '../plan/build-plan.ts';
import { printable } from '../report/view/printable.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { describeRepository, repositoryMember } from '../run/ledger-head.ts';
import { refuseSecretNames } from '../run/needed-secrets.ts';
import { answer, askToWrite, type RecoverRun, say, underLock } from './recover-run.ts';

export async function adoptRepository(run: RecoverRun, ledger: Ledger, input: PlanInput): Promise<ExitCode> {
  const { stack, resources, store, host } = run;
  const print = (line: string) => say(run, line);
  const tags = idsInTags(input);
  const foreign = [...tags].filter(([id]) => id !== ledger.stackId);
  const repository = await repositoryMember(stack, host);
  const was =
    ledger.repository === undefined ? 'an unknown repository' : describeRepository(ledger.repository);
  const is =
    repository.repository === undefined ? 'no repository' : describeRepository(repository.repository);
  print(
    was === is
      ? `The ledger was written from ${printable(is)}, which is this stack file.`
      : `The ledger was written from ${printable(was)}. It will belong to ${printable(is)}.`,
  );
  for (const [id, texts] of foreign)
    print(
      `These resources have the id ${quoted(id)} in their ownership tag. They will belong to this stack:\n  ${texts.map(printable).join('\n  ')}`,
    );
  const recovery = {
    action: 'adopt-repository',
    was,
    is,
    ids: new Map(foreign),
    records: ledger.records,
  } as const;
  answer(run, recovery, false);
  refuseSecretNames(resources, host);
  await askToWrite(run);
  return underLock(run, async () => {
    const { takenIds = [], stackId, ...rest } = await store.read();
    const ids = [...takenIds, ...foreign.map(([id]) => id)];
    // The new id stops applies of the repository whose id is in the tags.
    const own = stackId ?? (ids.length === 0 ? undefined : host.newId().slice(0, 8));
    await store.write({ ...rest, ...repository, ...idMembers([...new Set(ids)], own) });
    const next = foreign.length === 0 ? '' : ' The next apply writes the id of this stack into those tags.';
    print(`The ledger was written.${next}`);
    answer(run, recovery, true);
    return exitCodes.done;
  });
}

// The ids of stacks in the ownership tags that were read, and how a ledger takes them over.

type StackIdMembers = Pick<Ledger, 'stackId' | 'takenIds'>;

/** The resources with an ownership tag of this stack, by the id in the tag. */
export function idsInTags({ targets, stack }: PlanInput): ReadonlyMap<string, readonly AddressText[]> {
  const tagged = targets.flatMap(({ sets }) =>
    [...sets.values()].flatMap(({ resources }) =>
      resources.flatMap(({ address, evidence }) => {
        const ownershipTag = ownOwnershipTag(evidence);
        const isOfStack = ownershipTag?.stack === stack.name || ownershipTag?.stack === stack.renamedFrom;
        return ownershipTag?.id !== undefined && isOfStack
          ? [{ id: ownershipTag.id, text: formatAddress(address) }]
          : [];
      }),
    ),
  );
  const byId = Map.groupBy(tagged, ({ id }) => id);
  return new Map([...byId].map(([id, some]) => [id, [...new Set(some.map(({ text }) => text))].sort()]));
}

/** The ids of a rebuilt ledger. A stack that continues another repository gets a new id, so that applies of the other one stop. */
export function idsAfterLoss(ids: readonly string[], adopts: boolean, { newId }: CliHost): StackIdMembers {
  return idMembers(ids, adopts ? newId().slice(0, 8) : undefined);
}

/** If all tags have one id, it becomes the id of the ledger. Several ids are taken over, and the next apply replaces them in the tags. */
function idMembers(ids: readonly string[], own?: string): StackIdMembers {
  const others = ids.filter((id) => id !== own);
  const [only] = others;
  if (own === undefined && others.length === 1 && only !== undefined) return { stackId: only };
  return {
    ...(own === undefined ? {} : { stackId: own }),
    ...(others.length === 0 ? {} : { takenIds: others.toSorted() }),
  };
}

/** The ids in the ownership tags say which stack owns the resources, so the user must see them before the ledger takes them over. */
export function reportIds(
  tags: ReturnType<typeof idsInTags>,
  { stackId }: StackIdMembers,
  run: RecoverRun,
): void {
  for (const [id, texts] of tags) {
    const whose =
      id === stackId
        ? 'which becomes the id of this ledger. If they belong to a stack of this name in another repository, do not write it: rename one of the two stacks'
        : `and become this stack's: the next apply writes the id ${quoted(stackId ?? '')} there`;
    say(
      run,
      `\nThese have the id ${quoted(id)} in their ownership tag, ${whose}:\n  ${texts.map(printable).join('\n  ')}`,
    );
  }
}
