import { expect, it } from 'vitest';

import { temporaryDataFile } from '../support/server/data-file.ts';
import { sendRaw } from '../support/server/send-raw.ts';
import { serveForTest } from '../support/server/serve-for-test.ts';

it.each(['/', '/nowhere', '/apis/v2/ping', '/v2/auth/cluster/config'])(
  'answers the path %s, outside of the APIs, with an error in the format of JSON:API',
  async (path) => {
    const api = await serveForTest();
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PROPFIND']) {
      const answer = await sendRaw(`${api.url}${path}`, method, { headers: { 'content-type': 'text/xml' } });
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toContain('application/vnd.api+json');
      expect(answer.errors[0]).toMatchObject({ status: '404', title: 'not found' });
    }
  },
);

it.each(['neutral', 'vault', 'openbao'])(
  'refuses an unknown verb below /v1/ in the dialect %s without an error text',
  async (dialect) => {
    const api = await serveForTest({ dialects: [dialect] });
    for (const method of ['PROPFIND', 'MKCOL', 'LINK', 'FOO', 'LISTEN']) {
      const answer = await fetch(`${api.url}/v1/auth/kubernetes/config`, { method });
      expect([answer.status, await answer.text()]).toEqual([405, '{"errors":[]}\n']);
    }
  },
);

it('answers a wrong method outside of the APIs with 405 and the allowed methods', async () => {
  const api = await serveForTest({ data: temporaryDataFile() });
  const answer = await sendRaw(`${api.url}/served-data-file`, 'POST');
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD');
  expect(answer.errors[0]?.status).toBe('405');
});
