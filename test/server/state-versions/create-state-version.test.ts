import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import {
  seedWith,
  serveForTest,
  type TestAnswer,
  type TestClient,
} from '../../support/server/serve-for-test.ts';

const WS = '/workspaces/ws-a';
const SEED = seedWith({
  workspaces: [{ name: 'a', id: 'ws-a' }],
  teams: [
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
    { name: 'planners', token: 'planners', 'workspace-access': { a: 'plan' } },
    { name: 'savers', token: 'savers', 'workspace-access': { a: ['can-create-state-versions'] } },
  ],
});

/** A state as the engine writes it, with the given number of managed resources. */
function stateText(resources: number, outputs: object = {}): string {
  return JSON.stringify({
    version: 4,
    lineage: 'line-1',
    outputs,
    resources: [
      { mode: 'data', type: 'read_only', name: 'd', instances: [{}] },
      { mode: 'managed', type: 'thing', name: 't', instances: Array.from({ length: resources }, () => ({})) },
    ],
  });
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function save(api: TestClient, serial: number, more: object = {}): Promise<TestAnswer> {
  return api.post(`${WS}/state-versions`, {
    data: { type: 'state-versions', attributes: { serial, md5: md5(stateText(0)), ...more } },
  });
}

function saveWhole(api: TestClient, serial: number, text: string, more: object = {}): Promise<TestAnswer> {
  return save(api, serial, { md5: md5(text), state: base64(text), lineage: 'line-1', ...more });
}

async function locked(): Promise<TestClient> {
  const api = await serveForTest({ seed: SEED });
  await api.post(`${WS}/actions/lock`);
  return api;
}

it('makes a state in the request current immediately, with its resources and outputs', async () => {
  const api = await locked();
  const outputs = {
    url: { type: 'string', value: 'https://x' },
    key: { type: 'string', value: 's3', sensitive: true },
  };
  const answer = await saveWhole(api, 1, stateText(3, outputs));
  expect(answer.status).toBe(201);
  expect(answer.resource).toMatchObject({
    type: 'state-versions',
    attributes: { serial: 1, status: 'finalized', intermediate: false, 'resources-processed': true },
  });
  expect(answer.resource.attributes['resources']).toEqual([
    { name: 't', type: 'thing', module: 'root', count: 3 },
  ]);
  const workspace = (await api.get(WS)).resource;
  expect(workspace.attributes['resource-count']).toBe(3);
  expect(workspace.relationships['current-state-version']?.data).toEqual({
    id: answer.resource.id,
    type: 'state-versions',
  });
  const shown = await api.get(`${WS}/current-state-version-outputs`);
  expect(shown.resources.map(({ attributes }) => [attributes['name'], attributes['value']])).toEqual([
    ['key', null],
    ['url', 'https://x'],
  ]);
});

it('accepts a state at a link that needs no token, and shows it after the upload', async () => {
  const api = await locked();
  const text = stateText(2);
  const pending = await save(api, 1, { md5: md5(text) });
  expect(pending.resource.attributes).toMatchObject({
    status: 'pending',
    'resources-processed': false,
    'hosted-state-download-url': null,
  });
  expect((await api.get(`${WS}/current-state-version`)).status).toBe(404);
  const upload = pending.resource.attributes['hosted-state-upload-url'] as string;
  expect(upload.startsWith(`${api.url}/`)).toBe(true);
  const headers = { 'content-type': 'application/octet-stream' };
  expect((await fetch(upload, { method: 'PUT', body: text, headers })).status).toBe(200);
  const json = pending.resource.attributes['hosted-json-state-upload-url'] as string;
  expect((await fetch(json, { method: 'PUT', body: '{"json":1}', headers })).status).toBe(200);
  const { attributes } = (await api.get(`/state-versions/${pending.resource.id}`)).resource;
  expect(attributes).toMatchObject({ status: 'finalized', 'hosted-state-upload-url': null });
  expect(await (await fetch(attributes['hosted-state-download-url'] as string)).text()).toBe(text);
  expect(await (await fetch(attributes['hosted-json-state-download-url'] as string)).text()).toBe(
    '{"json":1}',
  );
  expect((await api.attributes('ws-a'))['resource-count']).toBe(2);
});

it('refuses a second upload, another state than the announced one, and an invalid one', async () => {
  const api = await locked();
  const send = async (serial: number, announced: string, body: string) => {
    const answer = await save(api, serial, { md5: md5(announced) });
    const url = answer.resource.attributes['hosted-state-upload-url'] as string;
    return {
      id: answer.resource.id,
      send: () => fetch(url, { method: 'PUT', body }).then(({ status }) => status),
    };
  };
  const good = await send(1, stateText(1), stateText(1));
  expect([await good.send(), await good.send()]).toEqual([200, 409]);
  const other = await send(2, stateText(1), stateText(2));
  expect(await other.send()).toBe(409);
  const none = await send(3, 'no state', 'no state');
  expect(await none.send()).toBe(422);
  for (const { id } of [other, none]) {
    expect((await api.get(`/state-versions/${id}`)).resource.attributes['status']).toBe('pending');
  }
});

it.each(['5', 5.5, -1])('refuses a state that contains the serial %j', async (own) => {
  const api = await locked();
  const text = JSON.stringify({ version: 4, serial: own, lineage: 'line-1' });
  const inline = await saveWhole(api, 5, text);
  expect([inline.status, inline.pointers]).toEqual([422, ['/data/attributes/state']]);
  expect((await api.get(`${WS}/state-versions`)).resources).toEqual([]);
  const pending = await save(api, 5, { md5: md5(text) });
  expect(await sendTo(pending, text)).toBe(422);
  const shown = (await api.get(`/state-versions/${pending.resource.id}`)).resource.attributes;
  expect(shown['status']).toBe('pending');
  expect(await currentOf(api)).toBeNull();
});

const stateOf = (serial: number, lineage: string, note = '') =>
  JSON.stringify({ version: 4, serial, lineage, note });

it('reads serial and lineage from the state, not from the announcement', async () => {
  const api = await locked();
  const text = stateOf(5, 'real');
  const pending = await save(api, 0, { md5: md5(text), lineage: 'announced' });
  expect(await sendTo(pending, text)).toBe(200);
  const shown = (await api.get(`/state-versions/${pending.resource.id}`)).resource.attributes;
  expect([shown['serial'], shown['status']]).toEqual([5, 'finalized']);
  expect((await saveWhole(api, 6, stateOf(6, 'announced'), { lineage: 'announced' })).status).toBe(409);
  expect((await saveWhole(api, 6, stateOf(6, 'real'), { lineage: 'real' })).status).toBe(201);
});

it.each([
  ['an older serial', stateOf(4, 'real')],
  ['another lineage', stateOf(9, 'other')],
  ['the same serial and another content', stateOf(5, 'real', 'changed')],
])('refuses at the upload link a state with %s than the stored one, unless it is forced', async (_, text) => {
  const api = await locked();
  expect((await saveWhole(api, 5, stateOf(5, 'real'), { lineage: 'real' })).status).toBe(201);
  expect(await sendTo(await save(api, 7, { md5: md5(text) }), text)).toBe(409);
  expect(await sendTo(await save(api, 8, { md5: md5(text), force: true }), text)).toBe(200);
});

it('accepts the same state again under its serial', async () => {
  const api = await locked();
  const text = stateOf(5, 'real');
  expect((await saveWhole(api, 5, text, { lineage: 'real' })).status).toBe(201);
  expect((await saveWhole(api, 5, text, { lineage: 'real' })).status).toBe(201);
  expect((await saveWhole(api, 5, stateOf(5, 'real', 'x'), { lineage: 'real' })).status).toBe(409);
});

it('lets the lock holder announce a serial again after a failed upload, and revokes the earlier link', async () => {
  const api = await locked();
  const text = stateOf(1, 'real');
  const failed = await save(api, 1, { md5: md5(text) });
  expect((await save(api.as('writers'), 1, { md5: md5(text) })).status).toBe(409);
  const again = await save(api, 1, { md5: md5(text) });
  expect([again.status, again.resource.id === failed.resource.id]).toEqual([201, false]);
  expect(await sendTo(failed, text)).toBe(404);
  expect((await api.get(`/state-versions/${failed.resource.id}`)).status).toBe(404);
  expect(await sendTo(again, text)).toBe(200);
  expect(await currentOf(api)).toMatchObject({ id: again.resource.id });
});

it('refuses files that are not UTF-8, at their links and in a body', async () => {
  const api = await locked();
  const bytes = Buffer.from('{"outputs":{},"note":"caf\xe9"}', 'latin1');
  const announced = { md5: createHash('md5').update(bytes).digest('hex') };
  const pending = await save(api, 1, announced);
  for (const link of ['hosted-state-upload-url', 'hosted-json-state-upload-url']) {
    const url = pending.resource.attributes[link] as string;
    expect((await fetch(url, { method: 'PUT', body: bytes })).status).toBe(400);
  }
  const shown = (await api.get(`/state-versions/${pending.resource.id}`)).resource.attributes;
  expect([shown['status'], shown['hosted-json-state-download-url']]).toEqual(['pending', null]);
  for (const name of ['state', 'json-state', 'json-state-outputs']) {
    const inline = await save(api, 2, { ...announced, [name]: bytes.toString('base64') });
    expect([inline.status, inline.pointers]).toEqual([422, [`/data/attributes/${name}`]]);
  }
});

it('accepts states only from the lock holder', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await saveWhole(api, 1, stateText(1))).status).toBe(409);
  await api.post(`${WS}/actions/lock`);
  expect((await saveWhole(api.as('writers'), 1, stateText(1))).status).toBe(409);
  expect((await saveWhole(api.as('planners'), 1, stateText(1))).status).toBe(404);
  expect((await api.get(`${WS}/state-versions`)).resources).toEqual([]);
  expect((await saveWhole(api, 1, stateText(1))).status).toBe(201);
});

