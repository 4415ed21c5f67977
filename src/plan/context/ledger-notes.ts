/** The remarks of a plan about its ledger. Pure. */
import type { FormerStack, PlanContext } from './plan-context.ts';
import { quoted } from '../../model/quoted.ts';

/** Sentences without a full stop; empty for an ordinary ledger. */
export function ledgerNotes(context: PlanContext): string[] {
  const { ledger, former } = context;
  return [
    ...(ledger.known && ledger.targets === undefined && ledger.records.size > 0
      ? [context.isDisplaced ? placesUnknown : placesAssumed]
      : []),
    ...(former === undefined ? [] : formerNotes(context, former)),
  ];
}

const placesAssumed =
  'of an earlier version: its records are taken for those of the targets as the stack has them now, and the next apply writes that down';

const placesUnknown = 'of an earlier version: it does not know which places its records are of';

function formerNotes(context: PlanContext, { name, hasLedger, records }: FormerStack): string[] {
  if (!hasLedger) {
    const isClaimed = [...context.live.values()].some(({ witness: { claim } }) => claim?.stack === name);
    return isClaimed
      ? [
          `that of stack ${quoted(name)} is not where this stack keeps its own: of what bears its claim nothing is deleted`,
        ]
      : [];
  }
  if (records.size === 0) return [];
  const came = records.size === 1 ? '1 record comes' : `${records.size} records come`;
  return [`from stack ${quoted(name)} ${came} along: the next apply closes its ledger`];
}
