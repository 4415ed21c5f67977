/**
 * Events of audit trails as a table, as JSON and as JSON lines, and warnings about gaps in an archive. All text of an event
 * comes from outside, so it is made printable. The JSON is valid against `schema.ts`.
 */
import type { TrailActor, TrailEvent } from '../../model/audit-trail.ts';
import type { Diagnostic, ShownDiagnostic } from '../../model/diagnostic.ts';
import { quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { columns, pad, type Paint } from '../../report/text/layout.ts';
import { printable, printableJson } from '../../report/view/printable.ts';

/** An event, and the target whose organization's trail has it. */
export interface TargetEvent {
  readonly target: string;
  readonly event: TrailEvent;
}

interface EventsTextOptions {
  readonly paint: Paint;
  /** whether there are several targets, so that each line names its target */
  readonly targets: boolean;
}

const titles = ['when', 'who', 'what', 'resource', 'request'];

/** A table, in the given order. */
export function renderEvents(events: readonly TargetEvent[], { paint, targets }: EventsTextOptions): string {
  if (events.length === 0) return 'No events';
  const head = targets ? [...titles, 'target'] : titles;
  const rows = events.map((each) => cellsOf(each, targets));
  const widths = head.map((title, at) =>
    Math.max(columns(title), ...rows.map((row) => columns(row[at] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => pad(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint.bold(line(head)), ...rows.map(line)].join('\n');
}

/** One event on one line, without a table, because the list has no end. */
export function renderEvent(event: TargetEvent, { targets }: Pick<EventsTextOptions, 'targets'>): string {
  return cellsOf(event, targets).join('  ').trimEnd();
}

function cellsOf({ target, event }: TargetEvent, targets: boolean): string[] {
  const { timestamp, actor, resource, requestId = '' } = event;
  const cells = [timestamp, actorText(actor), `${resource.type} ${resource.action}`, resource.id, requestId];
  return (targets ? [...cells, target] : cells).map(printable);
}

/** `ann`, `ann (Impersonated by user-7)`, `System` */
function actorText(actor: TrailActor): string {
  const [id, name, kind] = [actor.id, actor.name, actor.kind].map(quotedUnlessPlain) as [
    string,
    string,
    string,
  ];
  const { impersonatorId } = actor;
  const who = name === '' ? id : name;
  const by = impersonatorId === undefined ? '' : ` by ${quotedUnlessPlain(impersonatorId)}`;
  if (who === '') return `${kind}${by}`;
  return actor.kind === 'Client' && by === '' ? who : `${who} (${kind}${by})`;
}

// Events of audit trails as JSON, each as its service answered it. Valid against `schema.ts`.

/** A period whose events are missing from an archive; times in milliseconds since 1970. */
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
  /** whether older events were left out */
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

/** What one poll has added to the archive for one target. */
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

// The warning about a gap in an archive.

export function gapWarning({ target, from, to, why }: TargetGap): Diagnostic {
  return {
    code: 'trail-gap',
    severity: 'warning',
    class: 'failure',
    message: `events of target ${quoted(target)} between ${timeText(from)} and ${timeText(to)} may be missing: ${why}`,
  };
}
