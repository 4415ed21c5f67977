/**
 * The resources that manifests refer to by name, in a plan: their ids from the lists that were read, the names that are shown beside
 * ids, and the guard for a name that refers to another object than when it was applied.
 */
import { indexDeclaredObjects, withAddresses } from '../compare/declared-objects.ts';
import { resolveNames, withNames } from '../compare/named-references.ts';
import {
  type Address,
  type AddressText,
  formatAddress,
  kindAndTarget,
  kindAndTargetIn,
  parseAddress,
} from '../model/address.ts';
import type { DigestedChange } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FieldChange } from '../model/field.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { Path } from '../model/json.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import { addressInsteadOfId, type NamedId, type NameLists, nameKey } from '../model/named-reference.ts';
import type { ChangedName } from '../model/plan.ts';
import { quoteSome, quoted } from '../model/quoted.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import type { Target } from '../model/stack.ts';

interface NamesInput {
  readonly kinds: Registry;
  readonly targets: readonly { readonly target: Target; readonly names?: NameLists }[];
  readonly ledger: Pick<Ledger, 'records' | 'movedAway'>;
  readonly desired: readonly DesiredResource[];
}

interface WithIds {
  readonly declared: readonly DesiredResource[];
  /** the errors of names without an id, by address of the resource that has the name */
  readonly unknownNames: ReadonlyMap<AddressText, readonly Diagnostic[]>;
}

/** The declared resources with ids in place of names. @param written declared resources as their manifests have them */
export function withIds(
  { kinds, targets, ledger, desired }: NamesInput,
  written: readonly DesiredResource[],
): WithIds {
  const unknownNames = new Map<AddressText, readonly Diagnostic[]>();
  const recordsOf = (kind: string, target: string) => {
    const place = kindAndTarget({ kind, target });
    return new Map([...ledger.records].filter(([text]) => kindAndTargetIn(text) === place));
  };
  const known = new Map(
    targets.map(({ target: { name: target }, names: lists = new Map() }) => {
      const declaredObjects = indexDeclaredObjects(lists, (kind) => ({
        declared: desired.filter(({ address }) => address.kind === kind && address.target === target),
        records: recordsOf(kind, target),
        movedAway: ledger.movedAway,
      }));
      return [target, { lists, declaredObjects }] as const;
    }),
  );
  const recorded = recordedIds(ledger);
  const declared = written.map((one) => {
    const { address } = one;
    const { references } = kinds.get(address.kind)?.named ?? {};
    if (references === undefined) return one;
    const { resource, problems } = resolveNames(one, {
      references,
      ...(known.get(address.target) ?? { lists: new Map() }),
      recorded: (objectType, name) => recorded(address, keysOf(references, objectType), name),
    });
    if (problems.length > 0) unknownNames.set(formatAddress(address), problems);
    return resource;
  });
  return { declared, unknownNames };
}

type References = NonNullable<Kind['named']>['references'];

function keysOf(references: References, objectType: string): readonly string[] {
  return references.flatMap((reference) =>
    reference.objectType === objectType ? [nameKey(reference.id)] : [],
  );
}

/** The ids that the ledger has for a name, in all records of the kind and target of an address. Indexed at the first call. */
function recordedIds({ records }: Pick<Ledger, 'records'>) {
  let known: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  const entry = (place: string, key: string, name: string) => JSON.stringify([place, key, name]);
  return (address: Address, keys: readonly string[], name: string): string[] => {
    known ??= groupIds(
      [...records].flatMap(([text, { names = {} }]) =>
        Object.entries(names).map(
          ([key, one]) => [entry(kindAndTargetIn(text), key, one.name), one.id] as const,
        ),
      ),
    );
    const ids = keys.flatMap((key) => [...(known?.get(entry(kindAndTarget(address), key, name)) ?? [])]);
    return [...new Set(ids)].sort();
  };
}

function groupIds(pairs: readonly (readonly [string, string])[]): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = Map.groupBy(pairs, ([key]) => key);
  return new Map([...groups].map(([key, some]) => [key, new Set(some.map(([, id]) => id))] as const));
}

/** A resource with changed fields, and with the names of the ids in them. */
export function withNamesOfIds<
  R extends { readonly address: Address; readonly fields: readonly FieldChange[] },
>(
  context: { kind(name: string): Kind; target(name: string): { readonly names?: NameLists } },
  resource: R,
): R {
  const { kind, target } = resource.address;
  const { references } = context.kind(kind).named ?? {};
  const { names: lists } = context.target(target);
  if (references === undefined || lists === undefined) return resource;
  const fields = withNames(resource.fields, { references, lists });
  return fields === resource.fields ? resource : { ...resource, fields };
}

