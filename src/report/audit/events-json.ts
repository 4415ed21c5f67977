/** Events of audit trails as JSON, each as its service answered it. Valid against `events-schema`. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { printableJson } from '../format/printable.ts';
import { renderJson } from '../json/canonical-json.ts';
import { diagnosticsMember } from '../json/diagnostics-json.ts';
import type { TargetEvent } from './events-text.ts';

/** A time of which events are missing from an archive; milliseconds since 1970. */
export interface TargetGap {
  readonly target: string;
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

interface EventsReading {
  readonly stack: string;
  /** newest first */
  readonly events: readonly TargetEvent[];
  /** whether there are older ones that were left out */
  readonly more: boolean;
  readonly gaps: readonly TargetGap[];
}

/** `{ version: 1, stack, events: [{ target, event }], more, gaps: [{ target, from, to, why }], diagnostics? }` */
export function renderEventsJson(
  { stack, events, more, gaps }: EventsReading,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    stack,
    events: events.map(eventJson),
    more,
    gaps: gaps.map(gapJson),
    ...diagnosticsMember(diagnostics),
  });
}

/** `{"target":"acme","event":{…}}` on one line. */
export function renderEventLine(event: TargetEvent): string {
  return printableJson(JSON.stringify(eventJson(event)));
}

/** What one look has added to an archive, by target. */
interface ArchivedJson {
  readonly target: string;
  readonly added: number;
  /** milliseconds since 1970: the newest event */
  readonly newest?: number | undefined;
  readonly gap?: Omit<TargetGap, 'target'> | undefined;
}

/** `{ version: 1, stack, archive, trails: [{ target, added, newest?, gap? }], diagnostics? }` */
export function renderArchivedJson(
  {
    stack,
    archive,
    trails,
  }: { readonly stack: string; readonly archive: string; readonly trails: readonly ArchivedJson[] },
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    stack,
    archive,
    trails: trails.map(({ target, added, newest, gap }) => ({
      target,
      added,
      ...(newest === undefined ? {} : { newest: timeText(newest) }),
      ...(gap === undefined ? {} : { gap: gapJson(gap) }),
    })),
    ...diagnosticsMember(diagnostics),
  });
}

function eventJson({ target, event }: TargetEvent) {
  return { target, event: event.raw };
}

function gapJson<G extends { readonly from: number; readonly to: number; readonly why: string }>(gap: G) {
  const { from, to, why } = gap;
  const target = 'target' in gap ? { target: gap.target } : {};
  return { ...target, from: timeText(from), to: timeText(to), why };
}

/** `2026-11-20T12:00:00.123Z` */
export function timeText(at: number): string {
  return new Date(at).toISOString();
}
