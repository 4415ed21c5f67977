// Writes of a run that is stopped: only sent ones continue. Every server is a real one on loopback.
import { buildConnector, Client } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../../src/api/transport/exchange.ts';
import { inTurn, listen } from '../support/http/loopback.ts';
import { failureOf, open } from '../support/http/open-for-test.ts';
import { stillClock } from '../support/http/still-clock.ts';

const update = { method: 'PATCH', path: '/workspaces/ws-1', body: {}, repeatable: true } as const;
const create = {
  ...update,
  method: 'POST',
  path: '/organizations/acme/workspaces',
  repeatable: false,
} as const;

describe('a write of a run that is stopped', () => {
  const paused = { status: 429, headers: { 'retry-after': '60' } };

  it('is not sent if it waits for its turn', async () => {
    const { clock, begun } = stillClock();
    const stop = new AbortController();
    const server = await listen(inTurn(paused, { body: {} }));
    const { reader, openWriter } = open({ url: server.url, clock });
    const read = failureOf(reader.get('/workspaces/ws-1'));
    await begun;
    const waiting = failureOf(openWriter().send({ ...update, stop: stop.signal }));
    stop.abort();
    expect(await waiting).toMatchObject({
      sent: false,
      message: expect.stringContaining('the run was stopped'),
    });
    expect(await Promise.race([read, 'still waits'])).toBe('still waits');
    expect(server.lines).toEqual(['GET /api/v2/workspaces/ws-1']);
  });

  it('does not wait if the service asked for it', async () => {
    const stop = new AbortController();
    const server = await listen(() => ({ status: 503 }));
    const { openWriter } = open({ url: server.url });
    const { again } = await openWriter().send({ ...update, stop: stop.signal });
    stop.abort();
    expect(await failureOf(again?.wait() ?? Promise.resolve())).toMatchObject({
      sent: true,
      message: expect.stringContaining('the run was stopped'),
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([update, create])('ends with its response for any other status: $method', async (write) => {
    const stop = new AbortController();
    const server = await listen(() => {
      stop.abort();
      return { status: 503 };
    });
    const { openWriter } = open({ url: server.url });
    expect(await openWriter().send({ ...write, stop: stop.signal })).toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(1);
  });

  it('may have been carried out if its connection broke, and is not sent again', async () => {
    const stop = new AbortController();
    const server = await listen(() => {
      stop.abort();
      return 'drop';
    });
    const sent = failureOf(
      open({ url: server.url })
        .openWriter()
        .send({ ...update, stop: stop.signal }),
    );
    expect(await sent).toMatchObject({ sent: true });
    expect(server.requests).toHaveLength(1);
  });

  it('continues to its response if it was sent', async () => {
    const stop = new AbortController();
    const server = await listen(() => {
      stop.abort();
      return { body: { data: 'done' } };
    });
    const { openWriter } = open({ url: server.url });
    const answer = await openWriter().send({ ...update, stop: stop.signal });
    expect(answer).toMatchObject({ status: 200, body: { data: 'done' } });
  });

  it('is not sent if it waits for its permit or its token', async () => {
    const stop = new AbortController();
    const server = await listen(() => ({ body: {} }));
    const halt = async () => stop.abort();
    const permitted = open({ url: server.url }).openWriter();
    expect(await failureOf(permitted.send({ ...update, stop: stop.signal, permit: halt }))).toMatchObject({
      sent: false,
    });
    const later = new AbortController();
    const token = () => {
      later.abort();
      return new Promise<string>(() => undefined);
    };
    const tokenless = open({ url: server.url, token }).openWriter();
    expect(await failureOf(tokenless.send({ ...update, stop: later.signal }))).toMatchObject({ sent: false });
    expect(server.requests).toEqual([]);
  });

  it('is not sent over a connection that is being opened', async () => {
    const stop = new AbortController();
    const server = await listen(() => ({ body: {} }));
    const connect = buildConnector({});
    const client = new Client(server.url, {
      connect: (options, callback) => {
        stop.abort();
        connect(options, callback);
      },
    });
    onTestFinished(() => client.destroy());
    const bounds = { bytes: 1000, milliseconds: 60_000 };
    const request = { method: 'PATCH', path: '/workspaces/ws-1', body: '{}' } as const;
    const result = await exchange(client, request, { stop: stop.signal, bounds });
    expect(result).toMatchObject({ kind: 'broken', sent: false });
    expect(server.connections()).toBe(1);
    expect(server.requests).toEqual([]);
  });
});
