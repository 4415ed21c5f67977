/**
 * Resources that manifests refer to by name and that the stack declares itself, such as projects: a name refers to the declared
 * one, even if it does not exist yet. Until an apply creates it, its address stands in place of its id. Pure.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import { valueAt, withValueAt } from '../model/json.ts';
import type { KnownResources } from '../model/kind.ts';
import {
  addressInsteadOfId,
  type NameList,
  type NameLists,
  type NamedReference,
} from '../model/named-reference.ts';
import { isDeclaration, type Spec } from '../model/resource.ts';
import { findRenamed } from './match-ids.ts';

interface DeclaredObject {
  readonly address: AddressText;
  /** undefined: the plan creates it */
  readonly id: string | undefined;
}

export interface DeclaredObjects {
  /** The declared resource with this name. */
  find(reference: NamedReference, name: string): DeclaredObject | undefined;
  /** The name that the resource with this id has after the plan; undefined if it is not declared. */
  nameAfter(reference: NamedReference, id: string): string | undefined;
}

/** @param knownOf the declared and recorded resources of a kind in the target of the lists */
export function indexDeclaredObjects(
  lists: NameLists,
  knownOf: (kind: string) => KnownResources | undefined,
): DeclaredObjects {
  const made = new Map<string, ReturnType<typeof indexByName>>();
  const indexOf = ({ kind, objectType }: NamedReference) => {
    if (kind === undefined) return undefined;
    const index = made.get(kind) ?? indexByName(lists.get(objectType), knownOf(kind));
    made.set(kind, index);
    return index;
  };
  return {
    find: (reference, name) => indexOf(reference)?.byName.get(name),
    nameAfter: (reference, id) => indexOf(reference)?.names.get(id),
  };
}

function indexByName(list: NameList | undefined, known: KnownResources | undefined) {
  const byName = new Map<string, DeclaredObject>();
  const names = new Map<string, string>();
  if (list === undefined || known === undefined) return { byName, names };
  for (const [address, id] of idsOfDeclared(list, known)) {
    const { name } = parseAddress(address);
    byName.set(name, { address, id });
    if (id !== undefined) names.set(id, name);
  }
  return { byName, names };
}

/**
 * The ids of the declared resources, found in a list of all resources of their kind by the rules for renamed resources; undefined for
 * one that does not exist. Leaves out names that several resources have; empty if the list may be incomplete.
 */
export function idsOfDeclared(
  list: NameList,
  { declared, records, movedAway }: KnownResources,
): ReadonlyMap<AddressText, string | undefined> {
  const [first] = declared;
  if (first === undefined || list.problem !== undefined) return new Map();
  const placed = new Map(
    declared
      .filter((one) => isDeclaration(one) || one.metadata.movedTo !== undefined)
      .map((one) => [formatAddress(one.address), one] as const),
  );
  const live = new Map(
    [...list.byId].map(([id, name]) => {
      const address = { ...first.address, name };
      return [formatAddress(address), { address, id }] as const;
    }),
  );
  const renamed = findRenamed({
    placed,
    live,
    recordedId: (text) => records.get(text)?.id ?? movedAway?.get(text)?.id,
    isRenamable: () => true,
  });
  const found = (text: AddressText) => live.get(renamed.get(text) ?? text);
  const isUnique = (name: string | undefined) => name === undefined || list.byName.get(name)?.length === 1;
  return new Map(
    [...placed]
      .filter(([text, one]) => isDeclaration(one) && isUnique(found(text)?.address.name))
      .map(([text]) => [text, found(text)?.id] as const),
  );
}

// After the resource was created: replaces ids by addresses, and addresses by ids.

/**
 * A spec that was read, with ids replaced by addresses where the planned spec has an address because the id was not known yet.
 * @param created ids of resources that the apply has created
 */
export function withAddresses(
  spec: Spec,
  planned: Spec,
  {
    references,
    created,
  }: {
    readonly references: readonly NamedReference[];
    readonly created: ReadonlyMap<AddressText, string>;
  },
): Spec {
  if (created.size === 0) return spec;
  return references.reduce((into, { id: path }) => {
    const address = addressInsteadOfId(valueAt(planned, path));
    const id = address && created.get(formatAddress(address));
    return address === undefined || id === undefined || valueAt(into, path) !== id
      ? into
      : withValueAt(into, path, formatAddress(address));
  }, spec);
}

/** A spec with ids in place of the addresses of resources that exist by now. */
export function withIdsOf(
  spec: Spec,
  references: readonly NamedReference[],
  idOf: (address: AddressText) => string | undefined,
): Spec {
  return references.reduce((into, { id: path, kind }) => {
    const address = addressInsteadOfId(valueAt(into, path));
    const id = address !== undefined && address.kind === kind ? idOf(formatAddress(address)) : undefined;
    return id === undefined ? into : withValueAt(into, path, id);
  }, spec);
}
