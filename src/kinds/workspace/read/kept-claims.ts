/**
 * Services that keep no claims (rule 48): they have no tag bindings, or drop them without a word. The latter is seen after a write
 * of ours, and the ledger keeps it until the claim is seen.
 */
import type { Json } from '../../../model/json/json.ts';
import type { AddressText } from '../../../model/resource/address.ts';
import type { LiveSet, MarkContext } from '../../../model/kind/kind.ts';
import { shownOwnershipTag } from '../../../model/resource/claim.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { LiveWorkspace, WorkspaceRecord } from '../workspace-types.ts';

const mark = 'claimLost';

/** The ledger's mark of a workspace whose claim was gone when it was read back. */
export function lostOwnershipTagMarks({
  lostClaim,
  live,
  record,
}: MarkContext<WorkspaceSpec, LiveWorkspace>): Readonly<Record<string, Json>> {
  const isShown = live !== undefined && shownOwnershipTag(live.witness) !== undefined;
  return lostClaim || (record?.marks?.[mark] === true && !isShown) ? { [mark]: true } : {};
}

const fix =
  'set "ownership: ledger" for the target: then the ledger alone says what is this stack\'s, and no other stack\'s claim is seen';

export const noOwnershipTags = {
  code: 'no-claims',
  class: 'invalid',
  message: 'the service has no tag bindings, so it cannot be seen there whose a workspace is',
  fix,
} as const;

/** Why nothing can be planned where no claim of any stack is seen, and one that we wrote was not kept. */
export function lostOwnershipTags(
  resources: readonly LiveWorkspace[],
  records: ReadonlyMap<AddressText, WorkspaceRecord>,
): LiveSet['refused'] {
  const live = new Set(resources.map(({ id }) => id));
  const lost = [...records.values()].find(({ id, marks }) => marks?.[mark] === true && live.has(id));
  const message =
    'the service does not keep claims: one that this stack wrote was gone when it was read back';
  return lost && { ...noOwnershipTags, message };
}
