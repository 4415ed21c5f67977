/**
 * Which workspace stands behind the documents that describe a part of one. By name; else the one that the ledger or
 * `renamedFrom` knows under its old name, so that a rename never looks like a loss (rules 8, 26). No workspace stands
 * behind two addresses: the declared one has it, and a record of its former name finds nothing.
 */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { ReadRequest } from '../../model/kind/kind.ts';
import type { WorkspaceList } from './list-workspaces.ts';
import { workspaceOf } from './workspace-address.ts';
import type { WorkspaceItem } from './workspace-item.ts';

export interface Placed {
  readonly address: Address;
  readonly item: WorkspaceItem;
}

/** @param part kind and target of the parts, for those that nobody declares */
export function placeParts(
  list: WorkspaceList,
  { declared, records, record, undeclared }: ReadRequest,
  part: Omit<Address, 'name'>,
): readonly Placed[] {
  const byName = (name: string | undefined) => (name === undefined ? undefined : list.byName.get(name));
  // The whole's own record comes first: a part's may still tell of a workspace that is gone and was made anew.
  const byRecord = (address: Address) =>
    [record(workspaceOf(address)), records.get(formatAddress(address))]
      .map((known) => list.byId.get(known?.id ?? ''))
      .find((item) => item !== undefined);
  const placed = new Map<string, Placed>();
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
