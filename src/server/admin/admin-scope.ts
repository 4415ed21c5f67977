/**
 * The admin API: faults, the clock and events of audit trails, for whoever holds the admin token on this machine.
 * Invariant: a request that names this server by another name than a loopback one, or that a web page sends, is refused
 * before its token is looked at: no page that somebody visits can reach this API, whatever name it makes point here.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';

import type { Database } from '../data-file/database.ts';
import { acceptJsonBodies, sendError } from '../json-api/api-scope.ts';
import { asObject, type BodyObject, MemberReader } from '../json-api/body.ts';
import {
  badRequest,
  forbidden,
  invalid,
  notFound,
  type PointedProblem,
  unauthorized,
} from '../json-api/errors.ts';
import { unserved } from '../json-api/unserved.ts';
import { verbOf } from '../list-verb.ts';
import { readTimestamp } from '../timestamp.ts';
import { putAuditEvents } from './put-audit-events.ts';
import type { FaultTable } from './fault-table.ts';
import type { ServedRoute } from './meetable-routes.ts';
import type { MovableClock } from './movable-clock.ts';
import { readFault, showFault } from './read-fault.ts';

/** What the admin API works on. */
interface Administered {
  /** What its callers send as a bearer. */
  readonly token: string;
  readonly faults: FaultTable;
  /** What faults may be for. */
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
  readonly handler: (administered: Administered, asked: { id: string; body: BodyObject }) => Answer;
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
    handler: (administered) => {
      administered.clock.move(0);
      return showClock(administered);
    },
  },
];

/** Serves the admin API. `app` must be a scope of its own, with a prefix. */
export function serveAdmin(app: FastifyInstance, administered: Administered): void {
  app.addHook('onRequest', async (request) => {
    refuseStrangers(request);
    if (!isToken(request.headers.authorization, administered.token)) throw unauthorized();
    const path = request.url.slice(app.prefix.length).replace(/\?.*$/, '');
    if (request.is404) throw unserved(ENDPOINTS, verbOf(request.raw), path);
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
        const { status, document } = handler(administered, { id: request.params.id ?? '', body });
        return reply.code(status).send(document);
      },
    });
  }
}

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

function refuseStrangers({ headers, originalUrl, raw }: FastifyRequest): void {
  // Node keeps the first of several; what stands between here and the client may have looked at another one.
  if ((raw.headersDistinct['host']?.length ?? 0) > 1) throw badRequest('The request has more than one Host');
  const hosts = [headers.host ?? '', ...hostOfTarget(originalUrl)];
  if (!hosts.every((host) => LOOPBACK.test(host)))
    throw forbidden('The admin API is reached by a loopback name only');
  if (headers.origin !== undefined) throw forbidden('The admin API is not for web pages');
}

/** A target may be a whole URL, whose host counts more than the header's. */
function hostOfTarget(target: string): string[] {
  return target.startsWith('/') ? [] : [/^http:\/\/([^/?#]*)/i.exec(target)?.[1] ?? ''];
}

/** Digests are of one length, so the comparison tells nothing of the token by its time. */
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

function showClock({ clock }: Administered): Answer {
  const document = { now: clock.now().toISOString(), 'offset-seconds': clock.offset() / 1000 };
  return { status: 200, document };
}

/** To a time, or by so many seconds from where it stands; back again with a negative number. */
function moveClock(administered: Administered, { body }: { body: BodyObject }): Answer {
  const { clock } = administered;
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
  return showClock(administered);
}

/** A time with its zone. */
function isTime(text: string): boolean {
  return /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && readTimestamp(text) !== undefined;
}
