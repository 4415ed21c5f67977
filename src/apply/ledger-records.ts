/**
 * Makes the ledger record of a declared resource, after a change or because it was found as declared. After a change that was
 * only partly carried out it contains the former values and those that its calls wrote, and nothing else.
 */
import { canonicalValue } from '../compare/comparisons.ts';
import { withIdsOf } from '../compare/declared-objects.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Call, CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { FieldTable } from '../model/field.ts';
import type { Answer } from '../model/http.ts';
import { type Json, valueAt } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { Ledger, LedgerRecord, Origin } from '../model/ledger.ts';
import { addressInsteadOfId } from '../model/named-reference.ts';
import type { Spec } from '../model/resource.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { RecordDraft } from '../plan/planned-records.ts';
import { withValuesAt } from '../plan/verify-responses.ts';
import { LedgerKeeper, type LedgerWriter } from './keep-ledger.ts';

interface RecordContext {
  readonly planning: PlanResult;
  readonly kinds: Registry;
  /** ids of resources that this apply created or found */
  readonly ids?: ReadonlyMap<AddressText, string>;
  /** origins that this apply found out, such as that of a create whose response was lost */
  readonly origins?: ReadonlyMap<AddressText, Origin>;
}

/** How much of a change was carried out. */
interface CarriedOut {
  readonly change: Change;
  /** calls that were carried out, including one that another change shares; empty when the resource was as desired already */
  readonly calls: ReadonlySet<CallId>;
  /** their responses, except lost ones */
  readonly answers: ReadonlyMap<CallId, Answer>;
  /** the service did not keep the ownership tag that the change wrote */
  readonly lostTag?: true;
  /** the whole change was carried out */
  readonly isWhole: boolean;
}

/**
 * Makes a record from the planner's draft, as far as the change was carried out, with the id and the kind's marks.
 * @param carriedOut absent for a resource that a plan found as declared
 * @throws for an address without a draft: a bug
 */
export function completeRecord(
  { planning, kinds, ids, origins }: RecordContext,
  text: AddressText,
  carriedOut?: CarriedOut,
): LedgerRecord {
  const entry = planning.records.get(text);
  if (entry === undefined) throw new Error(`no record is drafted for ${text}`);
  const { draft, record: drafted, known: former } = entry;
  const kind = kinds.get(draft.change.address.kind);
  const id = ids?.get(text) ?? drafted.id;
  const isPartial = carriedOut !== undefined && !carriedOut.isWhole;
  const { desired, fields, ...kept } = isPartial
    ? partialRecord(entry, carriedOut, kind?.fields ?? {})
    : fullRecord(entry);
  const marks = kind?.ledgerMarks?.({
    ...(carriedOut === undefined ? {} : { change: carriedOut.change }),
    answers: carriedOut?.answers ?? new Map(),
    desired,
    ...(draft.live === undefined ? {} : { live: draft.live }),
    ...(former === undefined ? {} : { record: former }),
    lostTag: carriedOut?.lostTag,
    idOf: (address) => ids?.get(formatAddress(address)) ?? planning.live(address)?.id,
  });
  const { content: _, inherited: __, names: draftedNames = {}, ...others } = drafted;
  const verified =
    carriedOut === undefined ? fields : verifiedFields(planning, carriedOut, { fields, former, ids });
  // Resources that the same plan created have ids by now.
  const idNow = (address: AddressText) => ids?.get(address) ?? planning.live(parseAddress(address))?.id;
  const recorded = withIdsOf(verified, kind?.named?.references ?? [], idNow);
  return {
    ...others,
    ...(id === undefined ? {} : { id }),
    origin: origins?.get(text) ?? drafted.origin,
    fields: recorded,
    ...recordedNames(recorded, {
      formerNames: former?.names,
      draftedNames: namesNow(draftedNames, idNow),
      isPartial,
    }),
    ...kept,
    ...(marks === undefined || Object.keys(marks).length === 0 ? {} : { marks }),
  };
}

function namesNow(
  names: NonNullable<LedgerRecord['names']>,
  idNow: (address: AddressText) => string | undefined,
): LedgerRecord['names'] {
  const entries = Object.entries(names).map(([key, { name, id }]) => {
    const created = addressInsteadOfId(id);
    return [key, { name, id: (created && idNow(formatAddress(created))) ?? id }] as const;
  });
  return Object.fromEntries(entries);
}

/** The names whose ids are in the recorded fields. After a change that stopped early, some may still be the former ones. */
function recordedNames(
  fields: Spec,
  {
    formerNames = {},
    draftedNames = {},
    isPartial,
  }: {
    readonly formerNames: LedgerRecord['names'];
    readonly draftedNames: LedgerRecord['names'];
    readonly isPartial: boolean;
  },
): Pick<LedgerRecord, 'names'> {
  const former = Object.entries(formerNames).filter(([key]) => isPartial || Object.hasOwn(draftedNames, key));
  const found = [...former, ...Object.entries(draftedNames)].filter(
    ([key, { id }]) => valueAt(fields, key.split('.')) === id,
  );
  return found.length === 0 ? {} : { names: Object.fromEntries(found) };
}

/** The members of a draft that were carried out. */
interface WrittenRecord extends Pick<LedgerRecord, 'fields' | 'content' | 'inherited'> {
  readonly desired: Spec;
}

function fullRecord({ draft: { desired }, record: { fields, ...rest } }: RecordDraft): WrittenRecord {
  return { desired, fields, ...wholeContent(rest, true) };
}

