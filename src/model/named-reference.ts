/**
 * Things of a service that are no resources of ours, such as projects, by their names: the fields that name them, and the lists in
 * which the names are looked up. A plan has their ids; the names are only shown, and recorded with the ids that they had.
 */
import { type Address, type AddressText, parseAddress } from './address.ts';
import type { Json, Path } from './json.ts';

/** A field that gives a thing by its name, in place of the field that gives it by its id. */
export interface NamedReference {
  /** of the field with the name: `['vcsRepo', 'connection']` */
  readonly name: Path;
  /** of the field with the id: `['vcsRepo', 'oauthTokenId']` */
  readonly id: Path;
  /** other fields that exclude the name, besides the one with the id */
  readonly besides?: readonly Path[];
  /** what it is, in the singular: `agent pool`. One list for each */
  readonly what: string;
  /** the kind whose documents are such things, if a stack can manage them */
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

/** All things of one sort in a target. */
export interface NameList {
  readonly byName: ReadonlyMap<string, readonly string[]>;
  readonly byId: ReadonlyMap<string, string>;
  /** why things may be missing, as a clause: then no name counts as found, because another thing may have it, too */
  readonly problem?: string;
}

/** The lists of one target that were read, by what they contain. */
export type NameLists = ReadonlyMap<string, NameList>;

/** @param things only those that have a name: others can be given by id alone */
export function nameList(things: readonly NamedId[], problem?: string): NameList {
  return {
    byName: new Map(
      [...Map.groupBy(things, ({ name }) => name)].map(([name, all]) => [name, all.map(({ id }) => id)]),
    ),
    byId: new Map(things.map(({ id, name }) => [id, name])),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** The name that only this thing has; undefined if there is none, or if others may have it. */
export function uniqueName(list: NameList | undefined, id: string): string | undefined {
  const name = list?.problem === undefined ? list?.byId.get(id) : undefined;
  return name !== undefined && list?.byName.get(name)?.length === 1 ? name : undefined;
}

/**
 * The address of a thing that the same plan creates, which a value has in place of its id. Ids have no slash.
 */
export function createdThing(value: Json | undefined): Address | undefined {
  return typeof value === 'string' && /^[A-Z]\w*\/[^/]+\/./.test(value) ? parseAddress(value) : undefined;
}

/** The key of a field with an id among names. */
export function nameKey(path: Path): string {
  return path.join('.');
}
