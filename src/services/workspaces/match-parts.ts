/**
 * Finds the workspaces of parts: by name; else by the record's id or by `renamedFrom`, so that a renamed workspace does not
 * seem to be gone (rules 8, 26). Each workspace is matched with one address only: a declared address takes precedence over a
 * record under its former name.
 */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { ReadRequest } from '../../model/kind/kind.ts';
import type { WorkspaceList } from './list-workspaces.ts';
import { workspaceOf } from './workspace-address.ts';
import type { WorkspaceItem } from './workspace-item.ts';

export interface MatchedPart {
  readonly address: Address;
  readonly item: WorkspaceItem;
}

/** @param part kind and target for the addresses of undeclared parts */
export function placeParts(
  list: WorkspaceList,
  { declared, records, record, undeclared }: ReadRequest,
  part: Omit<Address, 'name'>,
): readonly MatchedPart[] {
  const byName = (name: string | undefined) => (name === undefined ? undefined : list.byName.get(name));
  // The whole's record comes first: a part's record may be about a former workspace that was deleted and created again.
  const byRecord = (address: Address) =>
    [record(workspaceOf(address)), records.get(formatAddress(address))]
      .map((known) => list.byId.get(known?.id ?? ''))
      .find((item) => item !== undefined);
  const placed = new Map<string, MatchedPart>();
  const place = (address: Address, item: WorkspaceItem | undefined) => {
    if (item !== undefined && !placed.has(item.id)) placed.set(item.id, { address, item });
  };
  for (const { address } of declared) place(address, byName(address.name));
  for (const { address, metadata } of declared) {
    if (byName(address.name) !== undefined) continue;
    place(address, byRecord(address) ?? byName(metadata.renamedFrom));
  }
  const isDeclared = new Set(declared.map(({ address }) => formatAddress(address)));
  for (const text of records.keys()) {
    if (isDeclared.has(text)) continue;
    const address = parseAddress(text);
    place(address, byName(address.name) ?? byRecord(address));
  }
  for (const item of list.items) if (undeclared?.(item.name)) place({ ...part, name: item.name }, item);
  return [...placed.values()];
}