/** The members of a record about the whole resource, besides its fields. @param hasContent whether `content` is one of them */
function wholeContent(
  { content, inherited }: Partial<LedgerRecord> = {},
  hasContent: boolean,
): Omit<WrittenRecord, 'desired' | 'fields'> {
  return {
    ...(inherited === undefined ? {} : { inherited }),
    ...(content === undefined || !hasContent ? {} : { content }),
  };
}

function partialRecord(
  { draft, record: drafted, known: former }: RecordDraft,
  done: CarriedOut,
  table: FieldTable,
): WrittenRecord {
  const names = writtenBy(done);
  const written = (spec: Spec) => Object.entries(spec).filter(([name]) => names.has(name));
  const fields = written(drafted.fields).map(
    ([name, value]) => [name, mergeSets(table, name, [former?.fields[name], value])] as const,
  );
  return {
    desired: Object.fromEntries(written(draft.desired)),
    fields: { ...former?.fields, ...Object.fromEntries(fields) },
    ...wholeContent(former, drafted.content !== undefined),
  };
}

/**
 * The written fields. A call may name the fields that it writes. All other fields count as written once every call that names none was
 * carried out.
 */
export function writtenBy({
  change: { calls, fields, sharedCall },
  calls: done,
}: Pick<CarriedOut, 'change' | 'calls'>): ReadonlySet<string> {
  const isDone = ({ id }: Call) => done.has(id);
  const namedFields = calls.flatMap(({ writes = [], takesFrom = [] }) => [...writes, ...takesFrom]);
  const callsWithoutFields = calls.filter(
    ({ writes, takesFrom }) => writes === undefined && takesFrom === undefined,
  );
  const others = fields.map(({ path: [name = ''] }) => name).filter((name) => !namedFields.includes(name));
  const isAllDone = callsWithoutFields.every(isDone) && (sharedCall === undefined || done.has(sharedCall));
  const hasOthers = isAllDone && (callsWithoutFields.length > 0 || sharedCall !== undefined);
  return new Set([
    ...calls.filter(isDone).flatMap(({ writes = [] }) => writes),
    ...(hasOthers ? others : []),
  ]);
}

/** While a set is changed by several calls, it may still contain elements that this stack added before. */
function mergeSets(
  table: FieldTable,
  name: string,
  [before, after]: readonly [Json | undefined, Json],
): Json {
  const field = table[name];
  return field?.compare.shape === 'set' && Array.isArray(before) && Array.isArray(after)
    ? canonicalValue(field, [...before, ...after])
    : after;
}

/** The fields to record. The former value stays if a response returned another value than the one sent, or none shows a reset. */
function verifiedFields(
  planning: PlanResult,
  { change, calls, answers }: CarriedOut,
  {
    fields,
    former,
    ids,
  }: {
    readonly fields: Spec;
    readonly former: LedgerRecord | undefined;
    readonly ids: RecordContext['ids'] | undefined;
  },
): LedgerRecord['fields'] {
  // A call that was not carried out has no response to check.
  const carriedOut = { ...change, calls: change.calls.filter(({ id }) => calls.has(id)) };
  return withValuesAt(
    fields,
    former?.fields ?? {},
    planning.checkResponses(carriedOut, answers, ids).unverified,
  );
}

interface PutContext extends Pick<RecordContext, 'planning' | 'kinds'> {
  readonly keeper: Pick<LedgerKeeper, 'get' | 'put'>;
}

/**
 * Puts a record at its address. If names were exchanged, the ledger has the record of another resource there. That record moves to the
 * name that its resource now has, so that it is not lost if nothing more of the plan succeeds. It moves only to a name that the plan
 * shows as changed, because other changed names were not acknowledged.
 */
export function putRecord(context: PutContext, text: AddressText, record: LedgerRecord): void {
  const { planning, keeper } = context;
  const displaced = keeper.get(text);
  keeper.put(text, record);
  if (displaced?.id === undefined || record.id === undefined || displaced.id === record.id) return;
  const now = planning.addressNow(parseAddress(text), displaced.id);
  if (now === undefined || now === text || keeper.get(now)?.id === displaced.id) return;
  if (isShownName(context, now)) putRecord(context, now, displaced);
}

/** Whether the plan shows that this name, or the name of its parent, now refers to another resource than before. */
function isShownName({ planning, kinds }: PutContext, text: AddressText): boolean {
  const address = parseAddress(text);
  const ownership = kinds.get(address.kind)?.ownership;
  const owner = ownership?.by === 'child' ? formatAddress(ownership.of(address)) : text;
  return planning.plan.changedNames.some(({ resource }) => resource === text || resource === owner);
}

// Records resources that a plan found as declared.

interface FoundAsDeclared {
  readonly planning: PlanResult;
  readonly kinds: Registry;
  readonly keeper: LedgerKeeper;
}

/** Records every declared resource that is up to date, and drops the records of resources that are gone. */
export function recordFound({ planning, kinds, keeper }: FoundAsDeclared): void {
  // Drop first: the same plan may use an address for another resource.
  for (const text of planning.forget) keeper.drop(text);
  for (const [text, { isUpToDate }] of planning.records) {
    if (!isUpToDate) continue;
    const record = completeRecord({ planning, kinds }, text);
    if (!keeper.has(text, record)) putRecord({ planning, kinds, keeper }, text, record);
  }
}

/** Records what a plan found, without an apply. @throws when the ledger cannot be written */
export async function saveFound(
  planning: PlanResult,
  kinds: Registry,
  { ledger, store }: { ledger: Ledger; store: LedgerWriter },
): Promise<Ledger> {
  const keeper = new LedgerKeeper(store, ledger);
  recordFound({ planning, kinds, keeper });
  return keeper.save();
}