it('refuses another state under the same serial and another lineage, unless it is forced', async () => {
  const api = await locked();
  await saveWhole(api, 5, stateText(1));
  expect((await saveWhole(api, 5, stateText(2))).status).toBe(409);
  expect((await saveWhole(api, 6, stateText(2), { lineage: 'other' })).status).toBe(409);
  expect((await saveWhole(api, 5, stateText(2), { force: true, lineage: 'other' })).status).toBe(201);
  expect((await api.attributes('ws-a'))['resource-count']).toBe(2);
});

async function createRun(api: TestClient): Promise<string> {
  const run = await api.post('/runs', {
    data: { type: 'runs', relationships: { workspace: { data: { type: 'workspaces', id: 'ws-a' } } } },
  });
  return run.resource.id;
}

function saveAs(api: TestClient, run: string, serial: number, more: object = {}): Promise<TestAnswer> {
  const attributes = { serial, md5: md5(stateText(4)), ...more };
  const relationships = { run: { data: { type: 'runs', id: run } } };
  return api.post(`${WS}/state-versions`, { data: { type: 'state-versions', attributes, relationships } });
}

const WHOLE = { state: base64(stateText(4)) };

it.each([{}, { intermediate: false }])(
  'makes a state of a run current only after its apply: %j',
  async (asked) => {
    const api = await serveForTest({ seed: SEED });
    const run = await createRun(api);
    const saved = await saveAs(api, run, 1, { ...WHOLE, ...asked });
    expect(saved.resource.attributes['intermediate']).toBe(true);
    expect(saved.resource.relationships['run']?.data).toEqual({ id: run, type: 'runs' });
    expect((await api.attributes('ws-a'))['resource-count']).toBe(0);
    await api.post(`/runs/${run}/actions/apply`);
    expect((await api.get(`${WS}/current-state-version`)).resource.id).toBe(saved.resource.id);
    expect((await api.attributes('ws-a'))['resource-count']).toBe(4);
  },
);

