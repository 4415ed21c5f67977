/** Records resources that a plan found as declared. */
import type { Registry } from '../model/kind/kind.ts';
import type { Ledger } from '../model/stack/ledger.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import { completeRecord } from './complete-record.ts';
import { LedgerKeeper, type LedgerWriter } from './keep-ledger.ts';

interface FoundAsDeclared {
  readonly planning: PlanResult;
  readonly kinds: Registry;
  readonly keeper: LedgerKeeper;
}

/** Records every declared resource with nothing to do, and drops the records of resources that are gone (rule 25). */
export function recordFound({ planning, kinds, keeper }: FoundAsDeclared): void {
  // Drop first: the same plan may use an address for another resource.
  for (const text of planning.forget) keeper.drop(text);
  for (const [text, { settled }] of planning.records) {
    if (settled) keeper.put(text, completeRecord({ planning, kinds }, text));
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
