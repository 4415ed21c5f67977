/**
 * The faults to inject, in the order in which they were added, and their injection into requests. A request gets at most one
 * fault, the oldest that matches; a fault is removed when its count is used up. Also reads a fault from a request body, checks
 * that it can match a request, and returns its document.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalid, type PointedProblem } from './kernel/documents.ts';
import { MEDIA_TYPE } from './kernel/endpoint.ts';
import { newId } from './kernel/identifiers.ts';
import { type BodyObject, MemberReader } from './kernel/request-body.ts';

/** The effect of a fault on a request. */
interface FaultEffect {
  /** Delay in milliseconds. */
  readonly latency: number;
  /** The answer that replaces the call of the handler. */
  readonly refusal: { readonly status: number; readonly retryAfter: number | undefined } | undefined;
  /** When the connection is cut without an answer: before or after the request is carried out. */
  readonly cut: 'before-commit' | 'after-commit' | undefined;
}

interface Fault extends FaultEffect {
  readonly id: string;
  /** `*` is any. */
  readonly method: string;
  /** Path pattern: `*` or `:name` is any one segment, `**` at the end any rest, even an empty one. */
  readonly route: string;
  /** The number of further requests that get it. */
  readonly count: number;
}

export class FaultTable {
  #faults: readonly Fault[] = [];

  list(): readonly Fault[] {
    return this.#faults;
  }

  add(fault: Omit<Fault, 'id'>): Fault {
    const added = { id: newId('fault'), ...fault };
    this.#faults = [...this.#faults, added];
    return added;
  }

  /** @returns whether the fault existed */
  remove(id: string): boolean {
    const before = this.#faults.length;
    this.#faults = this.#faults.filter((fault) => fault.id !== id);
    return this.#faults.length < before;
  }

  clear(): void {
    this.#faults = [];
  }

  /** The fault for a request, if one matches; decrements its count. `path` is without query. */
  take(method: string, path: string): FaultEffect | undefined {
    const found = this.#faults.find((fault) => isMethod(fault.method, method) && fits(fault.route, path));
    if (found === undefined) return undefined;
    const left = { ...found, count: found.count - 1 };
    this.#faults = this.#faults.flatMap((fault) => {
      if (fault !== found) return [fault];
      return left.count > 0 ? [left] : [];
    });
    return found;
  }
}

function isMethod(wanted: string, given: string): boolean {
  return wanted === '*' || wanted === given;
}

function fits(route: string, path: string): boolean {
  const wanted = route.split('/');
  const given = path.replace(/\/$/, '').split('/');
  const isOpen = wanted.at(-1) === '**';
  const segments = isOpen ? wanted.slice(0, -1) : wanted;
  if (isOpen ? given.length < segments.length : given.length !== segments.length) return false;
  return segments.every((part, index) => part === '*' || part.startsWith(':') || part === given[index]);
}

// Injects faults into requests.
// Invariants: a fault is injected as by a gateway, after the check of the token and before the handler, except for the cut after the
// commit; only method and path of a request select it; when the server closes, delays end at once.

/** Call it before registering the scopes whose requests can get faults. */
export function injectFaults(app: FastifyInstance, faults: FaultTable): void {
  const closing = new AbortController();
  const cutOnceDone = new WeakSet<FastifyRequest>();
  app.addHook('preClose', async () => closing.abort());
  app.addHook('preHandler', async (request, reply) => {
    const effect = faults.take(request.method, pathOf(request));
    if (effect === undefined) return undefined;
    if (effect.latency > 0) await wait(effect.latency, undefined, { signal: closing.signal }).catch(() => {});
    if (effect.cut === 'after-commit') cutOnceDone.add(request);
    if (effect.cut === 'before-commit') return cut(request, reply);
    return effect.refusal === undefined ? undefined : refuse(request, reply, effect.refusal);
  });
  // The handler and its transaction have ended.
  app.addHook('onSend', async (request) => {
    if (cutOnceDone.has(request)) request.raw.socket.destroy();
  });
}

function pathOf(request: FastifyRequest): string {
  return request.url.replace(/\?.*$/, '');
}

