import { request as httpRequest } from 'node:http';

import { expect, it } from 'vitest';

import { sendToItsEnd } from '../../support/server/send-to-its-end.ts';
import { serveForTest, workspaceBody } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';

it.each([
  ['no token', undefined],
  ['an unknown token', 'nobody'],
  ['an empty token', ''],
])('answers 401 to %s, for any request', async (_case, token) => {
  const api = (await serveForTest()).as(token);
  for (const answer of [await api.get(LIST), await api.get('/nowhere'), await api.post(LIST, 'not json')]) {
    expect(answer.status).toBe(401);
    expect(answer.errors[0]).toMatchObject({ status: '401', title: 'unauthorized' });
  }
});

it('accepts the scheme Bearer in upper or lower case, and no other scheme', async () => {
  const api = (await serveForTest()).as(undefined);
  expect((await api.send('GET', LIST, undefined, { authorization: 'bearer ann' })).status).toBe(200);
  expect((await api.send('GET', LIST, undefined, { authorization: 'Basic ann' })).status).toBe(401);
  expect((await api.send('GET', LIST, undefined, { authorization: 'ann' })).status).toBe(401);
});

it('answers unknown routes with an error in the format of JSON:API', async () => {
  const api = await serveForTest();
  const answer = await api.get('/moon');
  expect(answer.status).toBe(404);
  expect(answer.headers.get('content-type')).toContain('application/vnd.api+json');
  expect(answer.errors).toEqual([{ status: '404', title: 'not found', detail: expect.any(String) }]);
});

it.each(['application/vnd.api+json', 'application/json', 'application/json; charset=utf-8'])(
  'reads bodies of the type %s',
  async (type) => {
    const api = await serveForTest();
    const answer = await api.send('POST', LIST, workspaceBody({ name: 'a' }), { 'content-type': type });
    expect(answer.status).toBe(201);
  },
);

it.each(['POST', 'PATCH', 'DELETE'])('answers 415 to a %s with a body of another type', async (method) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const path = `/workspaces/${id}/relationships/remote-state-consumers`;
  const answer = await api.send(method, path, '{}', { 'content-type': 'text/plain' });
  expect(answer.status).toBe(415);
  expect(answer.errors[0]).toMatchObject({ status: '415', title: 'unsupported media type' });
});

it.each([
  ['bytes that are not UTF-8', Buffer.from('{"name":"b","description":"caf\xe9"}', 'latin1')],
  ['a truncated character', Buffer.from('{"name":"b","description":"caf\xc3"}', 'latin1')],
  ['half of a surrogate pair', String.raw`{"name":"b","description":"\ud83d"}`],
  ['the other half of a surrogate pair', String.raw`{"name":"b","description":"x\uDE00"}`],
  ['half of a surrogate pair in a name', String.raw`{"name":"b","\ud83d":1}`],
])('refuses %s with 400, and changes nothing', async (_what, attributes) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', description: 'before' });
  const text = (part: string): Buffer => Buffer.from(part);
  const body = Buffer.concat([
    text('{"data":{"type":"workspaces","attributes":'),
    Buffer.from(attributes),
    text('}}'),
  ]);
  const headers = { 'content-type': 'application/vnd.api+json' };
  for (const [method, path] of [
    ['POST', LIST],
    ['PATCH', `/workspaces/${id}`],
  ] as const) {
    const answer = await api.send(method, path, body, headers);
    expect(answer.status).toBe(400);
    expect(answer.errors[0]).toMatchObject({ status: '400', title: 'bad request' });
  }
  expect((await api.get(LIST)).names).toEqual(['a']);
});

it('keeps whole surrogate pairs and characters of any length as they were sent', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const body = String.raw`{"data":{"type":"workspaces","attributes":{"description":"é \ud83d\ude00 😀 \\ud83d"}}}`;
  expect((await api.patch(`/workspaces/${id}`, body)).status).toBe(200);
  expect((await api.attributes(id))['description']).toBe(String.raw`é 😀 😀 \ud83d`);
});

it.each(['{', '{"data":', 'null null', "{'data': 1}"])('answers 400 to the broken JSON %s', async (body) => {
  const api = await serveForTest();
  const answer = await api.post(LIST, body);
  expect(answer.status).toBe(400);
  expect(answer.errors[0]).toMatchObject({ status: '400', title: 'bad request' });
});

it('needs no body and no content type where the API requires none', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  expect((await api.post(`/workspaces/${id}/actions/lock`)).status).toBe(200);
  const typed = await api.send('POST', `/workspaces/${id}/actions/unlock`, undefined, {
    'content-type': 'application/vnd.api+json',
  });
  expect(typed.status).toBe(200);
});

it('answers 400 to a path that cannot be decoded', async () => {
  const api = await serveForTest();
  const status = await new Promise((resolve, reject) => {
    const request = httpRequest(`${api.url}/api/v2/workspaces/%E0%A4%A`, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end();
  });
  expect(status).toBe(400);
});

it('adds a request id to every answer', async () => {
  const api = await serveForTest();
  const ids = [await api.get(LIST), await api.get('/moon'), await api.as('nobody').get(LIST)].map((answer) =>
    answer.headers.get('x-request-id'),
  );
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(ids).size).toBe(3);
});

it('accepts a very long name, and answers 404 for it', async () => {
  const api = await serveForTest();
  const answer = await api.get(`${LIST}/${'n'.repeat(500)}`);
  expect(answer.errors[0]?.detail).toContain('Workspace');
});

it('refuses a body that is too large after all of it was sent, with or without its length', async () => {
  const api = await serveForTest();
  const body = Buffer.alloc(17 * 1024 * 1024, ' ');
  for (const length of [{ 'content-length': String(body.length) }, { 'transfer-encoding': 'chunked' }]) {
    const headers = { authorization: 'Bearer ann', 'content-type': 'application/vnd.api+json', ...length };
    const url = `${api.url}/api/v2/organizations/acme/workspaces`;
    expect(await sendToItsEnd(url, { method: 'POST', headers, body })).toBe(413);
  }
  const refused = await api.send('POST', '/organizations/acme/workspaces', body);
  expect(refused.errors[0]?.detail).toContain('larger than 16777216 bytes');
});
