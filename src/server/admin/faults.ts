/**
 * The faults to inject, in the order in which they were added, and their injection into requests. A request gets at most one
 * fault, the oldest that matches; a fault is removed after it was injected as often as it says.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MEDIA_TYPE } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';

/** What happens to a request. */
export interface FaultEffect {
  /** Delay in milliseconds. */
  readonly latency: number;
  /** The answer, instead of calling the handler. */
  readonly refusal: { readonly status: number; readonly retryAfter: number | undefined } | undefined;
  /** The connection is cut without an answer, before the request is carried out or after. */
  readonly cut: 'before-commit' | 'after-commit' | undefined;
}

export interface Fault extends FaultEffect {
  readonly id: string;
  /** `*` is any. */
  readonly method: string;
  /** Path pattern: `*` or `:name` is any one segment, a last `**` any rest, none included. */
  readonly route: string;
  /** For how many more requests it is injected. */
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

  /** Whether there was such a fault. */
  remove(id: string): boolean {
    const before = this.#faults.length;
    this.#faults = this.#faults.filter((fault) => fault.id !== id);
    return this.#faults.length < before;
  }

  clear(): void {
    this.#faults = [];
  }

  /** The fault for a request, if there is one; it is counted. `path` is without query. */
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
// Invariants: a fault is injected where a gateway would cause it: after the check of the token and before the handler, except
// for the cut after the commit; only method and path of a request select it; when the server closes, no request waits.

/** Call it before the scopes are registered whose requests get faults. */
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
  // The handler has ended, and its transaction.
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

/** Each API has its own form of an error. */
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
