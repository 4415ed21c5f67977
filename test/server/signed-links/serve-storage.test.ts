/** Uploads of files to signed links. */
import { expect, it } from 'vitest';
import { sendToItsEnd } from '../../support/server/send-to-its-end.ts';
import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [{ name: 'a', 'state-versions': [{ id: 'sv-1', status: 'pending' }] }],
});

const MIB = 1024 * 1024;

async function uploadLink(api: TestClient): Promise<string> {
  const { attributes } = (await api.get('/state-versions/sv-1')).resource;
  return String(attributes['hosted-state-upload-url']);
}

it('refuses a file of more than 256 MiB after all of it was sent, and names the limit', async () => {
  const api = await serveForTest({ seed: SEED });
  const url = await uploadLink(api);
  const headers = { 'content-length': String(257 * MIB) };
  expect(await sendToItsEnd(url, { method: 'PUT', headers, body: Buffer.alloc(257 * MIB, ' ') })).toBe(413);
  const refused = await fetch(url, { method: 'PUT', body: Buffer.alloc(257 * MIB, ' ') });
  expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('268435456 bytes')]);
  expect((await api.get('/state-versions/sv-1')).resource.attributes['status']).toBe('pending');
});

it('reads a refused file to its end, so that its sender gets the error', async () => {
  const api = await serveForTest({ seed: SEED });
  const url = await uploadLink(api);
  const body = Buffer.alloc(8 * MIB, 'x');
  const headers = { 'transfer-encoding': 'chunked' };
  expect(await sendToItsEnd(url, { method: 'PUT', headers, body })).toBe(422);
  expect(await sendToItsEnd(`${url}x`, { method: 'PUT', headers, body: Buffer.alloc(1) })).toBe(404);
});
