/** Chooses the live values to accept: the differences of a plan that the user asked for. */
import { type Address, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { type FieldChange, type FieldTable, isPlannerField } from '../model/field.ts';
import type { Registry } from '../model/kind.ts';
import type { Ledger } from '../model/ledger.ts';
import { type NameLists, nameKey, uniqueName } from '../model/named-reference.ts';
import { nearestWord } from '../model/nearest-word.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredResource } from '../model/resource.ts';
import { sameJson, valueAt } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { ExchangedName } from '../plan/exchanged-names.ts';
import { isRecordedFlag } from '../plan/recorded-flags.ts';
import {
  fieldAt,
  nameOfAcceptedChange,
  type Refusal,
  refuse,
  refuseSecret,
  type AcceptedChange,
} from '../run/manifest-edits/locate-change.ts';

export interface AcceptRequest {
  /** as the plan shows them */
  readonly addresses: readonly string[];
  /** paths of fields; when empty, all that differ */
  readonly fields: readonly string[];
  /** accepts everything that was changed in the targets since the last apply */
  readonly all: boolean;
  /** removes the manifests of resources that are gone */
  readonly remove: boolean;
}

interface ChoiceContext {
  /** the declared resources, with ids instead of names */
  readonly resources: readonly DesiredResource[];
  readonly kinds: Registry;
  readonly ledger: Ledger;
  /** resources whose names were exchanged in the service */
  readonly exchanged: readonly ExchangedName[];
  /** The objects of a target that manifests refer to by name. */
  listsOf(target: string): NameLists;
}

interface Choice {
  readonly acceptedChanges: readonly AcceptedChange[];
  readonly refusals: readonly Refusal[];
}

export function chooseAcceptedChanges(plan: Plan, request: AcceptRequest, context: ChoiceContext): Choice {
  const declared = new Map(
    context.resources.map((resource) => [formatAddress(resource.address) as string, resource] as const),
  );
  const changes = new Map(
    plan.changes.map((change) => [formatAddress(change.address) as string, change] as const),
  );
  const asked = request.all ? [...changes.keys()].filter((text) => declared.has(text)) : request.addresses;
  const choices = [...new Set(asked)].map((text): Choice => {
    const resource = declared.get(text);
    if (resource === undefined)
      return { acceptedChanges: [], refusals: [unknownAddress(text, [...declared.keys()])] };
    const change = changes.get(text);
    const exchanged = refuseExchangedName(resource, context);
    if (exchanged !== undefined) return { acceptedChanges: [], refusals: [exchanged] };
    if (change?.action === 'create') return acceptRemoval(change, request, context);
    return acceptFields(change, { resource, request, context });
  });
  return {
    acceptedChanges: choices.flatMap(({ acceptedChanges }) => acceptedChanges),
    refusals: choices.flatMap(({ refusals }) => refusals),
  };
}

function unknownAddress(text: string, declared: readonly string[]): Refusal {
  const [kind = '', target = '', ...name] = text.split('/');
  const address: Address = { kind, target, name: name.join('/') };
  return refuse({ address, path: [] }, 'unknown-address', {
    message: `no manifest declares ${quoted(text)}`,
    fix:
      didYouMean(text, declared) ??
      'write the address as the plan shows it; for a resource that no manifest declares, use "trueup export"',
  });
}

/** Suggests declared addresses, for an address without its target or with a typo. */
function didYouMean(text: string, declared: readonly string[]): string | undefined {
  const withoutTarget = (address: string) => address.replace(/^([^/]+)\/[^/]+\//, '$1/');
  const same = declared.filter((address) => withoutTarget(address) === text);
  const near = nearestWord(text, declared);
  const meant = same.length === 0 && near !== undefined ? [near] : same;
  return meant.length === 0 ? undefined : `did you mean ${meant.map(quoted).join(' or ')}?`;
}

/** Refuses a resource that has the name of another one: live values under this name belong to the other. */
function refuseExchangedName(
  { address, place }: DesiredResource,
  { exchanged, kinds }: ChoiceContext,
): Refusal | undefined {
  const ownership = kinds.get(address.kind)?.ownership;
  const owner = formatAddress(ownership?.by === 'child' ? ownership.of(address) : address);
  const found = exchanged.find((one) => [formatAddress(one.address), one.recordedAs].includes(owner));
  if (found === undefined) return undefined;
  return refuse({ address, path: [] }, 'resource-renamed', {
    message: `${quoted(formatAddress(found.address))} has the name of another resource: ${found.messages.join('; ')}`,
    place,
    fix: 'give the resources their names back in the service',
  });
}

/** Refuses a field that refers by name to a resource of this stack, while another resource has that name. */
function refuseExchangedReference(
  accepted: AcceptedChange,
  { resource, context: { exchanged } }: FieldsOfOne,
): Refusal | undefined {
  const { declaredAs } = resource.names?.[nameKey(accepted.path)] ?? {};
  const found = exchanged.find(({ address }) => formatAddress(address) === declaredAs);
  if (found === undefined) return undefined;
  return refuse(accepted, 'resource-renamed', {
    message: `${nameOfAcceptedChange(accepted)} refers to ${quoted(formatAddress(found.address))}, which has the name of another resource: ${found.messages.join('; ')}`,
    place: resource.placeOf(accepted.path),
    fix: 'give the resources their names back in the service',
  });
}

function acceptRemoval(
  { address, place }: Change,
  { all, remove }: AcceptRequest,
  { ledger }: ChoiceContext,
): Choice {
  const removal: AcceptedChange = { address, path: [], value: undefined };
  const isRecorded = ledger.records.has(formatAddress(address));
  if (all && !isRecorded) return { acceptedChanges: [], refusals: [] };
  if (remove) return { acceptedChanges: [removal], refusals: [] };
  const why = refuse(removal, 'resource-gone', {
    message: `${nameOfAcceptedChange(removal)} is ${isRecorded ? 'gone from its target' : 'not in its target'}: its manifest is kept`,
    place,
    fix: `pass "--remove" to drop its manifest, too; or let apply create it${isRecorded ? ' again' : ''}`,
  });
  return { acceptedChanges: [], refusals: [why] };
}

interface FieldsOfOne {
  readonly resource: DesiredResource;
  readonly request: AcceptRequest;
  readonly context: ChoiceContext;
}

function acceptFields(change: Change | undefined, about: FieldsOfOne): Choice {
  const { resource, request } = about;
  const { address } = resource;
  const fields = (change?.fields ?? []).filter(
    ({ path }) => !isPlannerField(path) && !isRecordedFlag({ path }),
  );
  const asked = request.fields.map((name) => ({ name, found: fieldsNamed(idFieldOf(name, about), fields) }));
  const taken = asked.length === 0 ? fields : new Set(asked.flatMap(({ found }) => found));
  const missing = asked.flatMap(({ name, found }) => (found.length === 0 ? [name] : []));
  const isWritten = ({ path: [name = ''] }: FieldChange) => Object.hasOwn(resource.spec, name);
  const written = fields.filter(isWritten);
  const followsDrift = written.length > 0 && written.every((field) => isDrift(field, driftContext(about)));
  const found = [...taken].flatMap((field) => acceptField(field, { ...about, followsDrift }) ?? []);
  return {
    acceptedChanges: found.flatMap((one) => ('why' in one ? [] : [one])),
    refusals: [
      ...found.flatMap((one) => ('why' in one ? [one] : [])),
      ...missing.map((field) => noDifference(address, field, fields)),
    ],
  };
}

/** The field of the id in the plan, for a field of a name in the manifest. */
function idFieldOf(field: string, { resource: { address }, context: { kinds } }: FieldsOfOne): string {
  const found = kinds.get(address.kind)?.named?.references.find(({ name }) => nameKey(name) === field);
  return found === undefined ? field : nameKey(found.id);
}

/** The field itself, or else all fields below it. Joins whole segments, because keys of maps may contain dots. */
function fieldsNamed(name: string, fields: readonly FieldChange[]): readonly FieldChange[] {
  const exact = fields.filter(({ path }) => path.join('.') === name);
  if (exact.length > 0) return exact;
  return fields.filter(({ path }) => path.some((_, end) => path.slice(0, end).join('.') === name));
}

function noDifference(address: Address, field: string, fields: readonly FieldChange[]): Refusal {
  const others = fields.map(({ path }) => path.join('.')).join(', ');
  const accepted = { address, path: [field] };
  return refuse(accepted, 'no-difference', {
    message: `${nameOfAcceptedChange(accepted)} does not differ`,
    fix:
      others === ''
        ? 'leave it out: all of the resource is as declared'
        : `write one of those that do: ${others}`,
  });
}

interface FieldContext extends FieldsOfOne {
  /** whether differences in undeclared fields can only come from drift, because the manifest was not edited */
  readonly followsDrift: boolean;
}

interface DriftContext {
  readonly recorded: DesiredResource['spec'] | undefined;
  readonly table: FieldTable;
  /** id fields whose name in the manifest is as applied, but belongs to another id now */
  readonly changedNames: ReadonlySet<string>;
}

function driftContext({ resource, context: { kinds, ledger } }: FieldsOfOne): DriftContext {
  const { address, names: current = {} } = resource;
  const { fields: recorded, names = {} } = ledger.records.get(formatAddress(address)) ?? {};
  const changed = Object.entries(names).filter(
    ([key, { name, id }]) => current[key]?.name === name && current[key].id !== id,
  );
  return {
    recorded,
    table: kinds.get(address.kind)?.fields ?? {},
    changedNames: new Set(changed.map(([key]) => key)),
  };
}

/** @returns undefined for a field that follows from another field, or that was not requested */
function acceptField(field: FieldChange, about: FieldContext): AcceptedChange | Refusal | undefined {
  const { resource, request, followsDrift } = about;
  const { address } = resource;
  const { path, before } = field;
  const name = nameOf(field, about);
  const accepted: AcceptedChange = {
    ...{ address, path, value: before },
    ...(name === undefined ? {} : { name }),
  };
  if (path.length === 1 && path[0] === 'name') return renamed(accepted, resource);
  const isWritten = Object.hasOwn(resource.spec, path[0] ?? '');
  if (!isWritten && field.origin === undefined) return undefined;
  const drift = driftContext(about);
  const { table, recorded } = drift;
  const isUnrecorded = !isWritten && valueAt(recorded, path) === undefined;
  if (request.all && !(isUnrecorded ? followsDrift : isDrift(field, drift))) return undefined;
  const exchanged = refuseExchangedReference(accepted, about);
  if (exchanged !== undefined) return exchanged;
  const isSecret = field.shape === 'secret' || fieldAt(table, path)?.writeOnly === true;
  if (isSecret) return refuseSecret(accepted, resource.placeOf(path));
  if (field.unknown !== undefined)
    return refuse(accepted, 'value-unknown', {
      message: `the live value of ${nameOfAcceptedChange(accepted)} is not known: ${field.unknown}`,
      place: resource.placeOf(path),
      fix: 'write it by hand, or let apply set what is declared',
    });
  return accepted;
}

/** The name of the object with the live id, if no other object has that name. */
function nameOf({ path, before }: FieldChange, { resource, context }: FieldContext): string | undefined {
  const { kind, target } = resource.address;
  const { references = [] } = context.kinds.get(kind)?.named ?? {};
  const found = references.find(({ id }) => sameJson(id, path));
  return found === undefined || typeof before !== 'string'
    ? undefined
    : uniqueName(context.listsOf(target).get(found.objectType), before);
}

/**
 * Whether the target changed since the last apply: the manifest is as applied, or the live value is neither as applied nor as
 * declared. A field of the schema that was never applied is an edit of the manifest; a key that users choose may be drift.
 */
function isDrift(
  { path, before, after, shape, unknown }: FieldChange,
  { recorded, table, changedNames }: DriftContext,
): boolean {
  if (recorded === undefined) return false;
  if (changedNames.has(nameKey(path))) return true;
  const applied = valueAt(recorded, path);
  if (sameJson(applied, after)) return true;
  if (shape === 'secret' || unknown !== undefined) return false;
  const wasApplied = applied !== undefined || fieldAt(table, path) === undefined;
  return wasApplied && !sameJson(applied, before);
}

function renamed(accepted: AcceptedChange, { place }: DesiredResource): Refusal {
  const name = JSON.stringify(accepted.value);
  return refuse(accepted, 'resource-renamed', {
    message: `${quoted(formatAddress(accepted.address))} is called ${name} in its target`,
    place,
    fix: `write ${name} here and in all references to it, or let apply change it back`,
  });
}
