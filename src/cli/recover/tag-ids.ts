/** The ids of stacks in the ownership tags that were read, and how a ledger takes them over. */
import { ownOwnershipTag } from '../../model/resource/claim.ts';
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Ledger } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import type { PlanInput } from '../../plan/build-plan.ts';
import { findRepository } from '../../manifest/files/find-repository.ts';
import { stackRepository } from '../../ledger/git/stack-repository.ts';
import type { CliHost } from '../cli-host.ts';

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
