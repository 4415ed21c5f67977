// A target as plan and apply use it: its responses, its rate, its end, and what cannot be sent at all.
// Every server is a real one on loopback; only the clock is simulated.
import { describe, expect, it } from 'vitest';
import { findDialect } from '../../src/api/dialects.ts';
import { openConnection } from '../../src/api/transport/connection.ts';
import { openReader } from '../../src/api/open-target.ts';
import { asksRightsOnly, readsOnly } from '../../src/api/transport/dispatcher.ts';
import { Sender } from '../../src/api/transport/sender.ts';
import { inTurn, listen } from '../support/http/loopback.ts';
import { failureOf, open, rolesTarget, workspacesTarget } from '../support/http/open-for-test.ts';

const neutral = findDialect('workspaces', 'neutral') ?? expect.unreachable();
const create = {
  method: 'POST',
  path: '/organizations/acme/workspaces',
  body: {},
  repeatable: false,
} as const;
const update = { method: 'PATCH', path: '/workspaces/ws-1', body: {}, repeatable: true } as const;

describe('the connection of a plan', () => {
  it('has two verbs, and no member that writes', async () => {
    const server = await listen(() => ({ body: { data: [] } }));
    const connection = openReader({
      target: workspacesTarget,
      url: server.url,
      dialect: neutral,
      userAgent: 'trueup/test',
      token: async () => 'the-token',
    });
    expect(Object.keys(connection).sort()).toEqual([
      'clockAhead',
      'close',
      'reader',
      'requests',
      'spokenDialect',
    ]);
    expect(Object.keys(connection.reader).sort()).toEqual(['get', 'list']);
    await connection.reader.get('/workspaces/ws-1');
    expect(connection.requests()).toBe(1);
    await connection.close();
  });

  it.each(['POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])(
    'refuses %s, even from inside',
    async (method) => {
      const server = await listen(() => ({ status: 200, body: {} }));
      const connection = openConnection({
        target: workspacesTarget,
        url: server.url,
        dialect: neutral,
        userAgent: 'trueup/test',
      });
      const sender = new Sender({ connection, dispatcher: readsOnly(connection.dispatcher) });
      await expect(sender.send({ method, path: '/workspaces/ws-1', repeatable: true })).rejects.toThrow(
        `a reader may not send ${method} /api/v2/workspaces/ws-1`,
      );
      expect(server.connections()).toBe(0);
      await connection.close();
    },
  );
});

describe('the query of the permissions of a token', () => {
  it.each([
    ['POST', '/auth/cluster/role/web'],
    ['POST', '/sys/capabilities-self/x'],
    ['POST', '/sys/capabilities-self?x=y'],
    ['GET', '/sys/capabilities-self'],
    ['DELETE', '/sys/capabilities-self'],
  ])('has a connection that refuses %s %s', async (method, path) => {
    const server = await listen(() => ({ status: 200, body: {} }));
    const connection = openConnection({
      target: rolesTarget,
      url: server.url,
      dialect: findDialect('cluster-auth', 'neutral') ?? expect.unreachable(),
      userAgent: 'trueup/test',
    });
    const dispatcher = asksRightsOnly(connection.dispatcher, '/v1/sys/capabilities-self');
    const sender = new Sender({ connection, dispatcher });
    await expect(sender.send({ method, path, repeatable: true })).rejects.toThrow(
      `a query of permissions may not send ${method} /v1${path}`,
    );
    expect(server.connections()).toBe(0);
    await connection.close();
  });
});

describe('a response', () => {
  it('is a value for any status, with the message of the service and the request id', async () => {
    const server = await listen(() => ({
      status: 422,
      headers: { 'x-request-id': '7f-1' },
      body: {
        errors: [{ status: '422', title: 'invalid attribute', detail: 'Name has already been taken' }],
      },
    }));
    const answer = await open({ url: server.url }).openWriter().send(create);
    expect(answer).toMatchObject({
      method: 'POST',
      url: `${server.url}/api/v2/organizations/acme/workspaces`,
      status: 422,
      words: 'invalid attribute: Name has already been taken',
      requestId: '7f-1',
    });
  });

  it('may be empty', async () => {
    const server = await listen(() => ({ status: 204 }));
    expect(await open({ url: server.url }).openWriter().send(update)).toMatchObject({
      status: 204,
      body: null,
      words: '',
    });
  });

  it('with status 200 that is a web page is an error, not an empty list', async () => {
    const page = '<!doctype html><html><head><title>Sign in</title></head></html>';
    const server = await listen(() => ({ headers: { 'content-type': 'text/html' }, body: page }));
    const error = await failureOf(open({ url: server.url }).reader.get('/workspaces/ws-1'));
    expect(error.message).toBe(
      `GET ${server.url}/api/v2/workspaces/ws-1 answered 200 without valid JSON: a page "Sign in"; check that the target's "url" leads to the service itself`,
    );
  });

  it.each([
    ['lists', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['objects', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
  ])('with endless nesting (%s) is not valid', async (_, body) => {
    const server = await listen((_request, count) => ({ status: count % 2 === 1 ? 400 : 200, body }));
    for (const dialect of [neutral, findDialect('workspaces', 'hcp-terraform') ?? expect.unreachable()]) {
      const { reader } = open({ url: server.url, dialect });
      expect(await reader.get('/workspaces/ws-1')).toMatchObject({ status: 400, body: null });
      const error = await failureOf(reader.get('/workspaces/ws-1'));
      expect(error.message).toContain('answered 200 without valid JSON');
    }
  });

  it('with a redirect says where it leads', async () => {
    const server = await listen(() => ({
      status: 307,
      headers: { location: 'https://active.internal/v1/sys' },
    }));
    const answer = await open({ url: server.url, target: rolesTarget }).reader.get('/sys/auth');
    expect(answer.words).toContain('it redirects to "https://active.internal/v1/sys"');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['/login?code=planted-7f1', '/login'],
    ['https://me:planted-7f1@sso.internal/login?next=a#planted-7f1', 'https://***@sso.internal/login'],
    ['/login;jsessionid=planted-7f1', '/login;jsessionid=[secret]'],
  ])('with a redirect to %s shows no parameters', async (location, shown) => {
    const server = await listen(() => ({ status: 302, headers: { location } }));
    const answer = await open({ url: server.url, target: rolesTarget }).reader.get('/sys/auth');
    expect(answer.words).toContain(`it redirects to "${shown}"`);
  });
});

describe('the rate', () => {
  it('is thirty requests a second by default', async () => {
    const server = await listen(() => ({ body: {} }));
    const { requestsPerSecond: _, ...target } = workspacesTarget;
    const { reader, clock } = open({ url: server.url, target });
    const began = clock.now();
    await Promise.all(Array.from({ length: 70 }, (_, n) => reader.get(`/workspaces/ws-${n}`)));
    expect(clock.now() - began).toBeGreaterThanOrEqual(2000);
    expect(server.requests).toHaveLength(70);
  });

  it('follows the limit that the service reports', async () => {
    const server = await listen(() => ({ headers: { 'x-ratelimit-limit': '5' }, body: {} }));
    const { requestsPerSecond: _, ...target } = workspacesTarget;
    const { reader, clock } = open({ url: server.url, target });
    const began = clock.now();
    for (let n = 0; n < 20; n += 1) await reader.get(`/workspaces/ws-${n}`);
    expect(clock.now() - began).toBeGreaterThanOrEqual(3000);
  });

  it('has no limit for the embedded service', async () => {
    const server = await listen(() => ({ body: {} }));
    const { requestsPerSecond: _, ...target } = { ...workspacesTarget, url: 'embedded' };
    const { reader, clock } = open({ url: server.url, target });
    await Promise.all(Array.from({ length: 200 }, () => reader.get('/workspaces/ws-1')));
    expect(clock.waits).toEqual([]);
  });

  it('allows at most ten connections', async () => {
    const server = await listen(() => ({ body: {} }));
    const { reader } = open({ url: server.url });
    await Promise.all(Array.from({ length: 100 }, () => reader.get('/workspaces/ws-1')));
    expect(server.connections()).toBeLessThanOrEqual(10);
  });
});

describe('the end of a run', () => {
  it('gives up waiting requests, and aborts sent ones', async () => {
    const stop = new AbortController();
    const server = await listen(() => 'silence');
    const { reader, openWriter } = open({ url: server.url, signal: stop.signal });
    const failures = [
      ...Array.from({ length: 30 }, () => failureOf(reader.get('/workspaces/ws-1'))),
      failureOf(openWriter().send(create)),
    ];
    await expect.poll(() => server.requests.length).toBe(10);
    stop.abort(new Error('interrupted'));
    const errors = await Promise.all(failures);
    expect(errors.filter(({ sent }) => sent)).toHaveLength(10);
    expect(errors.at(-1)).toMatchObject({
      message: `POST ${server.url}/api/v2/organizations/acme/workspaces was given up: interrupted`,
      sent: false,
    });
    expect(server.requests).toHaveLength(10);
  });

  it('is reported to a request after closing', async () => {
    const server = await listen(() => ({ body: {} }));
    const connection = open({ url: server.url });
    await connection.close();
    const error = await failureOf(connection.reader.get('/workspaces/ws-1'));
    expect(error.message).toContain('was given up: the target was closed');
  });

  it('causes no warnings of Node, for many waiting requests', async () => {
    const warnings: string[] = [];
    const listener = (warning: Error) => warnings.push(warning.message);
    process.on('warning', listener);
    const server = await listen(() => ({ body: {} }));
    const { reader } = open({ url: server.url });
    await Promise.all(Array.from({ length: 300 }, () => reader.get('/workspaces/ws-1')));
    await new Promise(setImmediate);
    process.off('warning', listener);
    expect(warnings).toEqual([]);
  });
});

describe('a read whose connection breaks', () => {
  it('is sent again, and both attempts are counted', async () => {
    const server = await listen(inTurn('drop', { status: 200, body: {} }));
    const { reader, requests } = open({ url: server.url });
    await reader.get('/workspaces/ws-1');
    expect(server.lines).toEqual(['GET /api/v2/workspaces/ws-1', 'GET /api/v2/workspaces/ws-1']);
    expect(requests()).toBe(2);
  });
});