it('accepts a state while a run holds the lock only from callers who name the run and may apply it', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
  const unnamed = await saveWhole(api.as('writers'), 1, stateText(1));
  expect([unnamed.status, unnamed.errors[0]?.detail]).toEqual([409, `The workspace is locked by Run ${run}`]);
  expect((await saveAs(api, 'run-other', 1, WHOLE)).status).toBe(409);
  expect((await saveAs(api.as('savers'), run, 1, WHOLE)).status).toBe(409);
  expect((await api.get(`${WS}/state-versions`)).resources).toEqual([]);
  expect((await saveAs(api.as('writers'), run, 1, WHOLE)).status).toBe(201);
});

it('never makes a state of a discarded run current, not even at a later unlock', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
  await saveAs(api, run, 1, WHOLE);
  await saveAs(api, run, 2);
  expect((await api.post(`/runs/${run}/actions/discard`)).status).toBe(202);
  await api.as('writers').post(`${WS}/actions/lock`);
  expect((await api.as('writers').post(`${WS}/actions/unlock`)).status).toBe(200);
  expect((await api.get(`${WS}/current-state-version`)).status).toBe(404);
});

it('stores the outputs that a client sends beside its state', async () => {
  const api = await locked();
  const outputs = { list: { type: ['list', 'string'], value: ['a'], sensitive: false } };
  await saveWhole(api, 1, stateText(0), { 'json-state-outputs': base64(JSON.stringify(outputs)) });
  const { resources } = await api.get(`${WS}/current-state-version-outputs`);
  expect(resources.map(({ attributes }) => attributes)).toEqual([
    { name: 'list', sensitive: false, type: 'array', 'detailed-type': ['list', 'string'], value: ['a'] },
  ]);
});

