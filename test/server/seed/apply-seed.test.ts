import { expect, it } from 'vitest';

import { serveForTest } from '../../support/server/serve-for-test.ts';

it('creates tokens that are valid until they expire', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const expiring = (token: string) => ({ token, 'expires-at': '2026-01-02T00:00:00+01:00' });
  const organizations = [
    {
      name: 'acme',
      tokens: [expiring('of-organization')],
      teams: [{ name: 'owners', tokens: [expiring('of-team')] }],
    },
  ];
  const users = [{ username: 'ann', tokens: [expiring('of-ann'), { token: 'forever' }] }];
  const api = await serveForTest({ seed: { users, organizations }, now: () => new Date(time) });
  const statuses = async () =>
    Promise.all(
      ['of-organization', 'of-team', 'of-ann', 'forever'].map(
        async (token) => (await api.as(token).get('/workspaces/none')).status,
      ),
    );
  expect(await statuses()).toEqual([404, 404, 404, 404]);
  time = Date.parse('2026-01-01T22:59:59Z');
  expect(await statuses()).toEqual([404, 404, 404, 404]);
  time = Date.parse('2026-01-01T23:00:00Z');
  expect(await statuses()).toEqual([401, 401, 401, 404]);
});
