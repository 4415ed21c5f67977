/** What the ledger is told of resources that are as declared: those that a plan found true, and those that an apply made so. */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Registry } from '../model/kind.ts';
import type { Ledger, LedgerRecord, Origin } from '../model/ledger.ts';
import type { Answer } from '../model/wire.ts';
import type { Planning } from '../plan/build-plan.ts';
import { withValuesAt } from '../plan/judge-answers.ts';
import { LedgerKeeper, type LedgerWriter } from './keep-ledger.ts';

export interface Findings {
  readonly planning: Planning;
  readonly kinds: Registry;
  readonly keeper: LedgerKeeper;
  /** ids that this apply learned */
  readonly ids?: ReadonlyMap<AddressText, string>;
  /** origins that this apply learned: of what a lost create left behind */
  readonly origins?: ReadonlyMap<AddressText, Origin>;
}

/** How a change was carried out, as far as its record has to know. */
export interface CarriedOut {
  readonly change: Change;
  readonly answers: ReadonlyMap<CallId, Answer>;
}

/** Records every declared resource with nothing to do, also unchanged ones, and drops what is gone (RULES 25). */
export function recordFound(findings: Findings): void {
  // First, for an address may be given to another resource by the same plan.
  for (const text of findings.planning.forget) findings.keeper.drop(text);
  for (const [text, { settled }] of findings.planning.records) {
    if (settled) findings.keeper.put(text, completeRecord(findings, text));
  }
}

/** Writes what a plan found true, and nothing else. @throws when the ledger cannot be written */
export async function saveFound(
  planning: Planning,
  kinds: Registry,
  { ledger, store }: { ledger: Ledger; store: LedgerWriter },
): Promise<Ledger> {
  const keeper = new LedgerKeeper(store, ledger);
  recordFound({ planning, kinds, keeper });
  return keeper.save();
}

/** What nobody has seen reset, or was answered otherwise than sent, stays recorded as it was (RULES 40). */
function keptFields(
  planning: Planning,
  record: LedgerRecord,
  {
    known,
    carriedOut,
  }: { readonly known: LedgerRecord | undefined; readonly carriedOut: CarriedOut | undefined },
): Pick<LedgerRecord, 'fields'> {
  if (carriedOut === undefined || known === undefined) return { fields: record.fields };
  const { unproven } = planning.judgeAnswers(carriedOut.change, carriedOut.answers);
  return { fields: withValuesAt(record.fields, known.fields, unproven) };
}

/** The planner's draft of a record, with the id and the kind's marks. @throws for an address without a draft: a bug */
export function completeRecord(findings: Findings, text: AddressText, carriedOut?: CarriedOut): LedgerRecord {
  const { planning, kinds, keeper, ids, origins } = findings;
  const entry = planning.records.get(text);
  if (entry === undefined) throw new Error(`no record is drafted for ${text}`);
  const { draft, record } = entry;
  const id = ids?.get(text) ?? record.id;
  const known = keeper.get(text);
  const marks = kinds.get(draft.change.address.kind)?.marks?.({
    ...(carriedOut === undefined ? {} : { change: carriedOut.change }),
    answers: carriedOut?.answers ?? new Map(),
    desired: draft.desired,
    ...(draft.live === undefined ? {} : { live: draft.live }),
    ...(known === undefined ? {} : { record: known }),
    idOf: (address) => ids?.get(formatAddress(address)) ?? planning.idOf(address),
  });
  const origin = origins?.get(text) ?? record.origin;
  return {
    ...record,
    ...(id === undefined ? {} : { id }),
    origin,
    ...keptFields(planning, record, { known, carriedOut }),
    ...(marks === undefined || Object.keys(marks).length === 0 ? {} : { marks }),
  };
}
