/**
 * Lets requests meet the faults that were asked for.
 * Invariants: a fault strikes where a gateway's would, behind the check of the token and before anything is done, but for
 * the cut after the commit; nothing of a request decides about it but method and path; when the server closes, nobody
 * waits any longer.
 */
import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { MEDIA_TYPE } from '../json-api/endpoint.ts';
import type { FaultEffect, FaultTable } from './fault-table.ts';

/** Call it before the scopes are registered whose requests shall meet the faults. */
export function injectFaults(app: FastifyInstance, faults: FaultTable): void {
  const closing = new AbortController();
  const cutOnceDone = new WeakSet<FastifyRequest>();
  app.addHook('preClose', async () => closing.abort());
  app.addHook('preHandler', async (request, reply) => {
    const effect = faults.meet(request.method, pathOf(request));
    if (effect === undefined) return undefined;
    if (effect.latency > 0) await wait(effect.latency, undefined, { signal: closing.signal }).catch(() => {});
    if (effect.cut === 'after-commit') cutOnceDone.add(request);
    if (effect.cut === 'before-commit') return cut(request, reply);
    return effect.refusal === undefined ? undefined : refuse(request, reply, effect.refusal);
  });
  // The handler has ended, and its transaction with it.
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
