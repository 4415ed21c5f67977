import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../src/server/kernel/database.ts';
import {
  seedWith,
  serveForTest,
  type TestAnswer,
  type TestClient,
} from '../../support/server/serve-for-test.ts';
import { temporaryDataFile } from '../../support/server/data-file.ts';

const WS = '/workspaces/ws-a';
const SEED = seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] });
const MIB = 1024 * 1024;

/** A state of 18 MiB, with resources that are not ASCII. */
function largeState(serial = 1): string {
  const instances = Array.from({ length: 18 }, (_, index) => ({
    attributes: { id: String(index), text: 'é\n'.repeat(MIB / 4) },
  }));
  return JSON.stringify({
    version: 4,
    serial,
    lineage: 'line-1',
    outputs: { url: { type: 'string', value: 'https://x/ü' } },
    resources: [
      { mode: 'managed', type: 'thing', name: 't', module: 'module.m', instances },
      { mode: 'data', type: 'read_only', name: 'd', instances: [{}] },
    ],
  });
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

async function locked(data?: string): Promise<TestClient> {
  const api = await serveForTest({ seed: SEED, ...(data === undefined ? {} : { data }) });
  await api.post(`${WS}/actions/lock`);
  return api;
}

function announce(api: TestClient, text: string, more: object = {}): Promise<TestAnswer> {
  const attributes = { serial: 1, lineage: 'line-1', md5: md5(text), ...more };
  return api.post(`${WS}/state-versions`, { data: { type: 'state-versions', attributes } });
}

const uploadOf = ({ resource }: TestAnswer) => String(resource.attributes['hosted-state-upload-url']);

async function expectStored(api: TestClient, id: string, text: string): Promise<void> {
  const { attributes } = (await api.get(`/state-versions/${id}`)).resource;
  expect(attributes).toMatchObject({
    status: 'finalized',
    size: Buffer.byteLength(text),
    resources: [{ name: 't', type: 'thing', module: 'module.m', count: 18 }],
  });
  const stored = await fetch(String(attributes['hosted-state-download-url']));
  expect(stored.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  expect(md5(await stored.text())).toBe(md5(text));
  const outputs = (await api.get(`/state-versions/${id}/outputs`)).resources;
  expect(outputs.map(({ attributes }) => attributes['value'])).toEqual(['https://x/ü']);
  expect((await api.get('/workspaces/ws-a')).resource.attributes['resource-count']).toBe(18);
}

it('accepts a state of 18 MiB at its link, and returns it unchanged', async () => {
  const api = await locked();
  const text = largeState();
  const pending = await announce(api, text);
  expect((await fetch(uploadOf(pending), { method: 'PUT', body: text })).status).toBe(200);
  await expectStored(api, pending.resource.id, text);
});

it.each([
  ['without escapes', (letters: string) => letters],
  ['with escapes', (letters: string) => letters.replaceAll('/', '\\/').replaceAll('+', '\\u002B')],
])('accepts a state of 18 MiB in a body, in Base64 %s', async (_, spelled) => {
  const api = await locked();
  const text = largeState();
  const body = JSON.stringify({
    data: {
      type: 'state-versions',
      attributes: { serial: 1, lineage: 'line-1', md5: md5(text), state: '?' },
    },
  });
  const letters = spelled(Buffer.from(text).toString('base64'));
  const answer = await api.post(
    `${WS}/state-versions`,
    body.replace('"?"', () => `"${letters}"`),
  );
  expect([answer.status, answer.errors]).toEqual([201, []]);
  await expectStored(api, answer.resource.id, text);
});

it.each([
  ['not JSON', (text: string) => `${text}}`, 422],
  ['not UTF-8', (text: string) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]), 400],
  ['another one than the announced one', (text: string) => text.replace('"1"', '"one"'), 409],
  [
    'with outputs of more than 16 MiB',
    (text: string) => text.replace('https://x/ü', 'x'.repeat(17 * MIB)),
    422,
  ],
])('refuses a large state that is %s, and stores nothing of it', async (_, changed, status) => {
  const data = temporaryDataFile();
  const api = await locked(data);
  const text = largeState();
  const pending = await announce(api, text);
  const body = changed(text);
  expect((await fetch(uploadOf(pending), { method: 'PUT', body })).status).toBe(status);
  const database = Database.open(data);
  onTestFinished(() => database.close());
  expect(database.all('SELECT id FROM state_files')).toEqual([]);
  expect(database.all('SELECT file_id FROM state_file_parts')).toEqual([]);
  expect((await fetch(uploadOf(pending), { method: 'PUT', body: text })).status).toBe(200);
});

/** A request that has sent `text` as the first part of its body. */
async function startUpload(url: string, text: string) {
  const sending = request(url, { method: 'PUT', headers: { 'transfer-encoding': 'chunked' } });
  const answered = new Promise<number>((resolve, reject) => {
    sending.on('error', reject).on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
  });
  await new Promise((sent) => sending.write(text, sent));
  return { sending, answered };
}

it('accepts one of two concurrent uploads to one link, and refuses the other', async () => {
  const api = await locked();
  const text = largeState();
  const pending = await announce(api, text);
  const [one, two] = [await startUpload(uploadOf(pending), text), await startUpload(uploadOf(pending), text)];
  two.sending.end();
  expect(await two.answered).toBe(200);
  one.sending.end();
  expect(await one.answered).toBe(409);
  await expectStored(api, pending.resource.id, text);
});

it('answers 404 to a state whose version was replaced during the upload', async () => {
  const api = await locked();
  const text = largeState();
  const pending = await announce(api, text);
  const { sending, answered } = await startUpload(uploadOf(pending), text.slice(0, 2 * MIB));
  await announce(api, text);
  sending.end(text.slice(2 * MIB));
  expect(await answered).toBe(404);
});

it('removes incomplete files at its start', async () => {
  const data = temporaryDataFile();
  const api = await locked(data);
  const pending = await announce(api, largeState());
  const database = Database.open(data);
  onTestFinished(() => database.close());
  database.insert('state_files', { state_version_id: pending.resource.id, kind: 'state' });
  database.run("INSERT INTO state_file_parts SELECT id, 0, x'7b' FROM state_files");
  await serveForTest({ data });
  expect(database.all('SELECT file_id FROM state_file_parts')).toEqual([]);
});

it('checks the token before it reads a body', async () => {
  const api = await locked();
  const { hostname, port } = new URL(api.url);
  const sending = request({ hostname, port, method: 'POST', path: `/api/v2${WS}/state-versions` });
  sending.setHeader('content-type', 'application/vnd.api+json').setHeader('content-length', 300 * MIB);
  onTestFinished(() => void sending.destroy());
  const answered = new Promise<number | undefined>((resolve) => {
    sending.on('error', () => {}).on('response', (answer) => resolve(answer.statusCode));
  });
  sending.write('{');
  expect(await answered).toBe(401);
});