it('names every error in a body', async () => {
  const api = await locked();
  const answer = await api.post(`${WS}/state-versions`, {
    data: {
      type: 'state-versions',
      attributes: { serial: -1, force: 'yes', 'json-state-outputs': base64('x') },
    },
  });
  expect(answer.status).toBe(422);
  expect(answer.pointers.toSorted()).toEqual([
    '/data/attributes/force',
    '/data/attributes/json-state-outputs',
    '/data/attributes/md5',
    '/data/attributes/serial',
  ]);
});

async function sendTo(pending: TestAnswer, text: string): Promise<number> {
  const url = pending.resource.attributes['hosted-state-upload-url'] as string;
  return (await fetch(url, { method: 'PUT', body: text })).status;
}

const currentOf = async (api: TestClient) =>
  (await api.get(WS)).resource.relationships['current-state-version']?.data;

it('accepts the JSON state once, before or after the state, and only as a JSON object', async () => {
  const api = await locked();
  const link = ({ resource }: TestAnswer) => resource.attributes['hosted-json-state-upload-url'] as string;
  const put = async (url: string, body: string) => (await fetch(url, { method: 'PUT', body })).status;
  const shown = async ({ resource }: TestAnswer) => {
    const { attributes } = (await api.get(`/state-versions/${resource.id}`)).resource;
    const url = attributes['hosted-json-state-download-url'];
    return [attributes['status'], typeof url === 'string' ? await (await fetch(url)).text() : url];
  };
  const before = await save(api, 1, { md5: md5(stateText(1)) });
  for (const body of ['not json', '', '[]', 'null', '"text"', '{"half":']) {
    expect(await put(link(before), body), body).toBe(422);
  }
  expect(await shown(before)).toEqual(['pending', null]);
  expect([await put(link(before), '{"json":1}'), await put(link(before), '{"json":2}')]).toEqual([200, 409]);
  expect(await shown(before)).toEqual(['pending', '{"json":1}']);
  expect(await sendTo(before, stateText(1))).toBe(200);
  const after = await saveWhole(api, 2, stateText(2));
  expect([await put(link(after), 'not json'), await put(link(after), '{"json":3}')]).toEqual([422, 200]);
  expect(await shown(after)).toEqual(['finalized', '{"json":3}']);
  const inline = await saveWhole(api, 3, stateText(3), { 'json-state': base64('not json') });
  expect([inline.status, inline.pointers]).toEqual([422, ['/data/attributes/json-state']]);
});

