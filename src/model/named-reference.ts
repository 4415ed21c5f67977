/**
 * Objects of a service that manifests give by name instead of by id, such as projects: the fields for names and ids, and the lists
 * in which names are looked up. A plan has the ids; names are only shown, and recorded with the ids that they had.
 */
import { type Address, type AddressText, parseAddress } from './address.ts';
import type { Json, Path } from './json.ts';

/** A field that gives an object by its name, in place of the field that gives it by its id. */
export interface NamedReference {
  /** path of the field with the name: `['vcsRepo', 'connection']` */
  readonly name: Path;
  /** path of the field with the id: `['vcsRepo', 'oauthTokenId']` */
  readonly id: Path;
  /** other fields that cannot be set together with the name, besides the field of the id */
  readonly besides?: readonly Path[];
  /** the word for such an object, in the singular: `agent pool`. There is one list for each word */
  readonly objectType: string;
  /** the kind of these objects, if a stack can manage them */
  readonly kind?: string;
}

/** A name, and the id that it has in a target. */
export interface NamedId {
  readonly name: string;
  /** the address, if the same plan creates it */
  readonly id: string;
  /** the address of the document, if the stack declares it; never recorded */
  readonly declaredAs?: AddressText;
}

/** By the path of the field with the id, with dots: `vcsRepo.oauthTokenId`. */
export type NamedIds = Readonly<Record<string, NamedId>>;

/** All objects of one sort in a target. */
export interface NameList {
  readonly byName: ReadonlyMap<string, readonly string[]>;
  readonly byId: ReadonlyMap<string, string>;
  /** why objects may be missing, as a clause: then no name counts as found, because a missing object may have the same name */
  readonly problem?: string;
}

/** The lists of one target that were read, by what they contain. */
export type NameLists = ReadonlyMap<string, NameList>;

/** @param objects only those that have a name: others can be given by id alone */
export function nameList(objects: readonly NamedId[], problem?: string): NameList {
  return {
    byName: new Map(
      [...Map.groupBy(objects, ({ name }) => name)].map(([name, all]) => [name, all.map(({ id }) => id)]),
    ),
    byId: new Map(objects.map(({ id, name }) => [id, name])),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** The name of an object if no other object can have it; otherwise undefined. */
export function uniqueName(list: NameList | undefined, id: string): string | undefined {
  const name = list?.problem === undefined ? list?.byId.get(id) : undefined;
  return name !== undefined && list?.byName.get(name)?.length === 1 ? name : undefined;
}

/**
 * The address of an object that the same plan creates, if the value is an address in place of an id. Ids have no slash.
 */
export function addressInsteadOfId(value: Json | undefined): Address | undefined {
  return typeof value === 'string' && /^[A-Z]\w*\/[^/]+\/./.test(value) ? parseAddress(value) : undefined;
}

/** A path with dots, as in the keys of `NamedIds`. */
export function nameKey(path: Path): string {
  return path.join('.');
}
