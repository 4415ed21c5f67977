/**
 * What the answers to the writes of a change prove of it (rule 40). A service that says yes and keeps the old value must
 * not pass for one that did what it was asked: what was answered is compared with what was sent, and what is to be reset is
 * not taken for done until it has been read, for an answer may be nothing but the request said again. Pure.
 */
import type { CallId } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Field, FieldChange } from '../../model/kind/field.ts';
import { isJsonObject, type Json, ownMember, type Path, sameJson } from '../../model/json/json.ts';
import type { Answered, Kind } from '../../model/kind/kind.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { Spec } from '../../model/resource/resource.ts';
import type { Answer } from '../../model/wire.ts';
import { canonicalDefault, canonicalValue } from '../../compare/canonical-spec.ts';
import { notAnswered } from '../../compare/diff.ts';

export interface AnswersVerdict {
  /** fields that were answered otherwise than they were sent, with the answer as their value before */
  readonly contradicted: readonly FieldChange[];
  /** fields that the service neither answers nor, as the plan saw, ever tells */
  readonly unverifiable: readonly Path[];
  /**
   * Where the ledger goes on saying what it said: values that were to be reset and that nobody has seen reset, and those
   * that were answered otherwise than they were sent.
   */
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
      is === 'otherwise' || (isReset(field) && isToBeRead(field, is)) ? [field.path] : [],
    ),
  };
}

/** What no reading tells goes with a good answer, or it would be reset for ever. */
function isToBeRead({ unknown }: FieldChange, is: AnswerState['is']): boolean {
  return is === 'not told' || (is === 'as sent' && unknown === undefined);
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

interface AnswerState {
  /** `never told`: neither answered nor read; `not told`: not answered, and to be read */
  readonly is: 'as sent' | 'otherwise' | 'never told' | 'not told';
  readonly answered?: Json | undefined;
}

function standOf(kind: Kind, change: FieldChange, told: ReadonlyMap<string, Json | undefined>): AnswerState {
  const [name = '', ...below] = change.path;
  const field = kind.fields[name];
  // Of a secret nobody expects to be told; that its drift cannot be seen is said with every plan.
  if (field === undefined || field.writeOnly || field.local) return { is: 'not told' };
  if (!told.has(name)) return { is: change.unknown === notAnswered ? 'never told' : 'not told' };
  const value = told.get(name);
  const found = value === undefined ? undefined : answeredAt(field, value, below);
  if (found === undefined) return { is: change.before === undefined ? 'never told' : 'not told' };
  const { answered } = found;
  return agrees(found.field, answered, wantedBy(change, field))
    ? { is: 'as sent' }
    : { is: 'otherwise', answered };
}

/** Without a value of its own a field goes back to its default, and a key of a map goes. */
function wantedBy({ path, after }: FieldChange, field: Field): Json | undefined {
  return after === undefined && path.length === 1 ? canonicalDefault(field) : after;
}

interface AnsweredValue {
  /** absent for a key of a map */
  readonly field?: Field;
  /** canonical; undefined: the map has no such key */
  readonly answered: Json | undefined;
}

/** The answered value at a path; undefined when the answer lacks the member. */
function answeredAt(field: Field, value: Json, [member, ...below]: Path): AnsweredValue | undefined {
  const canonical = canonicalValue(field, value);
  if (member === undefined) return { field, answered: canonical };
  const found = isJsonObject(canonical) ? ownMember(canonical, member) : undefined;
  const table = field.members?.[member];
  if (table === undefined) return { answered: found };
  return found === undefined ? undefined : answeredAt(table, found, below);
}

/** Of an object with fields of its own those count that were sent and are answered, as in every comparison of the two. */
function agrees(field: Field | undefined, answered: Json | undefined, wanted: Json | undefined): boolean {
  const { members } = field ?? {};
  if (members === undefined || !isJsonObject(answered) || !isJsonObject(wanted))
    return sameJson(answered, wanted);
  return Object.entries(wanted).every(([name, value]) => {
    const found = ownMember(answered, name);
    return found === undefined || agrees(members[name], found, value);
  });
}

function valueAt(spec: Spec | undefined, path: Path): Json | undefined {
  let value: Json | undefined = spec;
  for (const segment of path) value = isJsonObject(value) ? ownMember(value, segment) : undefined;
  return value;
}

/** The spec with what `from` has at these paths, and without what it lacks there: what stays recorded as it was. */
export function withValuesAt(spec: Spec, from: Spec, paths: readonly Path[]): Spec {
  return paths.reduce((into, path) => withValueAt(into, path, valueAt(from, path)), spec);
}

function withValueAt(into: Spec, [name = '', ...below]: Path, value: Json | undefined): Spec {
  const { [name]: _, ...others } = into;
  if (below.length === 0) return value === undefined ? others : { ...into, [name]: value };
  const known = ownMember(into, name);
  if (value === undefined && !isJsonObject(known)) return into;
  return { ...into, [name]: withValueAt(isJsonObject(known) ? known : {}, below, value) };
}
