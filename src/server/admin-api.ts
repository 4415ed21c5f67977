/**
 * The admin API: faults, the clock and added audit events, for the holder of the admin token on this machine. A request whose
 * Host is not a loopback name, or that a web page sends, is refused before its token is read.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { addEvent, eventProblems, UnknownActorError } from './workspaces/audit-trail.ts';
import { type AddedEvent, addedEventSchema } from './workspaces/audit-event-schema.ts';
import { schemaCheck } from './kernel/check-schema.ts';
import type { Database } from './kernel/database.ts';
import {
  badRequest,
  forbidden,
  invalid,
  notFound,
  type PointedProblem,
  unauthorized,
} from './kernel/documents.ts';
import { acceptJsonBodies, routeError, sendError } from './kernel/json-api.ts';
import { verbOf } from './kernel/list-verb.ts';
import { asObject, type BodyObject, MemberReader, readTimestamp } from './kernel/request-body.ts';
import { type FaultTable, readFault, type ServedRoute, showFault } from './faults.ts';

/** The objects that the admin API reads and changes. */
interface AdminContext {
  /** The bearer token of its callers. */
  readonly token: string;
  readonly faults: FaultTable;
  /** The routes whose requests can get faults. */
  readonly routes: readonly ServedRoute[];
  readonly clock: MovableClock;
  readonly database: Database;
}

interface Answer {
  readonly status: 200 | 201 | 204;
  readonly document?: unknown;
}

interface AdminEndpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly handler: (context: AdminContext, request: { id: string; body: BodyObject }) => Answer;
}

const ENDPOINTS: readonly AdminEndpoint[] = [
  {
    method: 'GET',
    path: '/faults',
    handler: ({ faults }) => ({ status: 200, document: { faults: faults.list().map(showFault) } }),
  },
  {
    method: 'POST',
    path: '/faults',
    handler: ({ faults, routes }, { body }) => ({
      status: 201,
      document: showFault(faults.add(readFault(body, routes))),
    }),
  },
  {
    method: 'DELETE',
    path: '/faults',
    handler: ({ faults }) => {
      faults.clear();
      return { status: 204 };
    },
  },
  {
    method: 'DELETE',
    path: '/faults/:id',
    handler: ({ faults }, { id }) => {
      if (!faults.remove(id)) throw notFound('Fault');
      return { status: 204 };
    },
  },
  { method: 'POST', path: '/audit-events', handler: putAuditEvents },
  { method: 'GET', path: '/clock', handler: showClock },
  { method: 'POST', path: '/clock', handler: moveClock },
  {
    method: 'DELETE',
    path: '/clock',
    handler: (context) => {
      context.clock.move(0);
      return showClock(context);
    },
  },
];

/** Serves the admin API. `app` must be a separate scope, with a prefix. */
export function serveAdmin(app: FastifyInstance, context: AdminContext): void {
  app.addHook('onRequest', async (request) => {
    refuseOtherHosts(request);
    if (!isToken(request.headers.authorization, context.token)) throw unauthorized();
    const path = request.url.slice(app.prefix.length).replace(/\?.*$/, '');
    if (request.is404) throw routeError(ENDPOINTS, verbOf(request.raw), path);
  });
  acceptJsonBodies(app);
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(reply, error));
  app.setNotFoundHandler(() => {});
  for (const { method, path, handler } of ENDPOINTS) {
    app.route<{ Params: { id?: string } }>({
      method,
      url: path,
      handler: (request, reply) => {
        const body = method === 'POST' ? objectOf(request.body) : {};
        const { status, document } = handler(context, { id: request.params.id ?? '', body });
        return reply.code(status).send(document);
      },
    });
  }
}

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

function refuseOtherHosts({ headers, originalUrl, raw }: FastifyRequest): void {
  // Node uses the first of several Host headers; a proxy before this server may have used another one.
  if ((raw.headersDistinct['host']?.length ?? 0) > 1) throw badRequest('The request has more than one Host');
  const hosts = [headers.host ?? '', ...hostOfTarget(originalUrl)];
  if (!hosts.every((host) => LOOPBACK.test(host)))
    throw forbidden('The admin API is reached by a loopback name only');
  if (headers.origin !== undefined) throw forbidden('The admin API is not for web pages');
}

