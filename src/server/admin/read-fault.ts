/**
 * Reading a fault from the body that asks for it, and showing it.
 * Invariant: a fault that was read can be carried out, and met; every problem of a body is told at once.
 */
import { type BodyObject, MemberReader } from '../json-api/body.ts';
import { invalid, type PointedProblem } from '../json-api/errors.ts';
import type { Fault, FaultEffect } from './fault-table.ts';
import { type ServedRoute, whyNotInjectable } from './meetable-routes.ts';

const MEMBERS = ['method', 'route', 'count', 'latency-ms', 'status', 'retry-after', 'cut'];

const LONGEST_LATENCY_MS = 600_000;

/** Faults are for the APIs: the admin API itself, and what trueup asks about a data file, have none. */
const ROUTE = /^\/(?:api|v1)\/\S+$/;

/** `served` is all that a fault may be for. @throws ApiError 422 with everything that is wrong. */
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
    const unmeetable = whyNotInjectable({ method, route }, served);
    if (unmeetable !== undefined) read.refuse(unmeetable.member, unmeetable.why);
  }
  if (!ROUTE.test(route)) read.refuse('route', 'route must be a path below /api/ or /v1/');
  return { method, route, count: read.positiveInteger('count') ?? 1 };
}

function readEffect(read: MemberReader): FaultEffect {
  const latency = read.positiveInteger('latency-ms') ?? 0;
  if (latency > LONGEST_LATENCY_MS) read.refuse('latency-ms', `latency-ms is at most ${LONGEST_LATENCY_MS}`);
  const status = readStatus(read);
  const retryAfter = read.positiveInteger('retry-after');
  if (retryAfter !== undefined && status === undefined)
    read.refuse('retry-after', 'retry-after needs a status');
  const cut = read.nullableWord('cut', ['before-commit', 'after-commit'] as const) ?? undefined;
  if (cut !== undefined && status !== undefined) read.refuse('cut', 'a request is cut or answered, not both');
  return {
    latency,
    ...(status === undefined ? {} : { refusal: { status, retryAfter } }),
    ...(cut === undefined ? {} : { cut }),
  };
}

function readStatus(read: MemberReader): number | undefined {
  const status = read.positiveInteger('status');
  if (status === undefined || status === 429 || (status >= 500 && status <= 599)) return status;
  return read.refuse('status', 'status must be 429 or a number from 500 to 599');
}

/** As it is answered: in the members of the body that asked for it. */
export function showFault({
  id,
  method,
  route,
  count,
  latency,
  refusal,
  cut,
}: Fault): Record<string, unknown> {
  return {
    id,
    method,
    route,
    count,
    ...(latency === 0 ? {} : { 'latency-ms': latency }),
    ...(refusal === undefined ? {} : { status: refusal.status }),
    ...(refusal?.retryAfter === undefined ? {} : { 'retry-after': refusal.retryAfter }),
    ...(cut === undefined ? {} : { cut }),
  };
}