/** The resources that a resource refers to by name and that the stack declares: their addresses, with the fields of name and id. */
export function namedResources(
  context: { kind(name: string): Kind },
  { address, names = {} }: DesiredResource,
): readonly { readonly to: Address; readonly path: Path; readonly id: Path }[] {
  const { references = [] } = context.kind(address.kind).named ?? {};
  return references.flatMap(({ id, name }) => {
    const { declaredAs } = names[nameKey(id)] ?? {};
    return declaredAs === undefined ? [] : [{ to: parseAddress(declaredAs), path: name, id }];
  });
}

/**
 * A resource as it was read, with the addresses that the plan has in place of ids that it could not know.
 * @param about.created ids of resources that the apply has created
 */
export function withPlannedAddresses(
  context: { kind(name: string): Kind },
  { change, desired }: { readonly change: { readonly address: Address }; readonly desired: Spec },
  about: {
    readonly found: LiveResource | undefined;
    readonly created?: ReadonlyMap<AddressText, string> | undefined;
  },
): LiveResource | undefined {
  const { references } = context.kind(change.address.kind).named ?? {};
  const { found, created } = about;
  if (found === undefined || created === undefined || references === undefined) return found;
  const spec = withAddresses(found.spec, desired, { references, created });
  return spec === found.spec ? found : { ...found, spec };
}

/**
 * Approved changes with ids in place of the addresses of resources that they create themselves, if these exist by now.
 * @param idOf the id of such a resource, if this stack has provably created it
 */
export function withIdsOfCreated<C extends DigestedChange>(
  context: { kind(name: string): Kind },
  changes: readonly C[],
  idOf: (created: C) => string | undefined,
): readonly C[] {
  const creates = new Map(
    changes.flatMap((change) =>
      change.action === 'create' ? [[formatAddress(change.address), change] as const] : [],
    ),
  );
  const idAt = (address: AddressText) => {
    const created = creates.get(address);
    return created && idOf(created);
  };
  return changes.map((change) => {
    const { references = [] } = context.kind(change.address.kind).named ?? {};
    const fields = change.fields.map((field) => withIdIn(field, references, idAt));
    return fields.every((field, index) => field === change.fields[index]) ? change : { ...change, fields };
  });
}

function withIdIn(
  field: FieldChange,
  references: References,
  idAt: (address: AddressText) => string | undefined,
): FieldChange {
  const reference = references.find(({ id }) => nameKey(id) === nameKey(field.path));
  const address = reference && addressInsteadOfId(field.after);
  const id = address?.kind === reference?.kind && address ? idAt(formatAddress(address)) : undefined;
  return id === undefined ? field : { ...field, after: id };
}

interface DeclaredNames {
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly ledger: Pick<Ledger, 'records'>;
  record(address: Address): LedgerRecord | undefined;
}

export interface ChangedReference {
  readonly address: Address;
  /** clauses about each name */
  readonly messages: readonly string[];
  readonly names: readonly ChangedName[];
}

/** A name in a manifest that has another id than the ledger recorded. */
export interface ChangedId {
  readonly resource: DesiredResource;
  /** the field of the id, such as `projectId` */
  readonly key: string;
  readonly now: NamedId;
  /** the ids that the ledger has for the name: of the resource itself, or, if it did not have this name, of all others */
  readonly before: readonly string[];
}

export function changedIds(context: DeclaredNames): ChangedId[] {
  const recorded = recordedIds(context.ledger);
  return [...context.desired.values()].flatMap((resource) => {
    const { address, names = {} } = resource;
    const own = context.record(address)?.names ?? {};
    return Object.entries(names).flatMap(([key, now]) => {
      const known = own[key];
      const before = known?.name === now.name ? [known.id] : recorded(address, [key], now.name);
      return before.length === 0 || before.includes(now.id) ? [] : [{ resource, key, now, before }];
    });
  });
}

/** The declared resources with changed names. */
export function changedReferences(context: DeclaredNames): ChangedReference[] {
  const byAddress = Map.groupBy(changedIds(context), ({ resource }) => resource.address);
  return [...byAddress].map(([address, changed]) => ({
    address,
    messages: changed.map(changedMessage),
    names: changed.map(({ key, now, before }) => ({ address, field: key, id: now.id, recorded: before })),
  }));
}

export function changedMessage({ key, now: { name, id }, before }: ChangedId): string {
  const refers =
    addressInsteadOfId(id) === undefined
      ? `is ${quoted(id)} now`
      : `would be ${quoted(id)}, which does not exist`;
  return `${quoted(name)} (${key}) was ${quoteSome(before)} when it was applied, and ${refers}`;
}
