/** Who loses access to a state when its workspace is deleted: whoever may read it now and outlives it. Pure. */
import type { Address } from '../../model/resource/address.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import { edgesOf } from './edges.ts';
import type { LiveConsumers } from './read-edges.ts';

export function losses(
  { address, facts }: LiveConsumers,
  outlives: (address: Address, id: string) => boolean,
): readonly string[] {
  // With whom it is shared more widely, nobody lists; whether any of them reads it, nobody can tell.
  if (facts.global === true) return [sharedWith('organization')];
  if (facts.project === true) return [sharedWith('project')];
  const losers = [...edgesOf(facts.edges)]
    .filter(([name, id]) => outlives({ ...workspaceOf(address), name }, id))
    .map(([name]) => `"${name}"`);
  if (losers.length === 0) return [];
  return [`workspaces that stay lose access to its state: ${losers.toSorted().join(', ')}`];
}

function sharedWith(whom: string): string {
  return `its state is shared with the whole ${whom}: workspaces that read it lose access`;
}
