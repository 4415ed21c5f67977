/** Events of audit trails for a terminal: who did what to what, and when. Every word of theirs comes from outside. */
import type { TrailActor, TrailEvent } from '../../model/audit-trail.ts';
import { quotedUnlessPlain } from '../../model/quoted.ts';
import { printable } from '../format/printable.ts';
import { columns, pad } from '../terminal/layout.ts';
import type { Paint } from '../terminal/paint.ts';

/** An event, and the target whose organization's trail it stands in. */
export interface TargetEvent {
  readonly target: string;
  readonly event: TrailEvent;
}

interface EventsTextOptions {
  readonly paint: Paint;
  /** whether there are several targets, so that each event says which */
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

/** One event on one line, for a list that has no end. */
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
