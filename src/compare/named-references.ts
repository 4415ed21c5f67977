/**
 * Finds the ids of resources that manifests refer to by name, in lists that were read before, and the names to show for ids. Pure.
 * A name counts only if exactly one resource has it, in the same spelling.
 */
import { formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FieldChange, ShownName } from '../model/field.ts';
import { type Json, type Path, valueAt, withValueAt } from '../model/json.ts';
import {
  addressInsteadOfId,
  type NamedId,
  type NameList,
  type NameLists,
  type NamedReference,
  nameKey,
  uniqueName,
} from '../model/named-reference.ts';
import { nearestWords } from '../model/nearest-word.ts';
import { orList, quoted, quoteSome } from '../model/quoted.ts';
import type { DesiredResource, Spec } from '../model/resource.ts';
import type { DeclaredObjects } from './declared-objects.ts';

interface Lookup {
  readonly references: readonly NamedReference[];
  readonly lists: NameLists;
  /** the resources that the stack itself declares */
  readonly declaredObjects?: DeclaredObjects;
}

interface UnknownName {
  readonly reference: NamedReference;
  readonly name: string;
  /** the plan renames the resource with this name to this other name */
  readonly becomes?: string;
}

interface ResolvedSpec {
  /** with ids in place of names; a name that was not found is left out */
  readonly spec: Spec;
  readonly names: Readonly<Record<string, NamedId>>;
  readonly unknown: readonly UnknownName[];
}

/** The references that a spec gives by name. */
export function namedIn(spec: Spec, references: readonly NamedReference[]): readonly NamedReference[] {
  return references.filter(({ name }) => typeof valueAt(spec, name) === 'string');
}

export function resolveSpec(spec: Spec, { references, lists, declaredObjects }: Lookup): ResolvedSpec {
  const names: Record<string, NamedId> = {};
  const unknown: UnknownName[] = [];
  let resolved = spec;
  for (const reference of references) {
    const name = valueAt(spec, reference.name);
    if (name === undefined) continue;
    resolved = withValueAt(resolved, reference.name, undefined);
    // Null means none, as with an id.
    const found =
      typeof name === 'string' ? findByName(name, reference, { lists, declaredObjects }) : undefined;
    const id = typeof name === 'string' ? found?.id : name;
    if (typeof name === 'string') {
      if (found?.id === undefined) unknown.push({ reference, name, ...found });
      else names[nameKey(reference.id)] = { ...found, name, id: found.id };
    }
    if (id !== undefined) resolved = withValueAt(resolved, reference.id, id);
  }
  return { spec: resolved, names, unknown };
}

function findByName(
  name: string,
  reference: NamedReference,
  {
    lists,
    declaredObjects,
  }: Pick<Lookup, 'lists'> & { readonly declaredObjects: DeclaredObjects | undefined },
): Partial<Pick<NamedId, 'id' | 'declaredAs'>> & Pick<UnknownName, 'becomes'> {
  const declared = declaredObjects?.find(reference, name);
  if (declared !== undefined) return { id: declared.id ?? declared.address, declaredAs: declared.address };
  const id = idOf(lists.get(reference.objectType), name);
  const becomes = id === undefined ? undefined : declaredObjects?.nameAfter(reference, id);
  if (becomes !== undefined) return { becomes };
  return id === undefined ? {} : { id };
}

function idOf(list: NameList | undefined, name: string): string | undefined {
  const [id, ...others] = list?.problem === undefined ? (list?.byName.get(name) ?? []) : [];
  return others.length === 0 ? id : undefined;
}

/** A resource with ids in place of names; `problems` has an error for each name without an id. */
interface NamesResolved {
  readonly resource: DesiredResource;
  readonly problems: readonly Diagnostic[];
}

interface LookupInTarget extends Lookup {
  /** the ids that the ledger has recorded for this name */
  recorded(objectType: string, name: string): readonly string[];
}

export function resolveNames(resource: DesiredResource, context: LookupInTarget): NamesResolved {
  const { references } = context;
  if (references.every(({ name }) => valueAt(resource.spec, name) === undefined))
    return { resource, problems: [] };
  const { spec, names, unknown } = resolveSpec(resource.spec, context);
  return {
    resource: new ResolvedResource(resource, { spec, names, references }),
    problems: unknown.map((one) => unknownName(resource, one, context)),
  };
}

/** A class, because separate getters and functions in each of thousands of objects would take most of the memory. */
class ResolvedResource implements DesiredResource {
  readonly address: DesiredResource['address'];
  readonly metadata: DesiredResource['metadata'];
  readonly spec: Spec;
  readonly names: Readonly<Record<string, NamedId>>;
  readonly #written: DesiredResource;
  readonly #references: readonly NamedReference[];

  constructor(
    written: DesiredResource,
    about: Pick<ResolvedSpec, 'spec' | 'names'> & Pick<Lookup, 'references'>,
  ) {
    this.address = written.address;
    this.metadata = written.metadata;
    this.spec = about.spec;
    this.names = about.names;
    this.#written = written;
    this.#references = about.references;
  }

  get place(): DesiredResource['place'] {
    return this.#written.place;
  }

  /** The place of an id is the place of the name that the manifest has instead. */
  get placeOf(): DesiredResource['placeOf'] {
    return (path, side) => this.#written.placeOf(this.#named(path)?.name ?? path, side);
  }

  get fromDefaults(): readonly string[] {
    const { fromDefaults } = this.#written;
    return fromDefaults.map(
      (field) => this.#references.find(({ name: [first] }) => first === field)?.id[0] ?? field,
    );
  }

  #named(path: Path): NamedReference | undefined {
    const key = nameKey(path);
    return this.#references.find(
      ({ id, name }) => nameKey(id) === key && valueAt(this.#written.spec, name) !== undefined,
    );
  }
}

