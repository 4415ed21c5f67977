/**
 * What an apply reports while it works, as `apply --format jsonl` writes it: one JSON value a line, each valid against
 * `apply-event-schema`.
 */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { blockingIds } from '../../model/plan/guard.ts';
import type { ApplyEvent } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { countActions } from '../format/plan-summary.ts';
import { printableJson } from '../format/printable.ts';
import { addressMembers } from './address-members.ts';
import type { ApplyEventJson } from './apply-event-schema.ts';
import { diagnosticJson } from './diagnostics-json.ts';
import { outcomeJson } from './outcomes-json.ts';

/** An event without what every line has. */
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

export function planEvent({ stack, digest, changes, unchanged, guards }: Plan): EventMembers {
  return {
    type: 'planned',
    stack,
    digest,
    summary: { ...countActions(changes), unchanged },
    acknowledge: blockingIds(guards),
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
