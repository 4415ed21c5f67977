/**
 * What an apply reports while it runs, one JSON value a line, valid against `result-schemas.ts`; and the outcomes of all
 * changes as JSON.
 */
import type { ApplyEvent, Outcome } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { acknowledgeableIds } from '../../model/guard.ts';
import type { Plan } from '../../model/plan.ts';
import { countOutcomes } from '../text/outcomes.ts';
import { countActions } from '../view/plan-summary.ts';
import { printableJson } from '../view/printable.ts';
import { partMember } from './plan.ts';
import { addressMembers, diagnosticJson, diagnosticsMember, placeMember, renderJson } from './render-json.ts';
import type { ApplyEventJson, OutcomeJson } from './result-schemas.ts';

/** An event without the members that every line has. */
export type EventMembers = ApplyEventJson extends infer E
  ? E extends ApplyEventJson
    ? Omit<E, 'version' | 'seq' | 'time'>
    : never
  : never;

/** @param about.seq counts the lines, from 0 @param about.time milliseconds since 1970 */
export function renderEventJson(
  members: EventMembers,
  about: { readonly seq: number; readonly time: number },
): string {
  const time = new Date(about.time).toISOString();
  return printableJson(JSON.stringify({ version: 1, seq: about.seq, time, ...members }));
}

export function planEvent({ stack, digest, changes, unchanged, guards, part }: Plan): EventMembers {
  return {
    type: 'planned',
    stack,
    digest,
    ...partMember({ part }),
    summary: { ...countActions(changes), unchanged },
    acknowledge: acknowledgeableIds(guards),
  };
}

export function progressEvent(event: ApplyEvent): EventMembers {
  switch (event.type) {
    case 'begin':
      return { type: 'applying', changes: event.changes, calls: event.calls };
    case 'start':
      return {
        type: 'change-started',
        ...addressMembers(event.change.address),
        action: event.change.action,
      };
    case 'end':
      return {
        type: 'change-ended',
        ...outcomeJson(event.outcome),
        finished: event.finished,
        changes: event.changes,
      };
  }
}

export function diagnosticEvent(diagnostic: ShownDiagnostic): EventMembers {
  return { type: 'diagnostic', diagnostic: diagnosticJson(diagnostic) };
}

// The outcomes of all changes as JSON. Members have a fixed order; absent ones are left out.

/** `{ version: 1, summary: { applied, unchanged, stale, skipped, unknown, failed }, outcomes, diagnostics? }` */
export function renderOutcomesJson(
  outcomes: readonly Outcome[],
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    summary: countOutcomes(outcomes),
    outcomes: outcomes.map(outcomeJson),
    ...diagnosticsMember(diagnostics),
  });
}

function outcomeJson({
  address,
  action,
  kind,
  detail,
  place,
  done,
  foundTrue,
  warnings,
}: Outcome): OutcomeJson {
  return {
    ...addressMembers(address),
    action,
    outcome: kind,
    ...(detail === undefined ? {} : { detail }),
    ...placeMember(place),
    ...(done === undefined ? {} : { done: [...done] }),
    ...(foundTrue && { foundTrue }),
    ...(warnings === undefined ? {} : { warnings: [...warnings] }),
  };
}