function unknownName(
  { address, placeOf }: DesiredResource,
  { reference, name, becomes }: UnknownName,
  { lists, recorded }: LookupInTarget,
): Diagnostic {
  const { objectType } = reference;
  const place = placeOf(reference.name);
  const refers = `${quoted(formatAddress(address))} refers to the ${objectType} ${quoted(name)}`;
  const byId = `write its id as ${quoted(nameKey(reference.id))}`;
  const list = lists.get(objectType);
  const about = { severity: 'error', place } as const;
  if (list === undefined || list.problem !== undefined)
    return {
      ...about,
      code: 'unknown-reference',
      class: 'incomplete',
      message: `${refers}, and the ${objectType}s of target ${quoted(address.target)} could not be read: ${list?.problem ?? 'they were not asked for'}`,
      fix: `let the token read the ${objectType}s, if the service has them, or ${byId}`,
    };
  if (becomes !== undefined)
    return {
      ...about,
      code: 'unknown-reference',
      class: 'invalid',
      message: `${refers}, which this plan renames to ${quoted(becomes)}`,
      fix: `write ${quoted(`${nameKey(reference.name)}: ${becomes}`)}`,
    };
  const same = list.byName.get(name) ?? [];
  if (same.length > 1)
    return {
      ...about,
      code: 'ambiguous-reference',
      class: 'invalid',
      message: `${refers}, and ${same.length} ${objectType}s have this name: ${quoteSome(same.toSorted())}`,
      fix: `${byId}, or give them different names in the service`,
    };
  return {
    ...about,
    code: 'unknown-reference',
    class: 'invalid',
    message: `${refers}, which target ${quoted(address.target)} does not have, as far as its token can read`,
    ...notFound(reference, name, { list, recorded: recorded(objectType, name) }),
  };
}

/** What happened to the resource that had the name, or which name may be meant. */
function notFound(
  { objectType, name: path, id: idPath }: NamedReference,
  name: string,
  { list, recorded }: { readonly list: NameList; readonly recorded: readonly string[] },
): Pick<Diagnostic, 'found' | 'allowed' | 'fix'> {
  const [field, idField] = [nameKey(path), nameKey(idPath)];
  const renamed = recorded.flatMap((id) => {
    const now = list.byId.get(id);
    return now === undefined ? [] : [{ id, now }];
  })[0];
  if (renamed !== undefined)
    return {
      found: `the ${objectType} that had this name when it was applied (${renamed.id}) is now called ${quoted(renamed.now)}`,
      fix: `write ${quoted(`${field}: ${renamed.now}`)}, or give the ${objectType} its former name again`,
    };
  if (list.byId.has(name))
    return {
      found: `the id of the ${objectType} ${quoted(list.byId.get(name) ?? '')}`,
      fix: `write ${quoted(`${idField}: ${name}`)}, or the name`,
    };
  const near = nearest(list, name);
  return near.length === 0
    ? {
        allowed: knownNames(list, objectType),
        fix: `correct the name, or create the ${objectType} in the service`,
      }
    : { fix: `did you mean ${orList(near.map(quoted))}?` };
}

/**
 * The maximum number of unknown names for which similar ones are searched: a list may have thousands of names. If more names are
 * unknown, the cause is not their spelling. A mistake that many documents repeat counts once.
 */
const maxSearched = 20;
const nearestKnown = new WeakMap<NameList, Map<string, readonly string[]>>();

function nearest(list: NameList, name: string): readonly string[] {
  const known = nearestKnown.get(list) ?? new Map<string, readonly string[]>();
  nearestKnown.set(list, known);
  const isSearched = known.has(name) || known.size < maxSearched;
  if (!isSearched) return [];
  const found = known.get(name) ?? nearestWords(name, list.byName.keys());
  known.set(name, found);
  return found;
}

/** Names only a few, because an organization may have thousands. */
function knownNames({ byName }: NameList, objectType: string): string {
  return byName.size === 0
    ? `an id, as no ${objectType} with a name was found`
    : quoteSome([...byName.keys()], 5);
}

/** A spec with names in place of ids, where only one resource has the name. */
export function withUniqueNames(spec: Spec, { references, lists }: Lookup): Spec {
  return references.reduce((into, { id: path, name: at, objectType }) => {
    const id = valueAt(into, path);
    const name = typeof id === 'string' ? uniqueName(lists.get(objectType), id) : undefined;
    return name === undefined ? into : withValueAt(withValueAt(into, path, undefined), at, name);
  }, spec);
}

// The names of the ids in the fields of a change.

export function withNames<F extends FieldChange>(
  fields: readonly F[],
  { references, lists }: Lookup,
): readonly F[] {
  if (lists.size === 0) return fields;
  return fields.map((field) => {
    const names = references.flatMap((reference) => shownName(field, reference, lists) ?? []);
    return names.length === 0 ? field : { ...field, names };
  });
}

function shownName(
  { path, before, after }: FieldChange,
  { id, objectType }: NamedReference,
  lists: NameLists,
): ShownName | undefined {
  if (!path.every((segment, index) => segment === id[index])) return undefined;
  const at = id.slice(path.length);
  const nameOf = (value: Json | undefined) => {
    const found = value === undefined ? undefined : valueAt(value, at);
    return typeof found === 'string'
      ? (lists.get(objectType)?.byId.get(found) ?? addressInsteadOfId(found)?.name)
      : undefined;
  };
  const [was, becomes] = [nameOf(before), nameOf(after)];
  if (was === undefined && becomes === undefined) return undefined;
  return {
    at,
    ...(was === undefined ? {} : { before: was }),
    ...(becomes === undefined ? {} : { after: becomes }),
  };
}
