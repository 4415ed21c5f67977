import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';

import { type ServedRequest, startServer } from '../../src/server/start-server.ts';
import { temporaryDataFile } from '../support/server/data-file.ts';
import { SEED, serveForTest, TestClient } from '../support/server/serve-for-test.ts';

it('listens on loopback, on a port that the system chooses', async () => {
  const server = await startServer({ data: ':memory:' });
  onTestFinished(() => server.close());
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  expect(server.port).toBeGreaterThan(0);
});

it('listens on the port it is given, and frees it on close', async () => {
  const first = await startServer({ data: ':memory:' });
  await first.close();
  const second = await startServer({ data: ':memory:', port: first.port });
  onTestFinished(() => second.close());
  expect(second.port).toBe(first.port);
});

it('fails with the error of the system when the port is taken', async () => {
  const first = await startServer({ data: ':memory:' });
  onTestFinished(() => first.close());
  await expect(startServer({ data: ':memory:', port: first.port })).rejects.toThrow(/EADDRINUSE/);
});

it('closes although a client keeps its connection alive', async () => {
  const server = await startServer({ data: ':memory:', seed: SEED });
  await new TestClient(server.url, 'ann').get('/organizations/acme/workspaces');
  const closed = server.close();
  await expect(closed).resolves.toBeUndefined();
});

it.each([
  ['nothing was ever sent', ''],
  ['half of a request was sent', 'GET /api/v2/ping HTTP/1.1\r\nhost: x'],
])('closes although a connection is open on which %s', async (_, text) => {
  const server = await startServer({ data: ':memory:' });
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  socket.on('error', () => {}).resume();
  if (text !== '') await new Promise((sent) => socket.write(text, sent));
  await new TestClient(server.url, 'nobody').send('GET', '/ping').catch(() => undefined);
  await server.close();
  await ended;
});

it('keeps its data in the data file', async () => {
  const data = temporaryDataFile();
  const first = await startServer({ data, seed: SEED });
  const id = await new TestClient(first.url, 'ann').created({ name: 'kept' });
  await first.close();
  const api = await serveForTest({ data, seed: {} });
  expect((await api.get(`/workspaces/${id}`)).resource.attributes['name']).toBe('kept');
});

it('keeps two servers in one process apart', async () => {
  const [one, two] = [await serveForTest(), await serveForTest()];
  await one.created({ name: 'mine' });
  expect((await two.get('/organizations/acme/workspaces')).resources).toEqual([]);
});

it('serves one file from two servers at once, which see the writes of each other', async () => {
  const data = temporaryDataFile();
  const [one, two] = [await serveForTest({ data }), await serveForTest({ data })];
  const id = await one.created({ name: 'shared' });
  expect((await two.update(id, { description: 'x' })).status).toBe(200);
  expect((await one.attributes(id))['description']).toBe('x');
  const creations = [one, two].flatMap((api) =>
    Array.from({ length: 20 }, () => api.create({ name: 'race' })),
  );
  const statuses = (await Promise.all(creations)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 422)).toHaveLength(39);
});

it.each([101, 1024, 1025, 12_000])('answers 404 to an unknown id of %i characters', async (length) => {
  const api = await serveForTest();
  const id = 'w'.repeat(length);
  for (const path of [`/workspaces/${id}`, `/organizations/${id}/workspaces`, `/runs/${id}`]) {
    const answer = await api.get(path);
    expect([answer.status, answer.errors[0]?.title], path.slice(0, 20)).toEqual([404, 'not found']);
    expect((await api.as(undefined).get(path)).status).toBe(401);
  }
});

it('reports a failure to its caller, and answers the client without details', async () => {
  const failures: Error[] = [];
  let broken = false;
  const now = () => {
    if (broken) throw new Error('the clock stopped');
    return new Date();
  };
  const api = await serveForTest({ now, onFailure: (error) => failures.push(error) });
  broken = true;
  const answer = await api.get('/organizations/acme/workspaces');
  expect(answer.status).toBe(500);
  expect(answer.errors).toEqual([
    { status: '500', title: 'internal error', detail: 'The service failed to handle the request' },
  ]);
  broken = false;
  await api.get('/organizations/acme/workspaces/none');
  expect(failures.map(({ message }) => message)).toEqual(['the clock stopped']);
});

it('reports each request with its route before its answer arrives', async () => {
  const served: ServedRequest[] = [];
  const api = await serveForTest({ onRequest: (request) => served.push(request) });
  const id = await api.created({ name: 'a' });
  await api.get(`/workspaces/${id}?include=project`);
  await api.get('/nowhere');
  expect(served).toEqual([
    {
      method: 'POST',
      route: '/api/v2/organizations/:organization_name/workspaces',
      url: '/api/v2/organizations/acme/workspaces',
      status: 201,
    },
    {
      method: 'GET',
      route: '/api/v2/workspaces/:workspace_id',
      url: `/api/v2/workspaces/${id}?include=project`,
      status: 200,
    },
    { method: 'GET', route: '/api/v2/nowhere', url: '/api/v2/nowhere', status: 404 },
  ]);
});

it('accepts a request that names the whole URL, like requests to a proxy', async () => {
  const { url } = await serveForTest();
  const { port } = new URL(url);
  const status = await new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: `${url}/v1/sys/health?x=1` }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject).end();
  });
  expect(status).toBe(200);
});
