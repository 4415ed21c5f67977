/**
 * What the responses to the writes of a change prove. A service may answer with success and keep the old value, so
 * each value is compared with the one that was sent. A reset counts as done only after it was read. Pure.
 */
import type { AddressText } from '../model/address.ts';
import type { CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Field, FieldChange } from '../model/field.ts';
import {
  isJsonObject,
  type Json,
  ownMember,
  type Path,
  sameJson,
  valueAt,
  withValueAt,
} from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { ReturnedFields } from '../model/kind-calls.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import type { Spec } from '../model/resource.ts';
import type { Answer } from '../model/http.ts';
import { canonicalDefault, canonicalValue } from '../compare/comparisons.ts';
import { withAddresses } from '../compare/declared-objects.ts';
import { notReturned } from '../compare/diff.ts';

export interface ResponseCheck {
  /** fields whose returned value differs from the one that was sent, with the returned one as their value before */
  readonly contradicted: readonly FieldChange[];
  /** those of them that should be reset, and still have the old value: the service ignored the reset */
  readonly ignored: readonly FieldChange[];
  /** fields that the service returns neither in the response nor, as the plan found out, when read */
  readonly unverifiable: readonly Path[];
  /**
   * Fields whose old value stays in the ledger: those whose reset was not seen yet, and those that were returned with another
   * value than sent.
   */
  readonly unverified: readonly Path[];
}

interface ReturnedChange {
  readonly kind: Kind;
  readonly change: Change;
  /** responses to the calls that were carried out */
  readonly answers: ReadonlyMap<CallId, Answer>;
  /** the spec that the plan wants */
  readonly planned?: Spec;
  /** ids of resources that the apply has created, which the plan has by their addresses */
  readonly created?: ReadonlyMap<AddressText, string>;
  /** the ledger's record when the plan was made */
  readonly record: LedgerRecord | undefined;
  /** the record after the change; absent when the resource is no longer declared */
  readonly drafted: LedgerRecord | undefined;
}

export function checkResponses(returned: ReturnedChange): ResponseCheck {
  const { kind, change, record, drafted } = returned;
  const values = returnedFields(returned);
  const own = change.fields.filter(({ path: [name = ''] }) => Object.hasOwn(kind.fields, name));
  const states = own.map((field) => [field, stateOf(kind, field, values)] as const);
  const isReset = ({ path }: FieldChange) =>
    valueAt(record?.fields, path) !== undefined && valueAt(drafted?.fields, path) === undefined;
  const contradicted = states.flatMap(([field, { is, answered }]) =>
    is === 'different' ? [{ ...field, ...(answered === undefined ? {} : { before: answered }) }] : [],
  );
  return {
    contradicted,
    ignored: contradicted.filter((field) => {
      const sent = change.fields.find(({ path }) => sameJson([...path], [...field.path]));
      return isToDefault(kind, field) && sent?.before !== undefined && sameJson(field.before, sent.before);
    }),
    unverifiable: states.flatMap(([{ path }, { is }]) => (is === 'never returned' ? [path] : [])),
    unverified: states.flatMap(([field, { is }]) =>
      is === 'different' || (isReset(field) && mustBeRead(field, is)) ? [field.path] : [],
    ),
  };
}

function isToDefault({ fields }: Kind, { path: [name = '', ...below], after = null }: FieldChange): boolean {
  const field = fields[name];
  return below.length === 0 && field?.default !== undefined && sameJson(after, canonicalDefault(field));
}

/** Whether the reset has to be read before it counts. Not for a field that no read returns, or it would be reset in every plan. */
function mustBeRead({ unknown }: FieldChange, is: ResponseState['is']): boolean {
  return is === 'not returned' || (is === 'as sent' && unknown === undefined);
}

/** The last returned value by field; `undefined` if a response lacks a field that its call may have written. */
function returnedFields({
  kind,
  change: { calls, sharedCall },
  answers,
  planned = {},
  created = new Map(),
}: ReturnedChange): ReadonlyMap<string, Json | undefined> {
  const values = new Map<string, Json | undefined>();
  const { references = [] } = kind.named ?? {};
  for (const call of calls.toSorted((a, b) => a.order - b.order)) {
    const answer = call.id === sharedCall ? undefined : answers.get(call.id);
    const answered: ReturnedFields | undefined = answer && kind.fieldsFromResponse?.(call, answer);
    const spec = answered && withAddresses(answered.spec, planned, { references, created });
    for (const name of answered?.about ?? []) values.set(name, spec?.[name]);
  }
  return values;
}

interface ResponseState {
  /** `never returned`: neither by the write nor by reads; `not returned`: not by the write, so it has to be read */
  readonly is: 'as sent' | 'different' | 'never returned' | 'not returned';
  readonly answered?: Json | undefined;
}

function stateOf(
  kind: Kind,
  change: FieldChange,
  values: ReadonlyMap<string, Json | undefined>,
): ResponseState {
  const [name = '', ...below] = change.path;
  const field = kind.fields[name];
  // No secret is expected in a response; every plan says that the drift of a secret cannot be seen.
  if (field === undefined || field.writeOnly || field.local) return { is: 'not returned' };
  if (!values.has(name)) return { is: change.unknown === notReturned ? 'never returned' : 'not returned' };
  const value = values.get(name);
  const found = value === undefined ? undefined : returnedAt(field, value, below);
  if (found === undefined) return { is: change.before === undefined ? 'never returned' : 'not returned' };
  const { answered } = found;
  return agrees(found.field, answered, wantedBy(change, field))
    ? { is: 'as sent' }
    : { is: 'different', answered };
}

/** Without a value after, a field is reset to its default, and a key of a map is removed. */
function wantedBy({ path, after }: FieldChange, field: Field): Json | undefined {
  return after === undefined && path.length === 1 ? canonicalDefault(field) : after;
}

interface ReturnedValue {
  /** absent for a key of a map */
  readonly field?: Field;
  /** canonical; undefined: the map has no such key */
  readonly answered: Json | undefined;
}

/** The returned value at a path; undefined when the response lacks the member. */
function returnedAt(field: Field, value: Json, [member, ...below]: Path): ReturnedValue | undefined {
  const canonical = canonicalValue(field, value);
  if (member === undefined) return { field, answered: canonical };
  const found = isJsonObject(canonical) ? ownMember(canonical, member) : undefined;
  const memberField = field.members?.[member];
  if (memberField === undefined) return { answered: found };
  return found === undefined ? undefined : returnedAt(memberField, found, below);
}

/** For an object whose members are fields, only members that were sent and returned are compared. */
function agrees(field: Field | undefined, answered: Json | undefined, wanted: Json | undefined): boolean {
  const { members } = field ?? {};
  if (members === undefined || !isJsonObject(answered) || !isJsonObject(wanted))
    return sameJson(answered, wanted);
  return Object.entries(wanted).every(([name, value]) => {
    const found = ownMember(answered, name);
    return found === undefined || agrees(members[name], found, value);
  });
}

/** A copy of `spec` with the values of `from` at these paths; a value that `from` lacks is removed. */
export function withValuesAt(spec: Spec, from: Spec, paths: readonly Path[]): Spec {
  return paths.reduce((into, path) => withValueAt(into, path, valueAt(from, path)), spec);
}
