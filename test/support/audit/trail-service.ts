/**
 * A service with only an audit trail, as docs/internals/wire/audit-trails.md describes it: events that come and go, pages, `since`. It
 * shares no code with the embedded service. The order of events can be reversed, because that page does not specify an order.
 */
import { type Loopback, listen, type Recorded, type Reply } from '../http/loopback.ts';

export type ServedEvent = Record<string, unknown> & { readonly id: string; readonly timestamp: string };

export interface TrailService extends Loopback {
  /** oldest first; tests add and remove events */
  events: ServedEvent[];
  /** called for each request: its reply replaces that of the trail; undefined replaces nothing */
  override: (request: Recorded, count: number) => Reply | undefined | Promise<Reply | undefined>;
  /** the `date` header of each page; no header when absent */
  dateHeader?: () => Date;
  /** the queries so far, decoded */
  queries(): string[];
}

export interface TrailServiceOptions {
  readonly newestFirst?: boolean;
  /** the only token that it accepts; any token when absent */
  readonly token?: string;
}

/** Listens until the test has finished. */
export async function serveTrail(
  events: readonly ServedEvent[] = [],
  { newestFirst = false, token }: TrailServiceOptions = {},
): Promise<TrailService> {
  const held: Pick<TrailService, 'events' | 'override' | 'dateHeader'> = {
    events: [...events],
    override: () => undefined,
  };
  const loopback = await listen(async (request, count) => {
    const other = await held.override(request, count);
    if (other !== undefined) return other;
    if (token !== undefined && request.headers['authorization'] !== `Bearer ${token}`)
      return { status: 401, body: { errors: [{ status: '401', title: 'unauthorized' }] } };
    const page = pageOf(newestFirst ? held.events.toReversed() : held.events, request.path);
    return held.dateHeader === undefined
      ? page
      : { ...page, headers: { date: held.dateHeader().toUTCString() } };
  });
  const queries = () =>
    loopback.requests.map(({ path }) => decodeURIComponent(path.slice(path.indexOf('?') + 1)));
  return Object.assign(held, loopback, { queries });
}

function pageOf(events: readonly ServedEvent[], path: string): Exclude<Reply, string> {
  const { pathname, searchParams } = new URL(path, 'http://any');
  if (!pathname.endsWith('/api/v2/organization/audit-trail')) return { status: 404, body: { errors: [] } };
  const since = Date.parse(searchParams.get('since') ?? '1970-01-01T00:00:00Z');
  const page = Number(searchParams.get('page[number]') ?? 1);
  const size = Number(searchParams.get('page[size]') ?? 1000);
  const found = events.filter(({ timestamp }) => Date.parse(timestamp) > since);
  const pages = Math.ceil(found.length / size);
  return {
    body: {
      data: found.slice((page - 1) * size, page * size),
      pagination: {
        current_page: page,
        prev_page: page > 1 ? page - 1 : null,
        next_page: page < pages ? page + 1 : null,
        total_pages: pages,
        total_count: found.length,
        page_size: size,
      },
    },
  };
}

const epoch = Date.parse('2026-11-20T12:00:00.000Z');

export interface EventOptions {
  /** milliseconds since noon of 20 November 2026 */
  readonly at?: number;
  readonly actor?: string;
  readonly resource?: string;
  /** type and action, such as `workspace update` */
  readonly what?: string;
  /** members to add to the event, or to replace */
  readonly more?: Record<string, unknown>;
}

/** An event as the specification shows it. */
export function servedEvent(id: string, options: EventOptions = {}): ServedEvent {
  const { at = 0, actor = 'ann', resource = 'ws-1', what = 'workspace update', more = {} } = options;
  const [type, action] = what.split(' ');
  return {
    id,
    version: '0',
    type: 'Resource',
    timestamp: new Date(epoch + at).toISOString(),
    auth: {
      accessor_id: `user-${actor}`,
      description: actor,
      type: 'Client',
      impersonator_id: null,
      organization_id: 'org-acme',
    },
    request: { id: `request-of-${id}` },
    resource: { id: resource, type, action, meta: null },
    ...more,
  };
}

/** `count` events, one millisecond apart: `e1`, `e2`, … */
export function servedEvents(count: number, from = 1): ServedEvent[] {
  return Array.from({ length: count }, (_, index) => servedEvent(`e${from + index}`, { at: from + index }));
}