function cut(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

/** Answers with an error in the form of the API. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, retryAfter }: NonNullable<FaultEffect['refusal']>,
): FastifyReply {
  const detail = 'This answer was asked for through the admin API';
  const isJsonApi = pathOf(request).startsWith('/api/');
  const title = status === 429 ? 'Too many requests' : 'injected fault';
  const errors = isJsonApi ? [{ status: String(status), title, detail }] : [detail];
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  return reply
    .code(status)
    .type(isJsonApi ? MEDIA_TYPE : 'application/json')
    .send(JSON.stringify({ errors }));
}

const MEMBERS = ['method', 'route', 'count', 'latency-ms', 'status', 'retry-after', 'cut'];

const MAX_LATENCY_MS = 600_000;

/** Only requests of the two APIs can get faults, not those of the admin API or the proof of a data file. */
const ROUTE = /^\/(?:api|v1)\/\S+$/;

/** `served`: the routes whose requests can get faults. @throws ApiError 422 with every problem */
export function readFault(body: BodyObject, served: readonly ServedRoute[]): Omit<Fault, 'id'> {
  const problems: PointedProblem[] = [];
  const read = new MemberReader(body, '', problems);
  for (const name of Object.keys(body)) {
    if (!MEMBERS.includes(name)) read.refuse(name, `${name} is no member of a fault`);
  }
  const fault = { ...readTarget(read, served), ...readEffect(read) };
  if (problems.length === 0 && fault.latency === 0 && !fault.refusal && !fault.cut)
    read.refuse('', 'a fault needs latency-ms, status or cut');
  if (problems.length > 0) throw invalid(problems);
  return fault;
}

function readTarget(
  read: MemberReader,
  served: readonly ServedRoute[],
): Pick<Fault, 'method' | 'route' | 'count'> {
  const method = read.text('method') ?? '*';
  const route = read.text('route') ?? '';
  if (!/^(?:\*|[A-Z]+)$/.test(method)) read.refuse('method', 'method must be * or a verb such as POST');
  else if (ROUTE.test(route)) {
    const problem = whyNotInjectable({ method, route }, served);
    if (problem !== undefined) read.refuse(problem.member, problem.why);
  }
  if (!ROUTE.test(route)) read.refuse('route', 'route must be a path below /api/ or /v1/');
  return { method, route, count: read.positiveInteger('count') ?? 1 };
}

function readEffect(read: MemberReader): FaultEffect {
  const latency = read.positiveInteger('latency-ms') ?? 0;
  if (latency > MAX_LATENCY_MS) read.refuse('latency-ms', `latency-ms is at most ${MAX_LATENCY_MS}`);
  const status = readStatus(read);
  const retryAfter = read.positiveInteger('retry-after');
  if (retryAfter !== undefined && status === undefined)
    read.refuse('retry-after', 'retry-after needs a status');
  const cut = read.nullableWord('cut', ['before-commit', 'after-commit'] as const) ?? undefined;
  if (cut !== undefined && status !== undefined) read.refuse('cut', 'a request is cut or answered, not both');
  return { latency, refusal: status === undefined ? undefined : { status, retryAfter }, cut };
}

function readStatus(read: MemberReader): number | undefined {
  const status = read.positiveInteger('status');
  if (status === undefined || status === 429 || (status >= 500 && status <= 599)) return status;
  return read.refuse('status', 'status must be 429 or a number from 500 to 599');
}

/** The document of a fault: the members of the body that created it, and its id. */
export function showFault({ latency, refusal, ...fault }: Fault): Record<string, unknown> {
  return {
    ...fault,
    'latency-ms': latency || undefined,
    status: refusal?.status,
    'retry-after': refusal?.retryAfter,
  };
}

// Faults can be injected into requests for which the service has routes.
// Invariant: a fault that cannot match any request is refused with the reason. Otherwise a test with that fault would pass
// without testing anything.

/** A route of the service: its methods, and its path. `:name` is any segment, `*` at the end any rest. */
export interface ServedRoute {
  readonly methods: readonly string[];
  readonly path: string;
}

interface Target {
  /** `*` is any. */
  readonly method: string;
  readonly route: string;
}

/** Why a fault cannot match any request, and which of its members is wrong. */
interface NotInjectable {
  readonly member: 'method' | 'route';
  readonly why: string;
}

/** Verbs that the HTTP parser does not know. They arrive as GET. */
const READ_AS_GET = ['LIST', 'SCAN'];

/** The problem; undefined when the fault can match a request. */
function whyNotInjectable(
  { method, route }: Target,
  served: readonly ServedRoute[],
): NotInjectable | undefined {
  const problem = problemOfForm(route);
  if (problem !== undefined) return { member: 'route', why: problem };
  const methods = served
    .filter(({ path }) => patternsOverlap(segments(route), segments(path)))
    .flatMap((each) => each.methods);
  if (methods.length === 0) return { member: 'route', why: `nothing is served at ${route}` };
  if (method === '*' || methods.includes(method)) return undefined;
  if (READ_AS_GET.includes(method))
    return { member: 'method', why: `${method} is a GET here: method must be GET` };
  const taken = [...new Set(methods)].join(', ');
  return { member: 'method', why: `${method} is not served at ${route}, which takes ${taken}` };
}

/** What is wrong with the form of a route. Faults match the path of a request as it is sent, without query and trailing slash. */
function problemOfForm(route: string): string | undefined {
  if (!/^[!-~]*$/.test(route)) return 'route must be written as it is sent: other characters as %-escapes';
  if (/[?#]/.test(route)) return 'route must be a path alone, without a query';
  if (route.endsWith('/')) return 'route must have no slash at its end';
  return segments(route).slice(0, -1).includes('**')
    ? '** matches any rest, so it must be the last segment'
    : undefined;
}

function segments(path: string): string[] {
  return path.split('/');
}

/** Whether a path exists that matches both patterns. */
function patternsOverlap(
  [wanted, ...wantedRest]: readonly string[],
  [served, ...servedRest]: readonly string[],
): boolean {
  if (wanted === '**') return true;
  if (wanted === undefined || served === undefined) return wanted === served;
  if (served === '*') return true;
  const isAny = wanted === '*' || wanted.startsWith(':');
  const both = isAny || wanted === served || (served.startsWith(':') && wanted !== '');
  return both && patternsOverlap(wantedRest, servedRest);
}