/** The host of a request target that is a whole URL. It overrides the Host header. */
function hostOfTarget(target: string): string[] {
  return target.startsWith('/') ? [] : [/^http:\/\/([^/?#]*)/i.exec(target)?.[1] ?? ''];
}

/** Compares digests, which all have the same length, so that the time of the comparison reveals nothing about the token. */
function isToken(header: string | undefined, token: string): boolean {
  const given = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function objectOf(body: unknown): BodyObject {
  const object = asObject(body);
  if (object === undefined) throw invalid([{ detail: 'the body must be a JSON object', pointer: '' }]);
  return object;
}

function showClock({ clock }: AdminContext): Answer {
  const document = { now: clock.now().toISOString(), 'offset-seconds': clock.offset() / 1000 };
  return { status: 200, document };
}

/** Sets the clock to a time, or moves it by seconds; a negative number moves it back. */
function moveClock(context: AdminContext, { body }: { body: BodyObject }): Answer {
  const { clock } = context;
  const problems: PointedProblem[] = [];
  const read = new MemberReader(body, '', problems);
  const time = read.text('now');
  const advance = body['advance-seconds'];
  if ((time === undefined) === (advance === undefined) && problems.length === 0)
    read.refuse('', 'the body must have either now or advance-seconds');
  if (time !== undefined && !isTime(time))
    read.refuse('now', 'now must be a time such as 2026-01-31T12:00:00Z');
  if (advance !== undefined && !Number.isFinite(advance))
    read.refuse('advance-seconds', 'advance-seconds must be a number');
  if (problems.length > 0) throw invalid(problems);
  const by = time === undefined ? Number(advance) * 1000 : Date.parse(time) - clock.now().getTime();
  try {
    clock.move(clock.offset() + by);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid([{ detail: error.message, pointer: time === undefined ? '/advance-seconds' : '/now' }]);
  }
  return showClock(context);
}

/** Whether the text is a time with a zone. */
function isTime(text: string): boolean {
  return /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && readTimestamp(text) !== undefined;
}

// POST /admin/audit-events: adds events to an organization's audit trail that the service does not record itself.
// Invariant: all events of a body are added, or none; each problem names the path of the event, as for a seed.

interface TrailContext {
  readonly database: Database;
  readonly clock: MovableClock;
}

const checkBody = schemaCheck(
  {
    type: 'object',
    properties: {
      organization: { type: 'string', minLength: 1 },
      events: { type: 'array', items: addedEventSchema },
    },
    required: ['organization', 'events'],
    additionalProperties: false,
  },
  { root: 'the body' },
);

/** @throws ApiError 404 for an unknown organization, 422 with every problem of the events */
function putAuditEvents(
  { database, clock }: TrailContext,
  { body }: { readonly body: BodyObject },
): { status: 201; document: { ids: string[] } } {
  const malformed = checkBody(body).map(({ text, pointer }) => ({ detail: text, pointer }));
  if (malformed.length > 0) throw invalid(malformed);
  const { organization, events } = body as unknown as { organization: string; events: AddedEvent[] };
  const problems = events.flatMap((event, index) =>
    eventProblems(event, `events[${index}]`).map((detail) => ({ detail, pointer: pointerOf(detail) })),
  );
  if (problems.length > 0) throw invalid(problems);
  const known = database.get<{ id: string }>('SELECT id FROM organizations WHERE name = :name', {
    name: organization,
  });
  if (known === undefined) throw notFound('Organization');
  try {
    const put = () => events.map((event) => addEvent(database, known.id, event, clock.now()));
    return { status: 201, document: { ids: database.transaction(put) } };
  } catch (error) {
    if (error instanceof UnknownActorError) throw invalid([{ detail: error.message, pointer: '' }]);
    throw error;
  }
}

/** The JSON pointer of a problem, whose text begins with its path. */
function pointerOf(problem: string): string {
  const [path = ''] = problem.split(' ', 1);
  return `/${path.replaceAll(/[.[\]]+/g, '/')}`;
}

// A clock that can be moved: it returns the time of another clock plus an offset.
// Invariants: moving it changes no stored data, so it can be moved back; it only returns times of the years 1 to 9998, whose ISO
// texts sort in the order of the times.

export interface MovableClock {
  now(): Date;
  /** The difference from the machine's time, in milliseconds. */
  offset(): number;
  /** Sets the difference from the machine's time, in milliseconds. @throws RangeError for a time outside of the valid years */
  move(offset: number): void;
}

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-01-01T00:00:00Z');

/** `trueNow` is the clock of the machine. */
export function movableClock(trueNow: () => Date): MovableClock {
  let current = 0;
  return {
    now: () => new Date(trueNow().getTime() + current),
    offset: () => current,
    move: (offset) => {
      const shown = trueNow().getTime() + offset;
      if (!(shown >= EARLIEST && shown < LATEST)) throw new RangeError('the clock shows the years 1 to 9998');
      current = offset;
    },
  };
}
