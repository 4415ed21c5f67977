/** Finds who loses access to a state when its workspace is deleted: all current consumers that still exist afterwards. Pure. */
import type { Address } from '../../model/resource/address.ts';
import { quoted } from '../../model/quoted.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import { edgesOf } from './edges.ts';
import type { LiveConsumers } from './read-edges.ts';

export function losses(
  { address, facts }: LiveConsumers,
  outlives: (address: Address, id: string) => boolean,
): readonly string[] {
  // While it is shared with all, there is no list, and it is unknown which workspaces read the state.
  if (facts.global === true) return [sharedWith('organization')];
  if (facts.project === true) return [sharedWith('project')];
  if (facts.untold === true)
    return ['nobody can tell who reads its state: the service has no remote state consumers'];
  const losing = [...edgesOf(facts.edges)]
    .filter(([name, id]) => outlives({ ...workspaceOf(address), name }, id))
    .map(([name]) => quoted(name));
  if (losing.length === 0) return [];
  return [`workspaces that stay lose access to its state: ${losing.toSorted().join(', ')}`];
}

function sharedWith(whom: string): string {
  return `its state is shared with the whole ${whom}: workspaces that read it lose access`;
}
