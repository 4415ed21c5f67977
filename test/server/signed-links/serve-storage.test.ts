/** The files behind signed links, as clients send them. */
import { expect, it } from 'vitest';
import { sendToItsEnd } from '../../support/server/send-to-its-end.ts';
import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [{ name: 'a', 'state-versions': [{ id: 'sv-1', status: 'pending' }] }],
});

const TOO_LARGE = Buffer.alloc(17 * 1024 * 1024, ' ');

it.each([
  ['its length told before', { 'content-length': String(TOO_LARGE.length) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('refuses a file that is too large once all of it was sent: %s', async (_, headers) => {
  const api = await serveForTest({ seed: SEED });
  const { attributes } = (await api.get('/state-versions/sv-1')).resource;
  const url = String(attributes['hosted-state-upload-url']);
  const status = await sendToItsEnd(url, { method: 'PUT', headers, body: TOO_LARGE });
  expect(status).toBe(413);
  expect((await api.get('/state-versions/sv-1')).resource.attributes['status']).toBe('pending');
});
