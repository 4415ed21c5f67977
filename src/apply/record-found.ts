/** What the ledger is told of resources that are as declared: those that a plan found true, and those that an apply made so. */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import type { Registry } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { Planning } from '../plan/build-plan.ts';
import { LedgerKeeper, type LedgerWriter } from './keep-ledger.ts';

export interface Findings {
  readonly planning: Planning;
  readonly kinds: Registry;
  readonly keeper: LedgerKeeper;
  /** ids that this apply learned */
  readonly ids?: ReadonlyMap<AddressText, string>;
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

/** The planner's draft of a record, with the id and the kind's marks. @throws for an address without a draft: a bug */
export function completeRecord(findings: Findings, text: AddressText, change?: Change): LedgerRecord {
  const { planning, kinds, keeper, ids } = findings;
  const entry = planning.records.get(text);
  if (entry === undefined) throw new Error(`no record is drafted for ${text}`);
  const { draft, record } = entry;
  const id = ids?.get(text) ?? record.id;
  const known = keeper.get(text);
  const marks = kinds.get(draft.change.address.kind)?.marks?.({
    ...(change === undefined ? {} : { change }),
    desired: draft.desired,
    ...(draft.live === undefined ? {} : { live: draft.live }),
    ...(known === undefined ? {} : { record: known }),
    idOf: (address) => ids?.get(formatAddress(address)) ?? planning.idOf(address),
  });
  return {
    ...record,
    ...(id === undefined ? {} : { id }),
    ...(marks === undefined || Object.keys(marks).length === 0 ? {} : { marks }),
  };
}
