// The health of the service, with the status that a monitor requests for it.
import { expect, it } from 'vitest';
import { serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

it('answers its health with the requested status, and to HEAD without a body', async () => {
  const logins = await serveLogins();
  const asked = async (method: string, query: string, path = 'health') => {
    const answer = await fetch(`${logins.url}/v1/sys/${path}${query}`, { method });
    return [answer.status, (await answer.text()).slice(0, 21)];
  };
  expect(await asked('GET', '?activecode=299&standbycode=473')).toEqual([299, '{"initialized":true,"']);
  expect(await asked('HEAD', '')).toEqual([200, '']);
  expect(await asked('HEAD', '?activecode=210')).toEqual([210, '']);
  for (const query of ['?activecode=soon', '?activecode=', '?activecode=9999', '?uninitcode=x'])
    expect(await asked('GET', query)).toEqual([400, '{"errors":[]}\n']);
  expect(await asked('POST', '')).toEqual([405, '{"errors":[]}\n']);
  expect(await asked('HEAD', '', 'leader')).toEqual([405, '']);
});
