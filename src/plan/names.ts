/**
 * The things that manifests give by name, in a plan: their ids from the lists that were read, their names beside ids that are shown,
 * and the guard for a name that refers to another object than when it was applied.
 */
import { resolveNames, withNames } from '../compare/named-references.ts';
import {
  type Address,
  type AddressText,
  formatAddress,
  kindAndTarget,
  kindAndTargetIn,
} from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FieldChange } from '../model/field.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import { type NamedId, type NameLists, nameKey } from '../model/named-reference.ts';
import { quoteSome, quoted } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Target } from '../model/stack.ts';

interface NamesInput {
  readonly kinds: Registry;
  readonly targets: readonly { readonly target: Target; readonly names?: NameLists }[];
  readonly ledger: Pick<Ledger, 'records'>;
}

interface WithIds {
  readonly declared: readonly DesiredResource[];
  /** by address; only of resources with such errors */
  readonly unknownNames: ReadonlyMap<AddressText, readonly Diagnostic[]>;
}

/** The declared resources with ids in place of names. */
export function withIds(
  { kinds, targets, ledger }: NamesInput,
  written: readonly DesiredResource[],
): WithIds {
  const unknownNames = new Map<AddressText, readonly Diagnostic[]>();
  const lists = new Map(targets.map(({ target, names }) => [target.name, names ?? new Map()] as const));
  const recorded = recordedIds(ledger);
  const declared = written.map((one) => {
    const { address } = one;
    const { references } = kinds.get(address.kind)?.named ?? {};
    if (references === undefined) return one;
    const { resource, problems } = resolveNames(one, {
      references,
      lists: lists.get(address.target) ?? new Map(),
      recorded: (what, name) => recorded(address, keysOf(references, what), name),
    });
    if (problems.length > 0) unknownNames.set(formatAddress(address), problems);
    return resource;
  });
  return { declared, unknownNames };
}

type References = NonNullable<Kind['named']>['references'];

function keysOf(references: References, what: string): readonly string[] {
  return references.flatMap((reference) => (reference.what === what ? [nameKey(reference.id)] : []));
}

/** The ids that the ledger has for a name, in all records of the kind and target of an address. Read only when it is asked for. */
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

/** The fields of a change of this resource, with the names of the ids in them. */
export function namedFields<F extends FieldChange>(
  context: { kind(name: string): Kind; target(name: string): { readonly names?: NameLists } },
  { kind, target }: Address,
  fields: readonly F[],
): readonly F[] {
  const { references } = context.kind(kind).named ?? {};
  const { names: lists } = context.target(target);
  return references === undefined || lists === undefined ? fields : withNames(fields, { references, lists });
}

interface DeclaredNames {
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly ledger: Pick<Ledger, 'records'>;
  record(address: Address): LedgerRecord | undefined;
}

interface ChangedReference {
  readonly address: Address;
  /** clauses about each name */
  readonly messages: readonly string[];
}

/**
 * The declared resources with a name that now has another id than the ledger recorded: in the record of the resource itself, or, if
 * it did not have this name, in those of all others.
 */
export function changedReferences(context: DeclaredNames): ChangedReference[] {
  const recorded = recordedIds(context.ledger);
  return [...context.desired.values()].flatMap(({ address, names = {} }) => {
    const own = context.record(address)?.names ?? {};
    const messages = Object.entries(names).flatMap(([key, now]) => {
      const known = own[key];
      const before = known?.name === now.name ? [known.id] : recorded(address, [key], now.name);
      return before.length === 0 || before.includes(now.id) ? [] : [changedMessage(key, now, before)];
    });
    return messages.length === 0 ? [] : [{ address, messages }];
  });
}

function changedMessage(key: string, { name, id }: NamedId, before: readonly string[]): string {
  return `${quoted(name)} (${key}) was ${quoteSome(before)} when it was applied, and is ${quoted(id)} now`;
}
