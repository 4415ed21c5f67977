/**
 * What the answers to the writes of a change prove of it (RULES 40). A service that says yes and keeps the old value must
 * not pass for one that did what it was asked: what was answered is compared with what was sent, and what no answer shows
 * is not taken for done until it has been read. Pure.
 */
import type { CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Field, FieldChange } from '../model/field.ts';
import { isJsonObject, type Json, ownMember, type Path, sameJson } from '../model/json.ts';
import type { Answered, Kind } from '../model/kind.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import type { Spec } from '../model/resource.ts';
import type { Answer } from '../model/wire.ts';
import { canonicalDefault, canonicalValue } from './canonical-spec.ts';

export interface AnswersVerdict {
  /** fields that were answered otherwise than they were sent, with the answer as their value before */
  readonly contradicted: readonly FieldChange[];
  /** fields that the service neither answers nor, as the plan saw, ever tells */
  readonly unverifiable: readonly Path[];
  /** values of the ledger's record that were to be reset, and that nobody has seen reset: they stay recorded */
  readonly unproven: readonly Path[];
}

export interface AnsweredChange {
  readonly kind: Kind;
  readonly change: Change;
  /** of the calls that were carried out */
  readonly answers: ReadonlyMap<CallId, Answer>;
  /** what the ledger knew when the plan was made */
  readonly record: LedgerRecord | undefined;
  /** what it is to know once the change is true; absent for what is not declared any more */
  readonly drafted: LedgerRecord | undefined;
}

export function judgeAnswers({ kind, change, answers, record, drafted }: AnsweredChange): AnswersVerdict {
  const told = answeredFields(kind, change, answers);
  const own = change.fields.filter(({ path: [name = ''] }) => Object.hasOwn(kind.fields, name));
  const stands = own.map((field) => [field, standOf(kind, field, told)] as const);
  const isReset = ({ path }: FieldChange) =>
    valueAt(record?.fields, path) !== undefined && valueAt(drafted?.fields, path) === undefined;
  return {
    contradicted: stands.flatMap(([field, { is, answered }]) =>
      is === 'otherwise' ? [{ ...field, ...(answered === undefined ? {} : { before: answered }) }] : [],
    ),
    unverifiable: stands.flatMap(([{ path }, { is }]) => (is === 'never told' ? [path] : [])),
    unproven: stands.flatMap(([field, { is }]) =>
      isReset(field) && (is === 'otherwise' || is === 'not told') ? [field.path] : [],
    ),
  };
}

/** By field, what was answered last; a field that an answer is about and lacks is `undefined` there. */
function answeredFields(
  kind: Kind,
  { calls, sharedCall }: Change,
  answers: ReadonlyMap<CallId, Answer>,
): ReadonlyMap<string, Json | undefined> {
  const told = new Map<string, Json | undefined>();
  for (const call of calls.toSorted((a, b) => a.order - b.order)) {
    const answer = call.id === sharedCall ? undefined : answers.get(call.id);
    const answered: Answered | undefined = answer && kind.answered?.(call, answer);
    for (const name of answered?.about ?? []) told.set(name, answered?.spec[name]);
  }
  return told;
}

interface Stand {
  /** `never told`: neither answered nor read; `not told`: not answered, and to be read */
  readonly is: 'as sent' | 'otherwise' | 'never told' | 'not told';
  readonly answered?: Json | undefined;
}

function standOf(kind: Kind, change: FieldChange, told: ReadonlyMap<string, Json | undefined>): Stand {
  const [name = '', ...below] = change.path;
  const field = kind.fields[name];
  // Of a secret nobody expects to be told; that its drift cannot be seen is said with every plan.
  if (field === undefined || field.writeOnly || field.local || !told.has(name)) return { is: 'not told' };
  const value = told.get(name);
  const answered = value === undefined ? undefined : canonicalAt(field, value, below);
  if (answered === 'not told') return { is: 'never told' };
  if (value === undefined) return { is: change.before === undefined ? 'never told' : 'not told' };
  const wanted = change.after ?? (below.length === 0 ? canonicalDefault(field) : undefined);
  return sameJson(answered, wanted) ? { is: 'as sent' } : { is: 'otherwise', answered };
}

/** The answered value below a field; a member that the answer lacks is not told, a key of a map is not there. */
function canonicalAt(field: Field, value: Json, [member, ...below]: Path): Json | 'not told' | undefined {
  const canonical = canonicalValue(field, value);
  if (member === undefined) return canonical;
  const found = isJsonObject(canonical) ? ownMember(canonical, member) : undefined;
  const table = field.members?.[member];
  if (table === undefined) return found;
  return found === undefined ? 'not told' : canonicalAt(table, found, below);
}

function valueAt(spec: Spec | undefined, path: Path): Json | undefined {
  let value: Json | undefined = spec;
  for (const segment of path) value = isJsonObject(value) ? ownMember(value, segment) : undefined;
  return value;
}

/** The spec with the values that `from` has at these paths: what stays recorded of what was to be reset. */
export function withValuesAt(spec: Spec, from: Spec, paths: readonly Path[]): Spec {
  return paths.reduce((into, path) => withValueAt(into, path, valueAt(from, path)), spec);
}

function withValueAt(into: Spec, [name = '', ...below]: Path, value: Json | undefined): Spec {
  if (value === undefined) return into;
  if (below.length === 0) return { ...into, [name]: value };
  const known = ownMember(into, name);
  return { ...into, [name]: withValueAt(isJsonObject(known) ? known : {}, below, value) };
}