it('keeps the newer state current when an older one is uploaded late', async () => {
  const api = await locked();
  const late = await save(api, 1, { md5: md5(stateText(1)) });
  await api.post(`${WS}/actions/unlock`);
  const other = api.as('writers');
  await other.post(`${WS}/actions/lock`);
  const newer = await saveWhole(other, 2, stateText(2));
  expect(await sendTo(late, stateText(1))).toBe(200);
  expect(await currentOf(api)).toMatchObject({ id: newer.resource.id });
  expect((await api.attributes('ws-a'))['resource-count']).toBe(2);
  const shown = (await api.get(`/state-versions/${late.resource.id}`)).resource.attributes;
  expect(shown['status']).toBe('finalized');
});

/** A clock that goes back by an hour at each read. */
function backwardClock(): () => Date {
  let time = Date.parse('2026-06-01T00:00:00Z');
  return () => {
    time -= 3_600_000;
    return new Date(time);
  };
}

it('refuses a serial that was used before, and lists the newest first, when the clock goes back', async () => {
  const api = await serveForTest({ seed: SEED, now: backwardClock() });
  await api.post(`${WS}/actions/lock`);
  await saveWhole(api, 1, stateText(1));
  await saveWhole(api, 2, stateText(2));
  expect((await saveWhole(api, 2, stateText(3))).status).toBe(409);
  const { resources } = await api.get(`${WS}/state-versions`);
  expect(resources.map(({ attributes }) => attributes['serial'])).toEqual([2, 1]);
});

it('makes the newest state current at the unlock when the clock goes back', async () => {
  const api = await serveForTest({ seed: SEED, now: backwardClock() });
  await api.post(`${WS}/actions/lock`);
  await saveWhole(api, 1, stateText(1));
  await saveWhole(api, 2, stateText(2), { intermediate: true });
  const newest = await saveWhole(api, 3, stateText(3), { intermediate: true });
  await api.post(`${WS}/actions/unlock`);
  expect(await currentOf(api)).toMatchObject({ id: newest.resource.id });
  expect((await api.attributes('ws-a'))['resource-count']).toBe(3);
});

it('continues from a lower serial that was forced', async () => {
  const api = await locked();
  await saveWhole(api, 5, stateText(5));
  const forced = await saveWhole(api, 3, stateText(3), { force: true });
  expect(await currentOf(api)).toMatchObject({ id: forced.resource.id });
  const next = await saveWhole(api, 4, stateText(4));
  expect(await currentOf(api)).toMatchObject({ id: next.resource.id });
});

it('makes a state of a run current only when that run is applied after a forced unlock', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
  const saved = await saveAs(api, run, 1, WHOLE);
  await api.post(`${WS}/actions/force-unlock`);
  await api.as('writers').post(`${WS}/actions/lock`);
  expect((await api.as('writers').post(`${WS}/actions/unlock`)).status).toBe(200);
  expect(await currentOf(api)).toBeNull();
  const other = await createRun(api);
  expect((await api.post(`/runs/${other}/actions/apply`)).status).toBe(202);
  expect(await currentOf(api)).toBeNull();
  expect((await api.attributes('ws-a'))['resource-count']).toBe(0);
  expect((await api.post(`/runs/${run}/actions/apply`)).status).toBe(202);
  expect(await currentOf(api)).toMatchObject({ id: saved.resource.id });
});

it('does not wait for the pending state of a run after a forced unlock', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
  await saveAs(api, run, 1);
  await api.post(`${WS}/actions/force-unlock`);
  await api.as('writers').post(`${WS}/actions/lock`);
  expect((await api.as('writers').post(`${WS}/actions/unlock`)).status).toBe(200);
  expect((await api.post(`/runs/${run}/actions/apply`)).status).toBe(503);
});
