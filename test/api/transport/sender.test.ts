// What is sent again and what never is, seen from the server. Every server is a real one on loopback; only the clock is
// simulated.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/api/transport/clock.ts';
import { inTurn, listen, type Reply } from '../../support/http/loopback.ts';
import type { WireError } from '../../../src/model/http.ts';
import { failureOf, open, rolesTarget, workspacesTarget } from '../../support/http/open-for-test.ts';

const create = {
  method: 'POST',
  path: '/organizations/acme/workspaces',
  body: {},
  repeatable: false,
} as const;
const update = { method: 'PATCH', path: '/workspaces/ws-1', body: {}, repeatable: true } as const;

describe('a read', () => {
  it.each([408, 425, 500, 502, 503, 504])(
    'is repeated after a %d, with longer and longer waits',
    async (status) => {
      const server = await listen(inTurn({ status }, { status }, { status }, { body: { data: 'here' } }));
      const { reader, clock, requests } = open({ url: server.url });
      expect(await reader.get('/workspaces/ws-1')).toMatchObject({ status: 200, body: { data: 'here' } });
      expect(clock.waits).toEqual([500, 1000, 2000]);
      expect(requests()).toBe(4);
    },
  );

  it.each<Reply>(['drop', 'cut'])('is repeated when its connection breaks (%s)', async (fault) => {
    const server = await listen(inTurn(fault, fault, { body: { data: 'here' } }));
    expect(await open({ url: server.url }).reader.get('/workspaces/ws-1')).toMatchObject({ status: 200 });
    expect(server.requests).toHaveLength(3);
  });

  it('is repeated over LIST too', async () => {
    const server = await listen(inTurn('drop', { status: 503 }, { body: { data: { keys: [] } } }));
    const { reader } = open({ url: server.url, target: rolesTarget });
    expect(await reader.list('/auth/cluster/role')).toMatchObject({ status: 200 });
    expect(server.lines).toEqual(Array(3).fill('LIST /v1/auth/cluster/role'));
  });

  it('returns the last response when the service does not recover', async () => {
    const server = await listen(() => ({ status: 503, body: { errors: ['no leader'] } }));
    const { reader, requests } = open({ url: server.url, target: rolesTarget });
    expect(await reader.get('/auth/cluster/config')).toMatchObject({ status: 503, words: 'no leader' });
    expect(requests()).toBe(6);
  });

  it('is not repeated while the service is sealed, which needs an operator', async () => {
    const server = await listen(() => ({ status: 503, body: { errors: ['Vault is sealed'] } }));
    const { reader, clock } = open({ url: server.url, target: rolesTarget });
    expect(await reader.get('/auth/cluster/config')).toMatchObject({ status: 503, words: 'Vault is sealed' });
    expect(server.requests).toHaveLength(1);
    expect(clock.waits).toEqual([]);
  });

  it('waits as long as a service in maintenance asks for', async () => {
    const server = await listen(inTurn({ status: 503, headers: { 'retry-after': '2000' } }, { body: {} }));
    const { reader, clock } = open({ url: server.url });
    const began = clock.now();
    expect(await reader.get('/workspaces/ws-1')).toMatchObject({ status: 200 });
    expect(clock.now() - began).toBeGreaterThanOrEqual(2_000_000);
  });

  it('fails with a clear message when it would wait past the end of the run, as do all that wait behind it', async () => {
    const server = await listen(() => ({ status: 503, headers: { 'retry-after': '7200' } }));
    const { reader, clock } = open({ url: server.url });
    const all = Array.from({ length: 30 }, () => failureOf(reader.get('/workspaces/ws-1')));
    const [error] = await Promise.all(all);
    expect(error?.message).toContain(
      'target "acme" asks to wait for 7200 s, and this run has 3600 s left; try again later, or give it more time with --timeout',
    );
    expect(clock.waits).toEqual([]);
    expect(server.requests).toHaveLength(10);
    expect((await failureOf(reader.get('/workspaces/ws-1'))).message).toContain('asks to wait for 7200 s');
    expect(server.requests).toHaveLength(10);
  });

  it.each([400, 404, 409, 422])('is not repeated after a %d', async (status) => {
    const server = await listen(() => ({ status, body: { errors: [] } }));
    await open({ url: server.url }).reader.get('/workspaces/ws-1');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a write that is not repeatable', () => {
  it.each<Reply>(['drop', 'cut'])('is never sent again once it may have arrived (%s)', async (fault) => {
    const server = await listen(() => fault);
    const error = await failureOf(open({ url: server.url }).openWriter().send(create));
    expect(error).toMatchObject({ sent: true, method: 'POST' });
    expect(error.message).toContain('broke before the answer was complete');
    expect(server.requests).toHaveLength(1);
  });

  it.each([408, 425, 500, 502, 503])('returns a %d as it is', async (status) => {
    const server = await listen(() => ({ status }));
    expect(await open({ url: server.url }).openWriter().send(create)).toMatchObject({ status });
    expect(server.requests).toHaveLength(1);
  });

  it('is never sent again when the response does not come in time', async () => {
    const server = await listen(() => 'silence');
    const connection = open({ url: server.url, timeouts: { headers: 50 } });
    const error = await failureOf(connection.openWriter().send(create));
    expect(error).toMatchObject({ sent: true });
    expect(error.message).toContain('gave no answer within 0.05 s');
    expect(server.requests).toHaveLength(1);
  });

  it('is sent once, and may be sent again after a 429, because nothing was processed', async () => {
    const server = await listen(inTurn({ status: 429 }, { status: 429 }, { status: 201, body: {} }));
    const writer = open({ url: server.url }).openWriter();
    const first = await writer.send(create);
    expect(first).toMatchObject({ status: 429, again: { history: { throttled: 1 } } });
    expect(server.requests).toHaveLength(1);
    const history = first.again?.history;
    const second = await writer.send({ ...create, ...(history && { history }) });
    expect(second).toMatchObject({ status: 429, again: { history: { throttled: 2 } } });
    expect(await writer.send(create)).toMatchObject({ status: 201 });
    expect(server.requests).toHaveLength(3);
  });

  it('reports that nothing was sent when no connection could be opened', async () => {
    const server = await listen(() => ({ status: 201 }));
    await server.close();
    const connection = open({ url: server.url });
    const error = await failureOf(connection.openWriter().send(create));
    expect(error).toMatchObject({ sent: false, again: { history: { faults: 1 } } });
    expect(connection.requests()).toBe(1);
    const last = { faults: 2, throttled: 0, spent: 0 };
    const final = await failureOf(connection.openWriter().send({ ...create, history: last }));
    expect(final.again).toBeUndefined();
    expect(final.message).toContain('(tried 3 times)');
  });
});

describe('a response without an end', () => {
  it.each([
    ['never ends', 'trickle' as const, { timeouts: { answer: 60 } }, 'did not end its answer within 0.06 s'],
    [
      'is larger than the limit',
      'trickle' as const,
      { largest: 20 },
      'is larger than any that a service of this kind gives',
    ],
  ])('is aborted if it %s', async (_, reply, bounds, says) => {
    const server = await listen(() => reply);
    const connection = open({
      url: server.url,
      retryPolicy: { attempts: 1, attemptsUnanswered: 1 },
      ...bounds,
    });
    const error = await failureOf(connection.openWriter().send(create));
    expect(error.message).toContain(says);
    expect(error).toMatchObject({ sent: true });
  });

  it('is not requested again when it is too large', async () => {
    const server = await listen(() => ({ body: { data: 'x'.repeat(100) } }));
    await failureOf(open({ url: server.url, largest: 50 }).reader.get('/workspaces/ws-1'));
    expect(server.requests).toHaveLength(1);
  });
});

describe('a write that is repeatable', () => {
  it.each<Reply>(['drop', 'cut', { status: 500 }])(
    'is sent only once, and reports that it may be sent again (%s)',
    async (reply) => {
      const server = await listen(() => reply);
      const writer = open({ url: server.url }).openWriter();
      const { again } = await writer.send(update).catch((error: WireError) => error);
      expect(again).toMatchObject({ history: { faults: 1 } });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('waits before another attempt as long as failures require, or as the service asks', async () => {
    const server = await listen(
      inTurn({ status: 500 }, { status: 503, headers: { 'retry-after': '7' } }, {}),
    );
    const { openWriter, reader, clock } = open({ url: server.url });
    const failed = await openWriter().send(update);
    await failed.again?.wait();
    expect(clock.waits).toEqual([500]);
    await openWriter().send(update);
    const began = clock.now();
    await reader.get('/workspaces/ws-1');
    expect(clock.now() - began).toBeGreaterThanOrEqual(7000);
  });

  it('may not be sent again after as many failures as a read may have', async () => {
    const server = await listen(() => ({ status: 503 }));
    const writer = open({ url: server.url }).openWriter();
    await writer.send(update);
    const answer = await writer.send({ ...update, history: { faults: 5, throttled: 0, spent: 0 } });
    expect(answer.status).toBe(503);
    expect(answer.again).toBeUndefined();
  });

  it('is sent before the reads that wait for their turn', async () => {
    const server = await listen(() => ({ body: {} }));
    const target = { ...workspacesTarget, requestsPerSecond: 1 };
    const { reader, openWriter } = open({ url: server.url, target });
    const reads = Array.from({ length: 3 }, (_, at) => reader.get(`/workspaces/ws-${at}`));
    await Promise.all([...reads, openWriter().send(update)]);
    expect(server.lines.indexOf('PATCH /api/v2/workspaces/ws-1')).toBe(1);
  });
});

describe('a write that needs a permit', () => {
  const refusal = async () => {
    throw new Error('the lock is gone');
  };

  it('requests it after all waits', async () => {
    const arrived: number[] = [];
    const replies: Reply[] = [{ status: 429, headers: { 'retry-after': '60' } }, {}];
    const server = await listen(() => {
      arrived.push(connection.clock.now());
      return replies.shift() ?? {};
    });
    const connection = open({ url: server.url });
    const permitted: number[] = [];
    const permit = async () => {
      permitted.push(connection.clock.now());
    };
    await connection.openWriter().send({ ...update, permit });
    await connection.openWriter().send({ ...update, permit });
    expect(permitted).toHaveLength(2);
    expect(permitted).toEqual(arrived);
  });

  it('is not sent without the permit', async () => {
    const server = await listen(() => ({}));
    const writer = open({ url: server.url }).openWriter();
    const never = await failureOf(writer.send({ ...update, permit: refusal }));
    expect(never).toMatchObject({ sent: false, message: expect.stringContaining('the lock is gone') });
    expect(never.again).toBeUndefined();
    expect(server.requests).toHaveLength(0);
  });

  it('makes room for others when the permit is refused', async () => {
    const server = await listen(() => ({ body: {} }));
    const writer = open({ url: server.url }).openWriter();
    const refused = Array.from({ length: 30 }, () => failureOf(writer.send({ ...update, permit: refusal })));
    await Promise.all(refused);
    expect(await writer.send(update)).toMatchObject({ status: 200 });
  });
});

describe('429', () => {
  it.each([
    ['Retry-After in seconds', { 'retry-after': '7' }, 7000],
    ['Retry-After as a date', { 'retry-after': 'Tue, 01 Jan 2030 00:00:12 GMT' }, 12_000],
    ['X-RateLimit-Reset in seconds, with a fraction', { 'x-ratelimit-reset': '0.25' }, 250],
    [
      'X-RateLimit-Reset as a moment',
      { 'x-ratelimit-reset': `${Date.parse('2030-01-01T00:00:09Z') / 1000}` },
      9000,
    ],
    ['nothing', {}, 500],
  ])('pauses as long as the service asks with %s', async (_, headers, pause) => {
    const server = await listen(inTurn({ status: 429, headers }, { body: {} }));
    const { reader, clock } = open({ url: server.url });
    const began = clock.now();
    expect(await reader.get('/workspaces/ws-1')).toMatchObject({ status: 200 });
    expect(clock.now() - began).toBeGreaterThanOrEqual(pause);
    expect(clock.now() - began).toBeLessThan(pause + 50);
  });

  it('is the only status with which X-RateLimit-Reset is a wait, because gateways may always send it', async () => {
    const headers = { 'x-ratelimit-reset': '3000' };
    const server = await listen(inTurn({ status: 502, headers }, { body: {} }));
    const { reader, clock } = open({ url: server.url });
    expect(await reader.get('/workspaces/ws-1')).toMatchObject({ status: 200 });
    expect(clock.waits).toEqual([500]);
  });

  it('pauses every other request to the target, including writes', async () => {
    const held = Promise.withResolvers<void>();
    const wait = () => {
      held.resolve();
      return new Promise<void>(() => undefined);
    };
    const clock = { now: () => systemClock.now(), wait };
    const server = await listen(inTurn({ status: 429, headers: { 'retry-after': '60' } }, { body: {} }));
    const { reader, openWriter } = open({ url: server.url, clock });
    void reader.get('/workspaces/ws-1').catch(() => undefined);
    await held.promise;
    void reader.get('/workspaces/ws-2').catch(() => undefined);
    void openWriter()
      .send(update)
      .catch(() => undefined);
    // A request on another connection proves that the two above could have been sent.
    await open({ url: server.url }).reader.get('/ping');
    expect(server.lines).toEqual(['GET /api/v2/workspaces/ws-1', 'GET /api/v2/ping']);
  });

  it('also pauses requests that were waiting for a connection', async () => {
    const clock = { now: () => systemClock.now(), wait: () => new Promise<void>(() => undefined) };
    const server = await listen(() => ({ status: 429, headers: { 'retry-after': '60' } }));
    const { reader } = open({ url: server.url, clock });
    for (let n = 0; n < 40; n += 1) void reader.get('/workspaces/ws-1').catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(10);
    await open({ url: server.url, retryPolicy: { throttled: 1 } }).reader.get('/ping');
    expect(server.requests).toHaveLength(11);
  });

  it('without an end stops the run at its deadline, and not before', async () => {
    const server = await listen(() => ({ status: 429, headers: { 'retry-after': '50' } }));
    const { reader, clock } = open({ url: server.url });
    const began = clock.now();
    expect((await failureOf(reader.get('/workspaces/ws-1'))).message).toContain('asks to wait for 50 s');
    expect(clock.now() - began).toBeGreaterThan(3_500_000);
    expect(server.requests.length).toBeGreaterThan(36);
  });

  it('thirty times in a row takes about thirty times the wait that the service asks for', async () => {
    const refused = { status: 429, headers: { 'retry-after': '1' } };
    const server = await listen((_, count) => (count <= 30 ? refused : { body: {} }));
    const { reader, clock } = open({ url: server.url });
    const began = clock.now();
    expect(await reader.get('/workspaces/ws-1')).toMatchObject({ status: 200 });
    expect(clock.now() - began).toBeGreaterThanOrEqual(30_000);
    expect(clock.now() - began).toBeLessThanOrEqual(60_000);
  });

  it('is reported once for all waiting requests', async () => {
    const clock = { now: () => systemClock.now(), wait: () => new Promise<void>(() => undefined) };
    const server = await listen(() => ({ status: 429, headers: { 'retry-after': '42' } }));
    const messages: string[] = [];
    const onWait = (says: string) => void messages.push(says);
    const { reader } = open({ url: server.url, clock, onWait });
    for (let n = 0; n < 5; n += 1) void reader.get('/workspaces/ws-1').catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(5);
    await open({ url: server.url, retryPolicy: { throttled: 1 } }).reader.get('/ping');
    const url = `${server.url}/api/v2/workspaces/ws-1`;
    const says = `waiting for target "acme": it answered 429 to GET ${url}, and the next request is sent in 42 s`;
    expect(messages).toEqual([says]);
  });
});

describe('a service that reports that it has no request left', () => {
  const spent = { 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '42.0' };

  it('gets the next request when it has one, and the wait is reported', async () => {
    const server = await listen(inTurn({ headers: spent, body: {} }, { body: {} }));
    const messages: string[] = [];
    const { reader, clock } = open({ url: server.url, onWait: (says) => void messages.push(says) });
    const began = clock.now();
    await reader.get('/workspaces/ws-1');
    expect(clock.now()).toBe(began);
    await reader.get('/workspaces/ws-2');
    expect(clock.now() - began).toBe(42_000);
    expect(messages).toEqual([
      'waiting for target "acme": its rate limit is used up for now, and the next request is sent in 42 s',
    ]);
  });

  it('is not the same as a run that has ended: final requests such as a revocation are sent', async () => {
    const server = await listen(() => ({ body: {} }));
    const { reader } = open({ url: server.url, until: Date.parse('2029-12-31T23:59:59Z') });
    for (let n = 0; n < 3; n += 1) await reader.get('/workspaces/ws-1');
    expect(server.requests).toHaveLength(3);
  });

  it('until after the end of the run ends the run, but the response that says so counts', async () => {
    const server = await listen(() => ({ headers: spent, body: { data: 'here' } }));
    const { reader } = open({ url: server.url, until: Date.parse('2030-01-01T00:00:30Z') });
    expect(await reader.get('/workspaces/ws-1')).toMatchObject({ body: { data: 'here' } });
    const { message } = await failureOf(reader.get('/workspaces/ws-2'));
    expect(message).toContain('asks to wait for 42 s, and this run has 30 s left');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a token', () => {
  it('that was replaced meanwhile is used after a 403, once', async () => {
    let current = 'old';
    const server = await listen(({ headers }) =>
      headers['authorization'] === 'Bearer new'
        ? { status: 201, body: {} }
        : { status: 403, body: { errors: [] } },
    );
    const connection = open({
      url: server.url,
      token: async (_path, refused) => {
        if (refused === current) current = 'new';
        return current;
      },
    });
    expect(await connection.reader.get('/workspaces/ws-1')).toMatchObject({ status: 201 });
    expect(server.requests).toHaveLength(2);
  });

  it('that was replaced meanwhile allows another attempt of a write, once', async () => {
    const server = await listen(() => ({ status: 403, body: { errors: [] } }));
    const token = async (_path: string, refused?: string) => (refused === undefined ? 'old' : 'new');
    const writer = open({ url: server.url, token }).openWriter();
    const first = await writer.send(create);
    expect(first).toMatchObject({ status: 403, again: { history: { hasNewToken: true } } });
    const history = first.again?.history;
    expect((await writer.send({ ...create, ...(history && { history }) })).again).toBeUndefined();
    expect(server.requests).toHaveLength(2);
  });

  it('that was not replaced makes a 403 the result', async () => {
    const server = await listen(() => ({ status: 403, body: { errors: ['permission denied'] } }));
    const answer = await open({ url: server.url }).reader.get('/workspaces/ws-1');
    expect(answer).toMatchObject({ status: 403, words: 'permission denied' });
    expect(server.requests).toHaveLength(1);
  });

  it('is read from its file without the line end', async () => {
    const server = await listen(() => ({ body: {} }));
    await open({ url: server.url, token: async () => 'from-a-file\n' }).reader.get('/workspaces/ws-1');
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer from-a-file');
  });
});
