import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const A = { workspaces: [{ name: 'a', id: 'ws-a' }] };
const DETAILS = '/account/details';

it('shows the user of a token, with the same id as in the locks of that user', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  const answer = await api.as('ann').get(DETAILS);
  expect(answer.status).toBe(200);
  expect(answer.resource).toMatchObject({ type: 'users', attributes: { username: 'ann' } });
  const locked = await api.as('ann').post('/workspaces/ws-a/actions/lock');
  expect(locked.resource.relationships['locked-by']?.data).toEqual({
    type: 'users',
    id: answer.resource.id,
  });
});

it('shows the service account of a team, whose locks belong to the team', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  const { resource } = await api.as('managers').get(DETAILS);
  expect(resource.attributes).toMatchObject({ 'is-service-account': true });
  const locked = await api.as('managers').post('/workspaces/ws-a/actions/lock');
  expect(locked.resource.relationships['locked-by']?.data).toMatchObject({ type: 'teams' });
});

it('answers 404 to an organization’s token, which has no user, and 401 without a token', async () => {
  const api = await serveForTest({ seed: seedWith({ ...A, token: 'org-token' }) });
  expect((await api.as('org-token').get(DETAILS)).status).toBe(404);
  expect((await api.as('nobody').get(DETAILS)).status).toBe(401);
});
